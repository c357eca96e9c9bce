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

/// The source of an entry that no longer waits. No rank has this number: a schedule has at most 2^32 - 2 ranks.
inline constexpr std::uint32_t no_source = goal::any - 1;

/// The source and the tag of an entry of a match list, each of which may be `any`, in one word.
using MatchKey = std::uint64_t;
constexpr MatchKey match_key(std::uint32_t source, std::uint32_t tag) {
    return std::uint64_t{source} << 32 | tag;
}

/// Positions in a match list by the keys of their entries: a hash table with linear probing, of four bytes a slot. The
/// keys are those in the list: functions get `key_of`, which gives the key of a position, or another one than any that
/// is looked up if the entry no longer waits. The positions of one key are added in their order and taken oldest first.
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

    template <class KeyOf>
    void add(MatchKey key, std::uint32_t position, KeyOf key_of) {
        if (4 * (std::size_t{used_} + 1) > 3 * slots_.size()) [[unlikely]] {
            grow(key_of);
        }
        std::uint32_t& slot = slot_of(key, key_of);
        if (slot == unused) {
            ++used_;
            slot = position + 1;
        } else {
            append(slot, position);
        }
    }

    /// The oldest position with that key whose entry still waits, or no_position.
    template <class KeyOf>
    [[nodiscard]] std::uint32_t oldest(MatchKey key, KeyOf key_of) {
        const std::uint32_t slot = slot_of(key, key_of);
        if (slot == unused) {
            return no_position;
        }
        const std::uint32_t youngest = position_in(slot);
        if ((slot & several) == 0) {
            return youngest;
        }
        std::uint32_t oldest = next_[youngest];
        while (key_of(oldest) != key) {
            oldest = next_[oldest];
        }
        next_[youngest] = oldest;
        return oldest;
    }

  private:
    // A slot has the youngest position of a key, plus one, and whether there were several: these are a ring, in which
    // the youngest leads to the oldest. As an older one is always taken first, none waits if the youngest does not.
    static constexpr std::uint32_t unused = 0;
    static constexpr std::uint32_t several = 0x80000000;

    [[nodiscard]] static std::uint32_t position_in(std::uint32_t slot) { return (slot & ~several) - 1; }

    void set_slots(std::size_t count) {
        slots_.assign(count, unused);
        shift_ = static_cast<std::uint8_t>(64 - std::countr_zero(count));
        used_ = 0;
    }

    /// The number of the slot in which a key belongs, unless others are there.
    [[nodiscard]] std::size_t home_of(MatchKey key) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
        return key * odd >> shift_;
    }

    /// The slot of a key, or the unused one for it.
    template <class KeyOf>
    [[nodiscard]] std::uint32_t& slot_of(MatchKey key, KeyOf key_of) {
        std::size_t i = home_of(key);
        while (slots_[i] != unused && key_of(position_in(slots_[i])) != key) {
            i = (i + 1) & (slots_.size() - 1);
        }
        return slots_[i];
    }

    /// Slots whose entries no longer wait stay until then.
    template <class KeyOf>
    void grow(KeyOf key_of) {
        const LargeVector<std::uint32_t> old = std::move(slots_);
        set_slots(2 * old.size());
        for (const std::uint32_t slot : old) {
            const MatchKey key = slot == unused ? match_key(no_source, 0) : key_of(position_in(slot));
            if (key >> 32 != no_source) {
                std::size_t i = home_of(key);
                while (slots_[i] != unused) {
                    i = (i + 1) & (slots_.size() - 1);
                }
                slots_[i] = slot;
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
        slot = (position + 1) | several;
    }

    LargeVector<std::uint32_t> slots_;  ///< a power of two, a quarter of them unused at least
    LargeVector<std::uint32_t> next_;   ///< by position: of a key with several the next younger one
    std::uint32_t used_ = 0;
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

    template <class KeyOf>
    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t position, KeyOf key_of) {
        positions_.add(match_key(source, tag), position, key_of);
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

    template <class KeyOf>
    std::uint32_t oldest(std::uint32_t source, std::uint32_t tag, KeyOf key_of) {
        const auto with_key = [&](std::uint32_t s, std::uint32_t t) {
            return positions_.oldest(match_key(s, t), key_of);
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

    template <class KeyOf>
    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t position, KeyOf key_of) {
        positions_.add(match_key(source, tag), position, key_of);
        without_tag_ += tag == goal::any ? 1 : 0;
        if (wild_ != nullptr) {
            wild_->by_tag.add(match_key(goal::any, tag), position, without_source(key_of));
            wild_->by_source.add(match_key(source, goal::any), position, without_tag(key_of));
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

    template <class KeyOf>
    std::uint32_t oldest(std::uint32_t source, std::uint32_t tag, KeyOf key_of) {
        const MatchKey key = match_key(source, tag);
        if (source == goal::any) {
            return wild_->by_tag.oldest(key, without_source(key_of));
        }
        return tag == goal::any ? wild_->by_source.oldest(key, without_tag(key_of)) : positions_.oldest(key, key_of);
    }

  private:
    struct Wild {
        PositionsByKey by_tag;
        PositionsByKey by_source;
    };

    template <class KeyOf>
    [[nodiscard]] static auto without_source(KeyOf key_of) {
        return [key_of](std::uint32_t position) {
            const MatchKey key = key_of(position);
            return key >> 32 == no_source ? key : match_key(goal::any, static_cast<std::uint32_t>(key));
        };
    }
    template <class KeyOf>
    [[nodiscard]] static auto without_tag(KeyOf key_of) {
        return [key_of](std::uint32_t position) { return key_of(position) | goal::any; };
    }

    PositionsByKey positions_;
    std::unique_ptr<Wild> wild_;
    std::size_t without_tag_ = 0;
};

}  // namespace idlewave::loggops
