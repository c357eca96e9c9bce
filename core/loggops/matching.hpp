#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/large_vector.hpp"
#include "goal/op.hpp"
#include "loggops/match_index.hpp"

namespace idlewave {

/// A list in the order of MPI's matching: the oldest entry whose source and tag agree is taken; sizes are not compared.
/// Short lists are looked through; a long one has an index, so that a match costs the same however many wait. `Value`
/// is what an entry carries, `Index` one of match_index.hpp.
template <class Value, class Index>
class MatchList {
  public:
    struct Entry {
        std::uint32_t source = 0;  ///< may be `any`
        std::uint32_t tag = 0;     ///< may be `any`
        bool waits = false;
        Value value = {};
    };

    [[nodiscard]] bool empty() const { return waiting_ == 0; }
    [[nodiscard]] std::uint32_t size() const { return waiting_; }

    void add(std::uint32_t source, std::uint32_t tag, const Value& value) {
        if (entries_.size() >= 2 * std::size_t{waiting_} + shortest_index) {
            compact();
        }
        entries_.push_back({source, tag, true, value});
        ++waiting_;
        if (index_) {
            index_->add(source, tag, entries_.size() - 1);
        }
    }

    /// Takes the oldest entry that agrees with `source` and `tag`, each of which may be `any`, into `value`; false if
    /// there is none. Most often it is the oldest of all.
    bool take(std::uint32_t source, std::uint32_t tag, Value& value) {
        const std::size_t place = find(source, tag);
        if (place == no_place) {
            return false;
        }
        value = entries_[place].value;
        entries_[place].waits = false;
        if (--waiting_ == 0) {
            clear();
            return true;
        }
        while (!entries_[first_].waits) {
            ++first_;
        }
        return true;
    }

    void clear() {
        entries_.clear();
        first_ = 0;
        waiting_ = 0;
        index_.reset();
    }

    /// Calls `visit` with every entry, oldest first.
    template <class Visit>
    void each(Visit visit) const {
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits) {
                visit(entries_[i]);
            }
        }
    }

  private:
    static constexpr std::size_t shortest_index = 24;

    [[nodiscard]] bool agrees(std::size_t place, std::uint32_t source, std::uint32_t tag) const {
        const Entry& entry = entries_[place];
        return entry.waits && matches(entry.source, source) && matches(entry.tag, tag);
    }

    [[nodiscard]] std::size_t find(std::uint32_t source, std::uint32_t tag) {
        if (waiting_ == 0) {
            return no_place;
        }
        if (agrees(first_, source, tag)) {
            return first_;
        }
        return waiting_ <= shortest_index ? look_through(source, tag) : look_up(source, tag);
    }

    [[nodiscard, gnu::noinline]] std::size_t look_up(std::uint32_t source, std::uint32_t tag) {
        if (!index_) {
            build_index();
        }
        if (!index_->answers(source, tag)) {
            return look_through(source, tag);
        }
        if (index_->extend_for(source, tag)) {
            fill_index();
        }
        return index_->oldest(source, tag, [this](std::size_t place) { return entries_[place].waits; });
    }

    [[nodiscard]] std::size_t look_through(std::uint32_t source, std::uint32_t tag) const {
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (agrees(i, source, tag)) {
                return i;
            }
        }
        return no_place;
    }

    void build_index() {
        index_ = std::make_unique<Index>();
        fill_index();
    }

    void fill_index() {
        index_->clear();
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits) {
                index_->add(entries_[i].source, entries_[i].tag, i);
            }
        }
    }

    /// Leaves out the entries that are gone.
    void compact() {
        std::size_t kept = 0;
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits) {
                entries_[kept++] = entries_[i];
            }
        }
        entries_.resize(kept);
        first_ = 0;
        if (index_) {
            fill_index();
        }
    }

    LargeVector<Entry> entries_;  ///< oldest first; some are gone
    std::size_t first_ = 0;       ///< all before it are gone
    std::uint32_t waiting_ = 0;
    std::unique_ptr<Index> index_;  ///< once a long list has been searched
};

template <class Value>
using PostedReceives = MatchList<Value, PostedIndex>;

template <class Value>
using UnexpectedMessages = MatchList<Value, UnexpectedIndex>;

}  // namespace idlewave
