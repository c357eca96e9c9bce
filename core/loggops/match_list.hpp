#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/large_vector.hpp"
#include "goal/op.hpp"
#include "loggops/match_index.hpp"

namespace idlewave::loggops {

/// A queue in the order of MPI's matching: a match takes the oldest entry whose source and tag agree, and sizes are not
/// compared (docs/model.md, R9). A short queue is searched entry by entry. A long one has an index, so that a match
/// costs the same however many entries wait. `Index` is one of match_index.hpp.
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

    /// Moves the oldest entry that matches `source` and `tag`, each of which may be `any`, into `value`. Returns false
    /// if there is none. Most often the oldest of all entries matches, so it is tried first.
    bool take(std::uint32_t source, std::uint32_t tag, Value& value) {
        const std::size_t op_index = find(source, tag);
        if (op_index == no_position) {
            return false;
        }
        value = entries_[op_index].value;
        entries_[op_index].waits = false;
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

    /// Calls `use` with every entry, oldest first.
    template <class Use>
    void each(Use use) const {
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits) {
                use(entries_[i]);
            }
        }
    }

  private:
    static constexpr std::size_t shortest_index = 24;

    [[nodiscard]] bool agrees(std::size_t op_index, std::uint32_t source, std::uint32_t tag) const {
        const Entry& entry = entries_[op_index];
        return entry.waits && goal::matches(entry.source, source) && goal::matches(entry.tag, tag);
    }

    [[nodiscard]] std::size_t find(std::uint32_t source, std::uint32_t tag) {
        if (waiting_ == 0) {
            return no_position;
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
        return index_->oldest(source, tag, [this](std::size_t op_index) { return entries_[op_index].waits; });
    }

    [[nodiscard]] std::size_t look_through(std::uint32_t source, std::uint32_t tag) const {
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (agrees(i, source, tag)) {
                return i;
            }
        }
        return no_position;
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

    /// Removes the entries that were taken.
    void compact() {
        std::size_t count = 0;
        for (std::size_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits) {
                entries_[count++] = entries_[i];
            }
        }
        entries_.resize(count);
        first_ = 0;
        if (index_) {
            fill_index();
        }
    }

    LargeVector<Entry> entries_;  ///< oldest first; some were taken
    std::size_t first_ = 0;       ///< all entries before it were taken
    std::uint32_t waiting_ = 0;
    std::unique_ptr<Index> index_;  ///< made by the first search of a long queue
};

template <class Value>
using PostedReceiveQueue = MatchList<Value, PostedReceiveIndex>;

template <class Value>
using UnexpectedMessageQueue = MatchList<Value, UnexpectedMessageIndex>;

}  // namespace idlewave::loggops
