#include "collectives/ring.hpp"

#include "collectives/algorithms.hpp"

/// Algorithms in which every rank communicates only with its two neighbours on a ring.
namespace idlewave::collectives {
namespace {

/// Sends a block ahead, receives one from behind, and reduces it with the rank's own.
Step pass_and_reduce(const CollectiveCall& call, StepNumber number, std::uint64_t out, std::uint64_t in) {
    switch (number % 4) {
        case 0:
            return steps::recv(number, call.behind(1), in);
        case 1:
            return steps::send(number, call.ahead(1), out);
        case 2:
            return steps::join(number);
        default:
            return steps::reduce(call, number, in);
    }
}

}  // namespace

Step allgather_ring(const CollectiveCall& call, StepNumber number) {
    return around_the_ring(call, number, call.rank, Counts::each(call.recv_counts, call.bytes));
}

/// Neighbours exchange alternately on one side and on the other: first their own blocks, and then the two blocks that
/// they received last. With an odd number of ranks it is the ring algorithm.
Step allgather_neighbour_exchange(const CollectiveCall& call, StepNumber number) {
    if (call.size % 2 != 0) {
        return allgather_ring(call, number);
    }
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 3;
    if (round >= call.size / 2) {
        return steps::done();
    }
    const Counts counts = Counts::each(call.recv_counts, call.bytes);
    const std::uint32_t own = call.rank & ~std::uint32_t{1};  // the lower rank of the pair that exchanges first
    const bool even = call.rank == own;
    const std::uint32_t peer = even == (round % 2 == 0) ? call.ahead(1) : call.behind(1);
    // In round i a rank receives the blocks of the pair that is i (i even) or i + 1 (i odd) ranks away, on the peer's
    // side.
    const auto pair = [&call, own, even, &counts](std::uint32_t i) {
        const std::uint32_t first =
            even == (i % 2 == 0) ? call.ring_forward(own, i + i % 2) : call.ring_backward(own, i + i % 2);
        return counts[first] + counts[first + 1];
    };
    switch (static_cast<std::uint32_t>(number) % 3) {
        case 0:
            return steps::recv(number, peer, round == 0 ? counts[peer] : pair(round));
        case 1:
            return steps::send(number, peer, round == 0 ? counts[call.rank] : pair(round - 1));
        default:
            return steps::join(number);
    }
}

/// In round i every rank r sends block r − 1 − i, so that its own block arrives last and is complete.
Step reduce_scatter_ring(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 4;
    if (round + 1 >= call.size) {
        return steps::done();
    }
    const Counts counts = Counts::of_vector(call, call.recv_counts);
    const std::uint32_t out = call.ring_backward(call.behind(1), round);
    return pass_and_reduce(call, number, counts[out], counts[call.ring_backward(out, 1)]);
}

/// Reduce-scatter around the ring, then allgather around the ring, block by block. Rank r begins with block r.
Step allreduce_ring(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t rounds = call.size - 1;
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 4;
    if (round < rounds) {
        const Counts counts = Counts::of_vector(call, {});
        const std::uint32_t out = call.behind(round);
        return pass_and_reduce(call, number, counts[out], counts[call.ring_backward(out, 1)]);
    }
    const StepNumber begin = StepNumber{4} * rounds;
    return around_the_ring(call, number - begin, call.size == 1 ? 0 : call.ahead(1), Counts::of_vector(call, {}))
        .from(begin);
}

}  // namespace idlewave::collectives
