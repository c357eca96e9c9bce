#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/large_vector.hpp"
#include "goal/op.hpp"

namespace idlewave::loggops {

inline constexpr std::uint32_t no_position = 0xffffffff;

/// Positions in a match list by source and tag, oldest first: a hash table with linear probing. Most keys have one
/// position, which is in the table itself: a search then reads one cache line.
class PositionsByKey {
  public:
    /// Forgets all positions, and makes room for `keys` keys; with more the table grows.
    void clear(std::size_t keys) {
        set_slots(std::bit_ceil(keys + keys / 2 + 2));
        later_.clear();
    }

    /// Brings a key's slot into the cache.
    [[gnu::always_inline]] void prefetch(std::uint32_t source, std::uint32_t tag) const {
        __builtin_prefetch(slots_.data() + home_of(source, tag));
    }

    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t position) {
        Slot& slot = slot_of(source, tag);
        if (!slot.used) {
            slot = {.source = source, .tag = tag, .position = position, .last = 0, .used = true};
            if (4 * std::size_t{++used_} > 3 * slots_.size()) [[unlikely]] {
                grow();
            }
        } else if (slot.position == no_position) {
            slot.position = position;
        } else {
            add_later(slot, position);
        }
    }

    /// The oldest position with that key whose entry still waits, or no_position.
    template <class Waits>
    [[nodiscard]] std::uint32_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        Slot& slot = slot_of(source, tag);
        while (slot.position != no_position && !waits(slot.position)) {
            slot.position = take_later(slot);
        }
        return slot.position;
    }

  private:
    struct Slot {
        std::uint32_t source = 0;
        std::uint32_t tag = 0;
        std::uint32_t position = no_position;  ///< the oldest
        std::uint32_t last : 31 = 0;           ///< the youngest, in `later_`, if there are several
        bool used : 1 = false;
    };
    static_assert(sizeof(Slot) == 16);

    /// A position that is not the oldest of its key. Those of a key are a ring: the youngest leads to the oldest.
    struct Later {
        std::uint32_t position = no_position;
        std::uint32_t next = 0;
    };

    void set_slots(std::size_t count) {
        slots_.assign(count, {});
        shift_ = static_cast<std::uint8_t>(64 - std::countr_zero(count));
        used_ = 0;
    }

    /// The number of the slot in which a key belongs, unless others are there.
    [[nodiscard]] std::size_t home_of(std::uint32_t source, std::uint32_t tag) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
        return (std::uint64_t{source} << 32 | tag) * odd >> shift_;
    }

    /// The slot of a key, or the free one for it.
    [[nodiscard]] Slot& slot_of(std::uint32_t source, std::uint32_t tag) {
        std::size_t i = home_of(source, tag);
        while (slots_[i].used && (slots_[i].source != source || slots_[i].tag != tag)) {
            i = (i + 1) & (slots_.size() - 1);
        }
        return slots_[i];
    }

    void grow() {
        const LargeVector<Slot> old = std::move(slots_);
        set_slots(2 * old.size());
        for (const Slot& slot : old) {
            if (slot.used) {
                slot_of(slot.source, slot.tag) = slot;
                ++used_;
            }
        }
    }

    void add_later(Slot& slot, std::uint32_t position) {
        if (later_.empty()) {
            later_.emplace_back();  // its number, 0, stands for none
        }
        const auto number = static_cast<std::uint32_t>(later_.size());
        later_.push_back({position, number});
        if (slot.last != 0) {
            later_[number].next = std::exchange(later_[slot.last].next, number);
        }
        slot.last = number & 0x7fffffff;
    }

    /// Takes the oldest of the later positions of a key; no_position if there is none.
    std::uint32_t take_later(Slot& slot) {
        if (slot.last == 0) {
            return no_position;
        }
        const std::uint32_t oldest = later_[slot.last].next;
        if (oldest == slot.last) {
            slot.last = 0;
        } else {
            later_[slot.last].next = later_[oldest].next;
        }
        return later_[oldest].position;
    }

    LargeVector<Slot> slots_;  ///< a power of two, a quarter of them free at least
    std::vector<Later> later_;
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
    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t position) {
        positions_.add(source, tag, position);
        wild_ = wild_ || source == goal::any || tag == goal::any;
    }
    void prefetch(std::uint32_t source, std::uint32_t tag) const { positions_.prefetch(source, tag); }
    /// `entries` that will be added.
    void clear(std::size_t entries) {
        positions_.clear(entries);
        wild_ = false;
    }

    template <class Waits>
    std::uint32_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        if (!wild_) {
            return positions_.oldest(source, tag, waits);
        }
        return std::min(
            std::min(positions_.oldest(source, tag, waits), positions_.oldest(goal::any, tag, waits)),
            std::min(positions_.oldest(source, goal::any, waits), positions_.oldest(goal::any, goal::any, waits)));
    }

  private:
    PositionsByKey positions_;
    bool wild_ = false;  ///< some receive has a wildcard
};

/// An index of an unexpected message queue. A receive looks up one key, its own source and tag. From the first receive
/// with a wildcard on, each message has an entry under every key that such a receive may look up. A message without a
/// tag matches any tag, under which it has no entry: the index does not answer until it is built without one.
class UnexpectedMessageIndex {
  public:
    [[nodiscard]] bool answers(std::uint32_t /*source*/, std::uint32_t /*tag*/) const { return without_tag_ == 0; }

    /// Whether the index must be built again before it can answer.
    bool extend_for(std::uint32_t source, std::uint32_t tag) {
        const bool more = !wild_ && (source == goal::any || tag == goal::any);
        wild_ = wild_ || more;
        return more;
    }

    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t position) {
        positions_.add(source, tag, position);
        without_tag_ += tag == goal::any ? 1 : 0;
        if (wild_) {
            positions_.add(goal::any, tag, position);
            positions_.add(source, goal::any, position);
            positions_.add(goal::any, goal::any, position);
        }
    }

    /// `entries` that will be added.
    void clear(std::size_t entries) {
        positions_.clear(entries);
        without_tag_ = 0;
    }

    template <class Waits>
    std::uint32_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        return positions_.oldest(source, tag, waits);
    }

  private:
    PositionsByKey positions_;
    bool wild_ = false;
    std::size_t without_tag_ = 0;
};

}  // namespace idlewave::loggops
