#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "goal/op.hpp"

namespace idlewave::loggops {

inline constexpr std::size_t no_position = ~std::size_t{0};

/// Positions in a match list by source and tag, oldest first.
class PositionsByKey {
  public:
    void add(std::uint32_t source, std::uint32_t tag, std::size_t position) {
        lists_[key(source, tag)].positions.push_back(position);
    }

    /// The oldest position with that key whose entry still waits, or no_position.
    template <class Waits>
    [[nodiscard]] std::size_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        const auto found = lists_.find(key(source, tag));
        if (found == lists_.end()) {
            return no_position;
        }
        Positions& list = found->second;
        while (list.next < list.positions.size() && !waits(list.positions[list.next])) {
            ++list.next;
        }
        if (list.next == list.positions.size()) {
            lists_.erase(found);
            return no_position;
        }
        return list.positions[list.next];
    }

    void clear() { lists_.clear(); }

  private:
    struct Positions {
        std::vector<std::size_t> positions;
        std::size_t next = 0;  ///< positions before it are no longer in use
    };

    static std::uint64_t key(std::uint32_t source, std::uint32_t tag) { return std::uint64_t{source} << 32 | tag; }

    struct Hash {
        std::size_t operator()(std::uint64_t k) const { return (k ^ k >> 29) * 0x9e3779b97f4a7c15U; }
    };
    std::unordered_map<std::uint64_t, Positions, Hash> lists_;
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
    void add(std::uint32_t source, std::uint32_t tag, std::size_t position) {
        positions_.add(source, tag, position);
        wild_ = wild_ || source == goal::any || tag == goal::any;
    }
    void clear() {
        positions_.clear();
        wild_ = false;
    }

    template <class Waits>
    std::size_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
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
/// tag matches any tag and has no entry: the index does not answer while one waits.
class UnexpectedMessageIndex {
  public:
    [[nodiscard]] bool answers(std::uint32_t /*source*/, std::uint32_t /*tag*/) const { return without_tag_ == 0; }

    /// Whether the index must be built again before it can answer.
    bool extend_for(std::uint32_t source, std::uint32_t tag) {
        const bool more = !wild_ && (source == goal::any || tag == goal::any);
        wild_ = wild_ || more;
        return more;
    }

    void add(std::uint32_t source, std::uint32_t tag, std::size_t position) {
        positions_.add(source, tag, position);
        without_tag_ += tag == goal::any ? 1 : 0;
        if (wild_) {
            positions_.add(goal::any, tag, position);
            positions_.add(source, goal::any, position);
            positions_.add(goal::any, goal::any, position);
        }
    }

    void clear() {
        positions_.clear();
        without_tag_ = 0;
    }

    template <class Waits>
    std::size_t oldest(std::uint32_t source, std::uint32_t tag, Waits waits) {
        return positions_.oldest(source, tag, waits);
    }

  private:
    PositionsByKey positions_;
    bool wild_ = false;
    std::size_t without_tag_ = 0;
};

}  // namespace idlewave::loggops
