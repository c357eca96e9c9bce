#include "collectives/algorithms.hpp"
#include "collectives/counts.hpp"
#include "collectives/folded.hpp"

/// Recursive halving: in each round a rank gives half of what it works on to a peer, and reduces the other half.
namespace idlewave::collectives {
namespace {

/// A vector that 2^m ranks halve m times. In round i the two ranks whose numbers differ in bit i take the lower and the
/// upper half: the distance doubles while the vector halves, as in MPICH.
struct Halves {
    /// The number of bytes before block `j` of 2^m blocks. Blocks differ by at most a byte, and both ranks of a pair
    /// cut at the same byte.
    [[nodiscard]] std::uint64_t before(std::uint32_t j) const {
        const std::uint64_t rest = bytes & ((std::uint64_t{1} << rounds) - 1);
        return (bytes >> rounds) * j + ((rest * j) >> rounds);
    }
    /// The number of bytes that rank `n` has after `halvings` rounds.
    [[nodiscard]] std::uint64_t of(std::uint32_t n, std::uint32_t halvings) const {
        std::uint32_t begin = 0;
        for (std::uint32_t i = 0; i < halvings; ++i) {
            begin |= ((n >> i) & 1) << (rounds - 1 - i);
        }
        return before(begin + (std::uint32_t{1} << (rounds - halvings))) - before(begin);
    }

    std::uint64_t bytes;
    std::uint32_t rounds;
};

/// An exchange with `peer`. Sizes are functions, since a step needs at most one of them.
template <class In, class Out>
Step exchange_and_reduce(const CollectiveCall& call, StepNumber number, std::uint32_t part, std::uint32_t peer, In in,
                         Out out, bool reducing) {
    switch (part) {
        case 0:
            return steps::recv(number, peer, in());
        case 1:
            return steps::send(number, peer, out());
        case 2:
            return steps::join(number);
        default:
            return reducing ? steps::reduce(call, number, in()) : steps::skip(number);
    }
}

}  // namespace

/// Reduce-scatter by recursive halving, then allgather by recursive doubling.
Step allreduce_rabenseifner(const CollectiveCall& call, StepNumber number) {
    const Folded folded(call.rank, call.size, Folded::Excluded::even);
    if (number < fold_steps) {
        return fold(call, folded, number, folded.partner(), call.bytes, true);
    }
    const std::uint32_t rounds = folded.rounds();
    const std::uint32_t end = fold_steps + 8 * rounds;
    if (number >= end) {
        return unfold(folded, number, end, call.bytes);
    }
    if (folded.excluded()) {
        return steps::jump(end);
    }
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    const bool halving = i / 4 < rounds;
    const std::uint32_t halvings = halving ? i / 4 + 1 : 2 * rounds - i / 4;
    const std::uint32_t mine = folded.number();
    const std::uint32_t other = mine ^ (std::uint32_t{1} << (halvings - 1));
    const Halves halves{call.bytes, rounds};
    const auto own = [&] { return halves.of(mine, halvings); };
    const auto others = [&] { return halves.of(other, halvings); };
    const std::uint32_t peer = folded.rank_of(other);
    return halving ? exchange_and_reduce(call, number, i % 4, peer, own, others, true)
                   : exchange_and_reduce(call, number, i % 4, peer, others, own, false);
}

/// Reduce-scatter by recursive halving, then a binomial gather in the reverse order. Ranks are relative to the root,
/// which therefore always participates; MPICH instead exchanges its rank with another one.
Step reduce_rabenseifner(const CollectiveCall& call, StepNumber number) {
    const Folded folded(call.relative(), call.size, Folded::Excluded::odd);
    if (number < fold_steps) {
        return folded.paired() ? fold(call, folded, number, call.absolute(folded.partner()), call.bytes, true)
                               : steps::jump(fold_steps);
    }
    const std::uint32_t rounds = folded.rounds();
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    if (folded.excluded() || i / 4 >= 2 * rounds) {
        return steps::done();
    }
    const bool halving = i / 4 < rounds;
    const std::uint32_t halvings = halving ? i / 4 + 1 : 2 * rounds - i / 4;
    const std::uint32_t mine = folded.number();
    const std::uint32_t other = mine ^ (std::uint32_t{1} << (halvings - 1));
    const Halves halves{call.bytes, rounds};
    const std::uint32_t peer = call.absolute(folded.rank_of(other));
    if (halving) {
        return exchange_and_reduce(
            call, number, i % 4, peer, [&] { return halves.of(mine, halvings); },
            [&] { return halves.of(other, halvings); }, true);
    }
    if (mine >> halvings != 0) {
        return steps::done();  // it has sent its blocks in the round before
    }
    const bool sends = mine > other;
    switch (i % 4) {
        case 0:
            return sends ? steps::send(number, peer, halves.of(mine, halvings))
                         : steps::recv(number, peer, halves.of(other, halvings));
        case 1:
            return steps::join(number);
        default:
            return steps::jump(fold_steps + 4 * StepNumber{i / 4 + 1});
    }
}

/// Here the distance halves with the vector, so that each rank ends with its own block. An excluded rank receives its
/// block in the end.
Step reduce_scatter_halving(const CollectiveCall& call, StepNumber number) {
    const Folded folded(call.rank, call.size, Folded::Excluded::even);
    const Counts counts = Counts::of_vector(call, call.recv_counts);
    if (number < fold_steps) {
        return folded.paired() ? fold(call, folded, number, folded.partner(), counts.sum(0, call.size), true)
                               : steps::jump(fold_steps);
    }
    const std::uint32_t end = fold_steps + 4 * folded.rounds();
    if (number >= end) {
        return folded.paired() ? unfold(folded, number, end, counts[call.rank & ~std::uint32_t{1}]) : steps::done();
    }
    if (folded.excluded()) {
        return steps::jump(end);
    }
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    const std::uint32_t distance = folded.active >> (i / 4 + 1);
    const std::uint32_t own_first = folded.number() & ~(distance - 1);
    const auto half = [&](std::uint32_t n) { return counts.sum(folded.begin_of(n), folded.begin_of(n + distance)); };
    return exchange_and_reduce(
        call, number, i % 4, folded.rank_of(folded.number() ^ distance), [&] { return half(own_first); },
        [&] { return half(own_first ^ distance); }, true);
}

}  // namespace idlewave::collectives
