#pragma once

#include <array>
#include <cstdint>

#include "goal/op.hpp"
#include "goal/rank_block.hpp"

namespace idlewave::goal {

/// The successor of an op's start or end, if it has exactly one. It is the same for all ranks whose blocks share
/// `words`.
struct CachedSuccessor {
    const std::uint64_t* words = nullptr;
    OpIndex of = 0;
    Edge edge = Edge::start;
    std::uint8_t count = 0;  ///< number of successors; the members below are set if it is 1
    bool is_exchange = false;
    OpIndex op_index = 0;
    std::uint64_t requirements = 0;
    Op op;  ///< with the peer of some rank
};

/// A direct-mapped cache of successors of one Graph. Ranks that share their words reach the same ops at about the same
/// time, so one entry serves many ranks.
class SuccessorCache {
  public:
    [[nodiscard, gnu::always_inline]] const CachedSuccessor& of(const RankBlock& block, OpIndex op_index, Edge edge) {
        CachedSuccessor& known = known_[slot(block.words(), op_index, edge)];
        if (known.words != block.words() || known.of != op_index || known.edge != edge) [[unlikely]] {
            look_up(block, op_index, edge, known);
        }
        return known;
    }

  private:
    static constexpr std::size_t slots = 64;

    static std::size_t slot(const std::uint64_t* words, OpIndex op_index, Edge edge) {
        const std::uintptr_t block = reinterpret_cast<std::uintptr_t>(words) / sizeof(std::uint64_t);
        return (block + 2 * std::size_t{op_index} + static_cast<std::size_t>(edge)) % slots;
    }

    [[gnu::noinline]] static void look_up(const RankBlock& block, OpIndex op_index, Edge edge, CachedSuccessor& known) {
        known.words = block.words();
        known.of = op_index;
        known.edge = edge;
        known.count = 0;
        Successors successors = block.successors(op_index, edge);
        for (OpIndex successor = 0; known.count < 2 && successors.next(successor); ++known.count) {
            known.op_index = successor;
        }
        if (known.count == 1) {
            known.is_exchange = block.is_exchange(known.op_index);
            known.requirements = block.requirements(known.op_index);
            known.op = block.op(known.op_index);
        }
    }

    std::array<CachedSuccessor, slots> known_;
};

}  // namespace idlewave::goal
