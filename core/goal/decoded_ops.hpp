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

/// What was read of an op from the words of a block once, for all ranks whose blocks share `words`: the op, when it
/// became ready; and its links, when other ops than the next one waited for it, or it waited for several.
struct alignas(64) DecodedOp {
    static constexpr std::size_t most_successors = 14;

    const std::uint64_t* words = nullptr;  ///< of the block
    OpIndex op_index = 0;
    bool has_op = false;
    bool has_links = false;

    // The op. Only `op.peer`, and `op.size` of a short calc, are those of the rank that was decoded.
    bool is_short_calc = false;
    bool is_exchange = false;              ///< RankBlock::is_exchange
    OpIndex next_root = RankBlock::no_op;  ///< of a root
    Op op;

    // The links.
    std::uint32_t requirements = 0;
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
    /// An op with `op` and what belongs to it.
    [[nodiscard, gnu::always_inline]] const DecodedOp& with_op(const RankBlock& block, OpIndex op_index) {
        return with_op(block, op_index, of(block, op_index));
    }
    /// The same for an op that waits for `before`, which stays valid.
    [[nodiscard, gnu::always_inline]] const DecodedOp& with_op_after(const RankBlock& block, OpIndex op_index,
                                                                     const DecodedOp& before) {
        return with_op(block, op_index, after(block, op_index, before));
    }
    /// An op with its links.
    [[nodiscard, gnu::always_inline]] const DecodedOp& with_links(const RankBlock& block, OpIndex op_index) {
        return with_links(block, op_index, of(block, op_index));
    }
    [[nodiscard, gnu::always_inline]] const DecodedOp& with_links_after(const RankBlock& block, OpIndex op_index,
                                                                        const DecodedOp& before) {
        return with_links(block, op_index, after(block, op_index, before));
    }

  private:
    static constexpr std::size_t slots = 512;

    [[nodiscard, gnu::always_inline]] DecodedOp& of(const RankBlock& block, OpIndex op_index) {
        const auto words = reinterpret_cast<std::uintptr_t>(block.words()) / sizeof(std::uint64_t);
        return known_[(words + op_index) % slots];
    }
    [[nodiscard, gnu::always_inline]] DecodedOp& after(const RankBlock& block, OpIndex op_index,
                                                       const DecodedOp& before) {
        DecodedOp& decoded = of(block, op_index);
        return &decoded == &before ? known_.back() : decoded;
    }

    [[nodiscard]] static bool is(const DecodedOp& decoded, const RankBlock& block, OpIndex op_index) {
        return decoded.words == block.words() && decoded.op_index == op_index;
    }
    [[gnu::always_inline]] static const DecodedOp& with_op(const RankBlock& block, OpIndex op_index,
                                                           DecodedOp& decoded) {
        if (!is(decoded, block, op_index) || !decoded.has_op) [[unlikely]] {
            decode_op(block, op_index, decoded);
        }
        return decoded;
    }
    [[gnu::always_inline]] static const DecodedOp& with_links(const RankBlock& block, OpIndex op_index,
                                                              DecodedOp& decoded) {
        if (!is(decoded, block, op_index) || !decoded.has_links) [[unlikely]] {
            decode_links(block, op_index, decoded);
        }
        return decoded;
    }

    /// Gives the place to an op, of which nothing is read yet, unless it has it.
    static void assign(const RankBlock& block, OpIndex op_index, DecodedOp& decoded) {
        if (!is(decoded, block, op_index)) {
            decoded.words = block.words();
            decoded.op_index = op_index;
            decoded.has_op = false;
            decoded.has_links = false;
        }
    }

    [[gnu::noinline]] static void decode_op(const RankBlock& block, OpIndex op_index, DecodedOp& decoded) {
        assign(block, op_index, decoded);
        block.read(op_index, decoded.op);
        decoded.is_short_calc = block.is_short_calc(op_index);
        decoded.is_exchange = block.is_exchange(op_index);
        decoded.next_root = block.is_root(op_index) ? block.next_root(op_index) : RankBlock::no_op;
        decoded.op.start_has_successors =
            decoded.next_root != RankBlock::no_op || block.has_successors(op_index, Edge::start);
        decoded.op.end_has_successors = block.has_successors(op_index, Edge::end);
        decoded.has_op = true;
    }

    [[gnu::noinline]] static void decode_links(const RankBlock& block, OpIndex op_index, DecodedOp& decoded) {
        assign(block, op_index, decoded);
        collect_links(block, op_index, decoded);
        decoded.has_links = true;
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
