#include <algorithm>

#include "collectives/algorithms.hpp"

namespace idlewave::collectives {

/// In round i every rank sends to the rank 2^i ahead and receives from the rank 2^i behind. Large studies spend most of
/// their steps here; therefore it has no division.
Step barrier_dissemination(const CollectiveCall& call, StepNumber number) {
    const std::uint64_t distance = std::uint64_t{1} << (number >> 1);
    if (distance >= call.size) {
        return steps::done();
    }
    const auto in = [&] { return steps::Transfer{call.behind(static_cast<std::uint32_t>(distance)), call.bytes}; };
    const auto out = [&] { return steps::Transfer{call.ahead(static_cast<std::uint32_t>(distance)), call.bytes}; };
    return steps::exchange(number, (number & 1) != 0, in, out);
}

/// The same, with a reduction in every round. It is correct for powers of two, and for reductions that may count a
/// contribution twice (maximum, minimum).
Step allreduce_dissemination(const CollectiveCall& call, StepNumber number) {
    const StepNumber round = number >> 2;
    switch (number & 3) {
        case 0:
        case 1:
            return barrier_dissemination(call, 2 * round + (number & 3)).from(2 * round);
        case 2:
            return steps::reduce(call, number, call.bytes);
        default:
            return steps::skip(number);
    }
}

/// In round i every rank sends to the n ranks that are j·(n + 1)^i ahead, j from 1 to n, and receives from the n ranks
/// as far behind. Distances beyond the number of ranks are skipped: those messages would carry nothing new.
Step barrier_nway_dissemination(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t ways = std::clamp<std::uint32_t>(call.ways, 1, 1U << 20);
    const std::uint32_t per_round = 2 * ways + 1;
    const std::uint32_t round = static_cast<std::uint32_t>(number) / per_round;
    const std::uint32_t part = static_cast<std::uint32_t>(number) - round * per_round;
    std::uint64_t reach = 1;
    for (std::uint32_t i = 0; i < round; ++i) {
        reach *= ways + 1;
    }
    if (reach >= call.size) {
        return steps::done();
    }
    if (part == 2 * ways) {
        return steps::join(number);
    }
    const bool receiving = part < ways;
    const std::uint64_t distance = reach * (receiving ? part + 1 : part - ways + 1);
    if (distance >= call.size) {
        return steps::jump(StepNumber{round} * per_round + (receiving ? ways : 2 * ways));
    }
    return receiving ? steps::recv(number, call.behind(static_cast<std::uint32_t>(distance)), call.bytes)
                     : steps::send(number, call.ahead(static_cast<std::uint32_t>(distance)), call.bytes);
}

}  // namespace idlewave::collectives
