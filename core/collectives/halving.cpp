#include "collectives/algorithms.hpp"
#include "collectives/folded.hpp"
#include "collectives/parts.hpp"

/// Recursive halving: in each round a rank gives half of what it works on to a peer, and reduces the other half.
namespace idlewave {
namespace {

/// A vector that 2^m ranks halve m times. Ranks whose numbers differ in bit i take the lower or the upper half in round
/// i: the distance doubles while the part halves, as in MPICH.
struct Halves {
    /// Bytes before piece `j` of 2^m: pieces differ by a byte at most, and no half is cut in another place than by its
    /// other half's owner.
    [[nodiscard]] std::uint64_t before(std::uint32_t j) const {
        const std::uint64_t rest = bytes & ((std::uint64_t{1} << rounds) - 1);
        return (bytes >> rounds) * j + ((rest * j) >> rounds);
    }
    /// What rank `n` works on after so many halvings.
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

/// One exchange with `peer`; sizes are functions, for only one of them is needed.
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
    const Folded folded(call.rank, call.size, Folded::Aside::even);
    if (number < fold_steps) {
        return fold(call, folded, number, folded.partner(), call.bytes, true);
    }
    const std::uint32_t rounds = folded.rounds();
    const std::uint32_t end = fold_steps + 8 * rounds;
    if (number >= end) {
        return unfold(folded, number, end, call.bytes);
    }
    if (folded.aside()) {
        return steps::jump(end);
    }
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    const bool halving = i / 4 < rounds;
    const std::uint32_t halvings = halving ? i / 4 + 1 : 2 * rounds - i / 4;
    const std::uint32_t mine = folded.number();
    const std::uint32_t other = mine ^ (std::uint32_t{1} << (halvings - 1));
    const Halves halves{call.bytes, rounds};
    const auto keep = [&] { return halves.of(mine, halvings); };
    const auto give = [&] { return halves.of(other, halvings); };
    const std::uint32_t peer = folded.rank_of(other);
    return halving ? exchange_and_reduce(call, number, i % 4, peer, keep, give, true)
                   : exchange_and_reduce(call, number, i % 4, peer, give, keep, false);
}

/// Reduce-scatter by recursive halving, then a binomial gather that takes the same way back. Ranks are numbered as seen
/// from the root, so that it always takes part; MPICH instead has it change places with another rank.
Step reduce_rabenseifner(const CollectiveCall& call, StepNumber number) {
    const Folded folded(call.relative(), call.size, Folded::Aside::odd);
    if (number < fold_steps) {
        return folded.paired() ? fold(call, folded, number, call.absolute(folded.partner()), call.bytes, true)
                               : steps::jump(fold_steps);
    }
    const std::uint32_t rounds = folded.rounds();
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    if (folded.aside() || i / 4 >= 2 * rounds) {
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
        return steps::done();  // it has given what it had, in the round before
    }
    const bool gives = mine > other;
    switch (i % 4) {
        case 0:
            return gives ? steps::send(number, peer, halves.of(mine, halvings))
                         : steps::recv(number, peer, halves.of(other, halvings));
        case 1:
            return steps::join(number);
        default:
            return steps::jump(fold_steps + 4 * StepNumber{i / 4 + 1});
    }
}

/// Here the distance halves with the vector, so that each rank ends with its own part. Who stood aside is sent its part
/// in the end.
Step reduce_scatter_halving(const CollectiveCall& call, StepNumber number) {
    const Folded folded(call.rank, call.size, Folded::Aside::even);
    const Parts parts = Parts::of_vector(call, call.recv_counts);
    if (number < fold_steps) {
        return folded.paired() ? fold(call, folded, number, folded.partner(), parts.sum(0, call.size), true)
                               : steps::jump(fold_steps);
    }
    const std::uint32_t end = fold_steps + 4 * folded.rounds();
    if (number >= end) {
        return folded.paired() ? unfold(folded, number, end, parts[call.rank & ~std::uint32_t{1}]) : steps::done();
    }
    if (folded.aside()) {
        return steps::jump(end);
    }
    const auto i = static_cast<std::uint32_t>(number - fold_steps);
    const std::uint32_t distance = folded.active >> (i / 4 + 1);
    const std::uint32_t keeps = folded.number() & ~(distance - 1);
    const auto half = [&](std::uint32_t n) { return parts.sum(folded.begin_of(n), folded.begin_of(n + distance)); };
    return exchange_and_reduce(
        call, number, i % 4, folded.rank_of(folded.number() ^ distance), [&] { return half(keeps); },
        [&] { return half(keeps ^ distance); }, true);
}

}  // namespace idlewave
