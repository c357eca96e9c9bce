#pragma once

#include <array>
#include <cstdint>

#include "goal/op.hpp"
#include "goal/rank_block.hpp"

namespace idlewave {

/// Who waits for an op's start or end, where that is one op: as it is for all ranks whose blocks share these words.
struct KnownFollower {
    const std::uint64_t* words = nullptr;
    Place of = 0;
    Edge edge = Edge::start;
    std::uint8_t count = 0;  ///< followers; what is below is known if there is one
    bool exchanges = false;
    Place place = 0;
    std::uint64_t requirements = 0;
    Op op;  ///< its peer is some rank's
};

/// Followers that were looked up in one Graph, each for many ranks: those that share their words come to the same ops
/// at about the same time, one after the other.
class KnownFollowers {
  public:
    [[nodiscard, gnu::always_inline]] const KnownFollower& of(const RankBlock& block, Place place, Edge edge) {
        KnownFollower& known = known_[slot(block.words(), place, edge)];
        if (known.words != block.words() || known.of != place || known.edge != edge) [[unlikely]] {
            look_up(block, place, edge, known);
        }
        return known;
    }

  private:
    static constexpr std::size_t slots = 64;

    static std::size_t slot(const std::uint64_t* words, Place place, Edge edge) {
        const std::uintptr_t block = reinterpret_cast<std::uintptr_t>(words) / sizeof(std::uint64_t);
        return (block + 2 * std::size_t{place} + static_cast<std::size_t>(edge)) % slots;
    }

    [[gnu::noinline]] static void look_up(const RankBlock& block, Place place, Edge edge, KnownFollower& known) {
        known.words = block.words();
        known.of = place;
        known.edge = edge;
        known.count = 0;
        Followers followers = block.followers(place, edge);
        for (Place follower = 0; known.count < 2 && followers.next(follower); ++known.count) {
            known.place = follower;
        }
        if (known.count == 1) {
            known.exchanges = block.exchanges(known.place);
            known.requirements = block.requirements(known.place);
            known.op = block.op(known.place);
        }
    }

    std::array<KnownFollower, slots> known_;
};

}  // namespace idlewave
