#include <algorithm>

#include "collectives/algorithms.hpp"
#include "collectives/counts.hpp"

/// Bruck's algorithms: any number of ranks in ⌈log2 P⌉ rounds.
namespace idlewave::collectives {

/// In round i every rank sends all blocks that it has, up to 2^i blocks from its own on, to the rank 2^i behind it.
Step allgather_bruck(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t round = number / 2;
    const std::uint64_t reach = std::uint64_t{1} << round;
    if (reach >= call.size) {
        return steps::done();
    }
    const auto distance = static_cast<std::uint32_t>(reach);
    const auto bytes_from_ranks = [&call, distance](std::uint32_t first) {
        const std::uint32_t count = std::min(distance, call.size - distance);
        return Counts::each(call.recv_counts, call.bytes).around(first, count, call.size);
    };
    const auto in = [&] { return steps::Transfer{call.ahead(distance), bytes_from_ranks(call.ahead(distance))}; };
    const auto out = [&] { return steps::Transfer{call.behind(distance), bytes_from_ranks(call.rank)}; };
    return steps::exchange(number, number % 2 != 0, in, out);
}

/// In round i every rank sends to the rank 2^i ahead all blocks whose distance to their destination has bit i. All
/// blocks have the same size: a rank that forwards a block does not know its count.
Step alltoall_bruck(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t round = number / 2;
    const std::uint64_t reach = std::uint64_t{1} << round;
    if (reach >= call.size) {
        return steps::done();
    }
    const auto distance = static_cast<std::uint32_t>(reach);
    // The number of distances from 0 to P − 1 with bit i: half of each full period of 2^(i + 1), and those of the rest.
    const std::uint64_t period = 2 * reach;
    const std::uint64_t over = call.size & (period - 1);
    const std::uint64_t count = ((call.size - over) >> 1) + (over > reach ? over - reach : 0);
    const auto in = [&] { return steps::Transfer{call.behind(distance), count * call.bytes}; };
    const auto out = [&] { return steps::Transfer{call.ahead(distance), count * call.bytes}; };
    return steps::exchange(number, number % 2 != 0, in, out);
}

}  // namespace idlewave::collectives
