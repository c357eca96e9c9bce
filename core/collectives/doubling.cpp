#include "collectives/algorithms.hpp"
#include "collectives/counts.hpp"
#include "collectives/folded.hpp"

/// Recursive doubling: in round i every rank exchanges with the one whose number differs in bit i.
namespace idlewave::collectives {

Step allreduce_recursive_doubling(const CollectiveCall& call, StepNumber number) {
    const Folded folded(call.rank, call.size, Folded::Excluded::even);
    if (number < fold_steps) {
        return fold(call, folded, number, folded.partner(), call.bytes, true);
    }
    const std::uint32_t end = fold_steps + 3 * folded.rounds();
    if (number >= end) {
        return unfold(folded, number, end, call.bytes);
    }
    if (folded.excluded()) {
        return steps::jump(end);
    }
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    if (i % 3 == 2) {
        return steps::reduce(call, number, call.bytes);
    }
    const std::uint32_t peer = folded.rank_of(folded.number() ^ (std::uint32_t{1} << (i / 3)));
    const auto both = [&] { return steps::Transfer{peer, call.bytes}; };
    return steps::exchange(number, i % 3 != 0, both, both);
}

/// Every rank has the blocks of a range of ranks, which doubles in every round. If the number of ranks is no power of
/// two, ranks are folded; an excluded rank gets all blocks in the end, its own included, as in MPICH's
/// allgather_intra_recexch.c.
Step allgather_recursive_doubling(const CollectiveCall& call, StepNumber number) {
    const Folded folded(call.rank, call.size, Folded::Excluded::even);
    const Counts counts = Counts::each(call.recv_counts, call.bytes);
    if (number < fold_steps) {
        return folded.paired()
                   ? fold(call, folded, number, folded.partner(), counts[call.rank & ~std::uint32_t{1}], false)
                   : steps::jump(fold_steps);
    }
    const std::uint32_t end = fold_steps + 2 * folded.rounds();
    if (number >= end) {
        return folded.paired() ? unfold(folded, number, end, counts.sum(0, call.size)) : steps::done();
    }
    if (folded.excluded()) {
        return steps::jump(end);
    }
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    const std::uint32_t distance = std::uint32_t{1} << (i / 2);
    const std::uint32_t first = folded.number() & ~(distance - 1);
    const std::uint32_t peer = folded.rank_of(folded.number() ^ distance);
    const auto range = [&folded, &counts, distance](std::uint32_t n) {
        return counts.sum(folded.begin_of(n), folded.begin_of(n + distance));
    };
    const auto in = [&] { return steps::Transfer{peer, range(first ^ distance)}; };
    const auto out = [&] { return steps::Transfer{peer, range(first)}; };
    return steps::exchange(number, i % 2 != 0, in, out);
}

}  // namespace idlewave::collectives
