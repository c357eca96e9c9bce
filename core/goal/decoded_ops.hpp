#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "goal/op.hpp"
#include "goal/rank_block.hpp"

namespace idlewave::goal {

/// An op, with what it waits for and what waits for it, read from the words of a block once, for all ranks whose blocks
/// share `words`. Only `op.peer`, and `op.size` of a short calc, are those of the rank that was decoded.
struct alignas(64) DecodedOp {
    static constexpr std::size_t most_successors = 14;

    const std::uint64_t* words = nullptr;  ///< of the block
    OpIndex op_index = 0;
    std::uint32_t requirements = 0;
    OpIndex next_root = RankBlock::no_op;  ///< of a root
    Op op;
    bool is_short_calc = false;
    bool is_exchange = false;                         ///< RankBlock::is_exchange
    bool has_many = false;                            ///< more successors than fit: `successors` is then empty
    std::uint8_t starts = 0;                          ///< successors that wait for the op's start
    std::uint8_t ends = 0;                            ///< … and for its end
    std::array<OpIndex, most_successors> successors;  ///< those that wait for the end, then the others

    [[nodiscard, gnu::always_inline]] std::span<const OpIndex> waiting_for(Edge edge) const {
        return edge == Edge::end ? std::span(successors.data(), ends) : std::span(successors.data() + ends, starts);
    }
};
static_assert(sizeof(DecodedOp) == 128);

/// The ops that a thread decoded last: a direct-mapped cache. Ranks that share their words reach the same ops at about
/// the same time, and a rank comes back to an op once for each of its requirements, for its start and for its end.
class DecodedOps {
  public:
    [[nodiscard, gnu::always_inline]] const DecodedOp& of(const RankBlock& block, OpIndex op_index) {
        DecodedOp& known = known_[slot(block.words(), op_index)];
        if (known.words != block.words() || known.op_index != op_index) [[unlikely]] {
            decode(block, op_index, known);
        }
        return known;
    }

    /// The same for an op that waits for `of`, which stays valid.
    [[nodiscard, gnu::always_inline]] const DecodedOp& successor(const RankBlock& block, const DecodedOp& of,
                                                                 OpIndex op_index) {
        DecodedOp& known = known_[slot(block.words(), op_index)];
        if (known.words != block.words() || known.op_index != op_index) [[unlikely]] {
            DecodedOp& target = &known == &of ? known_.back() : known;
            decode(block, op_index, target);
            return target;
        }
        return known;
    }

  private:
    static constexpr std::size_t slots = 512;

    [[nodiscard]] static std::size_t slot(const std::uint64_t* words, OpIndex op_index) {
        return (reinterpret_cast<std::uintptr_t>(words) / sizeof(std::uint64_t) + op_index) % slots;
    }

    [[gnu::noinline]] static void decode(const RankBlock& block, OpIndex op_index, DecodedOp& decoded) {
        decoded.words = block.words();
        decoded.op_index = op_index;
        block.read(op_index, decoded.op);
        decoded.is_short_calc = block.is_short_calc(op_index);
        decoded.is_exchange = block.is_exchange(op_index);
        collect_links(block, op_index, decoded);
        decoded.next_root = block.is_root(op_index) ? block.next_root(op_index) : RankBlock::no_op;
        decoded.op.start_has_successors =
            decoded.has_many || decoded.starts > 0 || decoded.next_root != RankBlock::no_op;
        decoded.op.end_has_successors = decoded.has_many || decoded.ends > 0;
    }

    /// Those that wait for the start are written from the end of the array on, until it is known where they begin.
    static void collect_links(const RankBlock& block, OpIndex op_index, DecodedOp& decoded) {
        std::uint32_t ends = 0;
        std::uint32_t starts = 0;
        auto& successors = decoded.successors;
        const std::uint64_t requirements = block.read_links(op_index, [&](Edge edge, OpIndex successor) {
            if (ends + starts < DecodedOp::most_successors) {
                successors[edge == Edge::end ? ends : DecodedOp::most_successors - 1 - starts] = successor;
            }
            ++(edge == Edge::end ? ends : starts);
        });
        decoded.requirements = static_cast<std::uint32_t>(requirements);
        decoded.has_many = ends + starts > DecodedOp::most_successors;
        decoded.ends = decoded.has_many ? std::uint8_t{0} : static_cast<std::uint8_t>(ends);
        decoded.starts = decoded.has_many ? std::uint8_t{0} : static_cast<std::uint8_t>(starts);
        if (decoded.starts > 0) {
            std::reverse(successors.end() - starts, successors.end());
            std::copy(successors.end() - starts, successors.end(), successors.begin() + ends);
        }
    }

    std::vector<DecodedOp> known_{slots + 1};  ///< by slot; behind them one for a successor of an op in its own slot
};

}  // namespace idlewave::goal
