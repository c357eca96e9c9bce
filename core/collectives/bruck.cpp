#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/parts.hpp"

/// Bruck's algorithms: any number of ranks in ⌈log2 P⌉ rounds.
namespace idlewave {

/// In round i every rank sends all that it has, up to 2^i parts from its own on, to the rank 2^i before it.
Step allgather_bruck(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t round = number / 2;
    const std::uint64_t reach = std::uint64_t{1} << round;
    if (reach >= call.size) {
        return steps::done();
    }
    const auto distance = static_cast<std::uint32_t>(reach);
    const auto parts_from = [&call, distance](std::uint32_t first) {
        const std::uint32_t count = std::min(distance, call.size - distance);
        return Parts::each(call.recv_counts, call.bytes).around(first, count, call.size);
    };
    const auto in = [&] { return steps::Way{call.ahead(distance), parts_from(call.ahead(distance))}; };
    const auto out = [&] { return steps::Way{call.behind(distance), parts_from(call.rank)}; };
    return steps::exchange(number, number % 2 != 0, in, out);
}

/// In round i every rank sends 2^i ahead all parts that have to go so far: those whose way has bit i. Parts are of the
/// same size: nobody knows the sizes of those that only pass by, so that counts cannot be heeded.
Step alltoall_bruck(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t round = number / 2;
    const std::uint64_t reach = std::uint64_t{1} << round;
    if (reach >= call.size) {
        return steps::done();
    }
    const auto distance = static_cast<std::uint32_t>(reach);
    // Ways from 0 to P − 1 with bit i: half of each full period of 2^(i + 1), and what the last one has.
    const std::uint64_t period = 2 * reach;
    const std::uint64_t over = call.size & (period - 1);
    const std::uint64_t count = ((call.size - over) >> 1) + (over > reach ? over - reach : 0);
    const auto in = [&] { return steps::Way{call.behind(distance), count * call.bytes}; };
    const auto out = [&] { return steps::Way{call.ahead(distance), count * call.bytes}; };
    return steps::exchange(number, number % 2 != 0, in, out);
}

}  // namespace idlewave
