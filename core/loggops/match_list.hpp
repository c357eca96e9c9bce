#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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
        [[no_unique_address]] Value value = {};
        bool waits = true;  ///< false once the entry was taken; in the padding of a receive
    };

    [[nodiscard]] bool empty() const { return waiting_ == 0; }
    [[nodiscard]] std::uint32_t size() const { return waiting_; }

    void add(std::uint32_t source, std::uint32_t tag, const Value& value) {
        if (entries_.size() >= 2 * std::size_t{waiting_} + shortest_index) {
            compact();
        }
        entries_.push_back({.source = source, .tag = tag, .value = value});
        ++waiting_;
        if (indexed_) {
            index_.add(source, tag, static_cast<std::uint32_t>(entries_.size() - 1), keys());
        }
    }

    /// Moves the oldest entry that matches `source` and `tag`, each of which may be `any`, into `value`. Returns false
    /// if there is none. Most often the oldest of all entries matches, so it is tried first.
    bool take(std::uint32_t source, std::uint32_t tag, Value& value) {
        const std::uint32_t position = find(source, tag);
        if (position == no_position) {
            return false;
        }
        value = entries_[position].value;
        entries_[position].waits = false;
        if (--waiting_ == 0) {
            clear();
            return true;
        }
        while (!entries_[first_].waits) {
            ++first_;
        }
        return true;
    }

    /// The memory of the entries and of the index remains: the queue will be as long again.
    void clear() {
        entries_.clear();
        first_ = 0;
        waiting_ = 0;
        indexed_ = false;
    }

    /// Brings what a search reads first into the cache.
    [[gnu::always_inline]] void prefetch(std::uint32_t source, std::uint32_t tag) const {
        __builtin_prefetch(entries_.data() + first_);
        if (indexed_) {
            index_.prefetch(source, tag);
        }
    }

    /// The same for the oldest entry.
    [[gnu::always_inline]] void prefetch_oldest() const { __builtin_prefetch(entries_.data() + first_); }

    /// The value of the oldest entry; the queue must not be empty.
    [[nodiscard]] const Value& oldest() const { return entries_[first_].value; }

    /// Brings the entry that a search probably finds into the cache, once `prefetch` has brought what leads to it.
    [[gnu::always_inline]] void prefetch_match(std::uint32_t source, std::uint32_t tag) const {
        if (indexed_) {
            __builtin_prefetch(entries_.data() + index_.probable(source, tag), 1);
        }
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

    /// What the index needs to know of the entries.
    struct Keys {
        const Entry* entries;
        [[nodiscard]] MatchKey key(std::uint32_t position) const {
            return match_key(entries[position].source, entries[position].tag);
        }
        [[nodiscard]] bool waits(std::uint32_t position) const { return entries[position].waits; }
    };
    [[nodiscard]] Keys keys() const { return {entries_.data()}; }

    [[nodiscard]] bool agrees(std::uint32_t position, std::uint32_t source, std::uint32_t tag) const {
        const Entry& entry = entries_[position];
        return entry.waits && goal::matches(entry.source, source) && goal::matches(entry.tag, tag);
    }

    [[nodiscard]] std::uint32_t find(std::uint32_t source, std::uint32_t tag) {
        if (waiting_ == 0) {
            return no_position;
        }
        if (agrees(first_, source, tag)) {
            return first_;
        }
        return !indexed_ && waiting_ <= shortest_index ? look_through(source, tag) : look_up(source, tag);
    }

    [[nodiscard, gnu::noinline]] std::uint32_t look_up(std::uint32_t source, std::uint32_t tag) {
        if (!indexed_) {
            build_index();
        }
        if (!index_.answers(source, tag)) {
            return look_through(source, tag);
        }
        if (index_.extend_for(source, tag)) {
            fill_index();
        }
        return index_.oldest(source, tag, keys());
    }

    [[nodiscard]] std::uint32_t look_through(std::uint32_t source, std::uint32_t tag) const {
        for (std::uint32_t i = first_; i < entries_.size(); ++i) {
            if (agrees(i, source, tag)) {
                return i;
            }
        }
        return no_position;
    }

    void build_index() {
        fill_index();
        indexed_ = true;
    }

    void fill_index() {
        index_.clear(waiting_);
        for (std::uint32_t i = first_; i < entries_.size(); ++i) {
            if (entries_[i].waits) {
                index_.add(entries_[i].source, entries_[i].tag, i, keys());
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
        if (indexed_) {
            fill_index();
        }
    }

    LargeVector<Entry> entries_;  ///< oldest first; some were taken
    std::uint32_t first_ = 0;     ///< all entries before it were taken
    std::uint32_t waiting_ = 0;
    Index index_;           ///< of a queue that was long when it was searched
    bool indexed_ = false;  ///< the index holds the entries that wait
};

template <class Value>
using PostedReceiveQueue = MatchList<Value, PostedReceiveIndex>;

template <class Value>
using UnexpectedMessageQueue = MatchList<Value, UnexpectedMessageIndex>;

}  // namespace idlewave::loggops
