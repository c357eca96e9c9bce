#include "collectives/ring.hpp"

#include "collectives/algorithms.hpp"

/// Operations in which every rank talks to its two neighbours only.
namespace idlewave {
namespace {

/// Pass a part ahead, take one from behind, and add to it what is there.
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
    return around_the_ring(call, number, call.rank, Parts::each(call.recv_counts, call.bytes));
}

/// Neighbours exchange in turn on one side and on the other: first their own parts, then always the two parts that they
/// received last. With an odd number of ranks it is the ring.
Step allgather_neighbour_exchange(const CollectiveCall& call, StepNumber number) {
    if (call.size % 2 != 0) {
        return allgather_ring(call, number);
    }
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 3;
    if (round >= call.size / 2) {
        return steps::done();
    }
    const Parts parts = Parts::each(call.recv_counts, call.bytes);
    const std::uint32_t own = call.rank & ~std::uint32_t{1};  // the first of the pair that is exchanged at first
    const bool even = call.rank == own;
    const std::uint32_t peer = even == (round % 2 == 0) ? call.ahead(1) : call.behind(1);
    // In round i the pair comes that is i (i even) or i + 1 (i odd) ranks away, on the side of the peer.
    const auto pair = [&call, own, even, &parts](std::uint32_t i) {
        const std::uint32_t first =
            even == (i % 2 == 0) ? call.turned(own, i + i % 2) : call.turned_back(own, i + i % 2);
        return parts[first] + parts[first + 1];
    };
    switch (static_cast<std::uint32_t>(number) % 3) {
        case 0:
            return steps::recv(number, peer, round == 0 ? parts[peer] : pair(round));
        case 1:
            return steps::send(number, peer, round == 0 ? parts[call.rank] : pair(round - 1));
        default:
            return steps::join(number);
    }
}

/// In round i every rank passes on part r − 1 − i, so that its own part comes last and complete.
Step reduce_scatter_ring(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 4;
    if (round + 1 >= call.size) {
        return steps::done();
    }
    const Parts parts = Parts::of_vector(call, call.recv_counts);
    const std::uint32_t out = call.turned_back(call.behind(1), round);
    return pass_and_reduce(call, number, parts[out], parts[call.turned_back(out, 1)]);
}

/// Reduce-scatter around the ring, then allgather around the ring, part by part; rank r begins with part r.
Step allreduce_ring(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t rounds = call.size - 1;
    const std::uint32_t round = static_cast<std::uint32_t>(number) / 4;
    if (round < rounds) {
        const Parts parts = Parts::of_vector(call, {});
        const std::uint32_t out = call.behind(round);
        return pass_and_reduce(call, number, parts[out], parts[call.turned_back(out, 1)]);
    }
    const StepNumber begin = StepNumber{4} * rounds;
    return around_the_ring(call, number - begin, call.size == 1 ? 0 : call.ahead(1), Parts::of_vector(call, {}))
        .from(begin);
}

}  // namespace idlewave
