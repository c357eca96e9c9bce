#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

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
        if (indexed_) {
            index_.add(source, tag, entries_.size() - 1);
        } else if (waiting_ > shortest_index) {
            build_index();
        }
    }

    /// Takes the oldest entry that agrees with `source` and `tag`, each of which may be `any`, into `value`; false if
    /// there is none.
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

    static bool agree(std::uint32_t a, std::uint32_t b) { return a == any || b == any || a == b; }

    [[nodiscard]] std::size_t find(std::uint32_t source, std::uint32_t tag) {
        if (!indexed_ || !index_.answers(source, tag)) {
            return look_through(source, tag);
        }
        if (index_.extend_for(source, tag)) {
            build_index();
        }
        return index_.oldest(source, tag, [this](std::size_t place) { return entries_[place].waits; });
    }

    [[nodiscard]] std::size_t look_through(std::uint32_t source, std::uint32_t tag) const {
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits && agree(entries_[i].source, source) && agree(entries_[i].tag, tag)) {
                return i;
            }
        }
        return no_place;
    }

    void build_index() {
        indexed_ = true;
        index_.clear();
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits) {
                index_.add(entries_[i].source, entries_[i].tag, i);
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
        if (indexed_) {
            index_.clear();
            indexed_ = false;
            if (waiting_ > shortest_index) {
                build_index();
            }
        }
    }

    void clear() {
        entries_.clear();
        first_ = 0;
        if (indexed_) {
            index_.clear();
            indexed_ = false;
        }
    }

    std::vector<Entry> entries_;  ///< oldest first; some are gone
    std::size_t first_ = 0;       ///< all before it are gone
    std::uint32_t waiting_ = 0;
    bool indexed_ = false;
    Index index_;
};

template <class Value>
using PostedReceives = MatchList<Value, PostedIndex>;

template <class Value>
using UnexpectedMessages = MatchList<Value, UnexpectedIndex>;

}  // namespace idlewave
