#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/large_vector.hpp"
#include "goal/op.hpp"

namespace idlewave::loggops {

inline constexpr std::uint32_t no_position = 0xffffffff;

/// The source and the tag of an entry of a match list, each of which may be `any`, in one word.
using MatchKey = std::uint64_t;
constexpr MatchKey match_key(std::uint32_t source, std::uint32_t tag) {
    return std::uint64_t{source} << 32 | tag;
}

/// Positions in a match list by the keys of their entries: a hash table with linear probing, of four bytes a slot. The
/// keys are those in the list: functions get `entries`, of which `key(position)` is the key of an entry, also of one
/// that no longer waits, and `waits(position)` says whether it does. The positions of a key are added in their order.
class PositionsByKey {
  public:
    /// Forgets all positions, and makes room for `keys` keys; with more the table grows.
    void clear(std::size_t keys) {
        set_slots(std::bit_ceil(keys + keys / 2 + 2));
        next_.clear();
    }

    /// Brings a key's slot into the cache.
    [[gnu::always_inline]] void prefetch(MatchKey key) const { __builtin_prefetch(slots_.data() + home_of(key)); }
    /// A position where a key probably is, if it is in the table.
    [[nodiscard]] std::uint32_t probable(MatchKey key) const { return position_in(slots_[home_of(key)]); }

    template <class Entries>
    void add(MatchKey key, std::uint32_t position, Entries entries) {
        while (4 * (std::size_t{used_} + 1) > 3 * slots_.size() || position + 1 > position_mask_) [[unlikely]] {
            grow(entries);
        }
        std::uint32_t& slot = slot_of(key, entries);
        if (slot == unused) {
            ++used_;
            slot = mark_of(key) | (position + 1);
        } else if ((slot & several) == 0 && !entries.waits(position_in(slot))) {
            slot = mark_of(key) | (position + 1);
        } else {
            append(slot, position);
        }
    }

    /// The oldest position with that key whose entry still waits, or no_position.
    template <class Entries>
    [[nodiscard]] std::uint32_t oldest(MatchKey key, Entries entries) {
        const std::uint32_t slot = slot_of(key, entries);
        return slot == unused ? no_position : oldest_in(slot, entries);
    }

  private:
    // A slot has the youngest position of a key, plus one, and whether there were several: these are a ring, in which
    // the youngest leads to the oldest. In the bits that no position needs, it has a mark of its key, so that entries
    // with other keys are seldom read.
    static constexpr std::uint32_t unused = 0;
    static constexpr std::uint32_t several = 0x80000000;

    [[nodiscard]] std::uint32_t position_in(std::uint32_t slot) const { return (slot & position_mask_) - 1; }

    /// A list has no more than about twice as many positions as entries that wait (MatchList::add), so its positions
    /// need two bits more than its slots.
    void set_slots(std::size_t count) {
        slots_.assign(count, unused);
        const int bits = std::countr_zero(count);
        shift_ = static_cast<std::uint8_t>(64 - bits);
        position_mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << std::min(bits + 2, 31)) - 1);
        used_ = 0;
    }

    [[nodiscard]] static std::uint64_t hash_of(MatchKey key) {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
        return key * odd;
    }
    /// The number of the slot in which a key belongs, unless others are there.
    [[nodiscard]] std::size_t home_of(MatchKey key) const { return hash_of(key) >> shift_; }
    /// Bits of the hash that do not choose the home, where a slot has room for them.
    [[nodiscard]] std::uint32_t mark_of(MatchKey key) const {
        return static_cast<std::uint32_t>(hash_of(key) >> 8) & ~(several | position_mask_);
    }

    /// The slot of a key, or the unused one for it.
    template <class Entries>
    [[nodiscard]] std::uint32_t& slot_of(MatchKey key, Entries entries) {
        const std::uint32_t mark = mark_of(key);
        const std::uint32_t mask = ~(several | position_mask_);
        std::size_t i = home_of(key);
        while (slots_[i] != unused && ((slots_[i] & mask) != mark || entries.key(position_in(slots_[i])) != key)) {
            i = (i + 1) & (slots_.size() - 1);
        }
        return slots_[i];
    }

    /// The oldest position of a slot whose entry still waits, or no_position. Those before it leave the ring.
    template <class Entries>
    [[nodiscard]] std::uint32_t oldest_in(std::uint32_t slot, Entries entries) {
        const std::uint32_t youngest = position_in(slot);
        std::uint32_t oldest = youngest;
        if ((slot & several) != 0) {
            oldest = next_[youngest];
            while (oldest != youngest && !entries.waits(oldest)) {
                oldest = next_[oldest];
            }
            next_[youngest] = oldest;
        }
        return entries.waits(oldest) ? oldest : no_position;
    }

    /// Keys of which no entry waits leave the table.
    template <class Entries>
    void grow(Entries entries) {
        const LargeVector<std::uint32_t> old = std::move(slots_);
        const std::uint32_t old_mask = position_mask_;
        set_slots(std::max<std::size_t>(2 * old.size(), 4));
        for (const std::uint32_t slot : old) {
            const std::uint32_t live = (slot & several) | (slot & old_mask);
            if (slot != unused && oldest_in(live, entries) != no_position) {
                const MatchKey key = entries.key(position_in(live));
                std::size_t i = home_of(key);
                while (slots_[i] != unused) {
                    i = (i + 1) & (slots_.size() - 1);
                }
                slots_[i] = live | mark_of(key);
                ++used_;
            }
        }
    }

    void append(std::uint32_t& slot, std::uint32_t position) {
        const std::uint32_t youngest = position_in(slot);
        if (next_.size() <= position) {
            next_.resize(std::size_t{position} + 1);
        }
        if ((slot & several) == 0) {
            next_[youngest] = youngest;
        }
        next_[position] = std::exchange(next_[youngest], position);
        slot = (slot & ~position_mask_) | several | (position + 1);
    }

    LargeVector<std::uint32_t> slots_;  ///< a power of two, a quarter of them unused at least
    LargeVector<std::uint32_t> next_;   ///< by position: of a key with several the next younger one
    std::uint32_t used_ = 0;
    std::uint32_t position_mask_ = 0;
    std::uint8_t shift_ = 63;
};

/// An index of a posted receive queue. Each receive has one entry under its own source and tag, wildcards included. A
/// message looks up the four keys under which a receive can match it. Only a message without a tag would have to look
/// up every tag: the index does not answer that.
class PostedReceiveIndex {
  public:
    [[nodiscard]] static bool answers(std::uint32_t source, std::uint32_t tag) {
        return source != goal::any && tag != goal::any;
    }
    static bool extend_for(std::uint32_t /*source*/, std::uint32_t /*tag*/) { return false; }

    template <class Entries>
    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t position, Entries entries) {
        positions_.add(match_key(source, tag), position, entries);
        wild_ = wild_ || source == goal::any || tag == goal::any;
    }
    void prefetch(std::uint32_t source, std::uint32_t tag) const { positions_.prefetch(match_key(source, tag)); }
    [[nodiscard]] std::uint32_t probable(std::uint32_t source, std::uint32_t tag) const {
        return positions_.probable(match_key(source, tag));
    }
    /// `entries` that will be added.
    void clear(std::size_t entries) {
        positions_.clear(entries);
        wild_ = false;
    }

    template <class Entries>
    std::uint32_t oldest(std::uint32_t source, std::uint32_t tag, Entries entries) {
        const auto with_key = [&](std::uint32_t s, std::uint32_t t) {
            return positions_.oldest(match_key(s, t), entries);
        };
        if (!wild_) {
            return with_key(source, tag);
        }
        return std::min(std::min(with_key(source, tag), with_key(goal::any, tag)),
                        std::min(with_key(source, goal::any), with_key(goal::any, goal::any)));
    }

  private:
    PositionsByKey positions_;
    bool wild_ = false;  ///< some receive has a wildcard
};

/// An index of an unexpected message queue. A receive looks up one key, its own source and tag. From the first receive
/// with one wildcard on, messages are also found by source and by tag alone. (Of any source and tag the oldest message
/// matches, for which no index is needed.) A message without a tag matches any tag, under which it is not found: the
/// index does not answer until it is built without one.
class UnexpectedMessageIndex {
  public:
    [[nodiscard]] bool answers(std::uint32_t /*source*/, std::uint32_t /*tag*/) const { return without_tag_ == 0; }

    /// Whether the index must be built again before it can answer.
    bool extend_for(std::uint32_t source, std::uint32_t tag) {
        if (wild_ != nullptr || (source != goal::any && tag != goal::any)) {
            return false;
        }
        wild_ = std::make_unique<Wild>();
        return true;
    }

    template <class Entries>
    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t position, Entries entries) {
        positions_.add(match_key(source, tag), position, entries);
        without_tag_ += tag == goal::any ? 1 : 0;
        if (wild_ != nullptr) {
            wild_->by_tag.add(match_key(goal::any, tag), position, WithoutSource<Entries>{entries});
            wild_->by_source.add(match_key(source, goal::any), position, WithoutTag<Entries>{entries});
        }
    }

    /// `entries` that will be added.
    void clear(std::size_t entries) {
        positions_.clear(entries);
        without_tag_ = 0;
        if (wild_ != nullptr) {
            wild_->by_tag.clear(entries);
            wild_->by_source.clear(entries);
        }
    }

    template <class Entries>
    std::uint32_t oldest(std::uint32_t source, std::uint32_t tag, Entries entries) {
        const MatchKey key = match_key(source, tag);
        if (source == goal::any) {
            return wild_->by_tag.oldest(key, WithoutSource<Entries>{entries});
        }
        return tag == goal::any ? wild_->by_source.oldest(key, WithoutTag<Entries>{entries})
                                : positions_.oldest(key, entries);
    }

  private:
    struct Wild {
        PositionsByKey by_tag;
        PositionsByKey by_source;
    };

    /// The entries with keys that have only a tag, or only a source.
    template <class Entries>
    struct WithoutSource {
        Entries entries;
        [[nodiscard]] MatchKey key(std::uint32_t position) const {
            return match_key(goal::any, static_cast<std::uint32_t>(entries.key(position)));
        }
        [[nodiscard]] bool waits(std::uint32_t position) const { return entries.waits(position); }
    };
    template <class Entries>
    struct WithoutTag {
        Entries entries;
        [[nodiscard]] MatchKey key(std::uint32_t position) const { return entries.key(position) | goal::any; }
        [[nodiscard]] bool waits(std::uint32_t position) const { return entries.waits(position); }
    };

    PositionsByKey positions_;
    std::unique_ptr<Wild> wild_;
    std::size_t without_tag_ = 0;
};

}  // namespace idlewave::loggops
