#include "collectives/algorithms.hpp"
#include "collectives/counts.hpp"

/// Operations in which every rank deals with every other one itself.
namespace idlewave::collectives {

/// All receives and all sends at once, by increasing distance.
Step alltoall_linear(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t others = call.size - 1;
    const std::uint32_t distance = static_cast<std::uint32_t>(number) / 2 + 1;
    if (distance > others) {
        return distance == others + 1 && number % 2 == 0 ? steps::join(number) : steps::done();
    }
    if (number % 2 == 0) {
        const std::uint32_t behind = call.behind(distance);
        return steps::recv(number, behind, call.bytes_from(behind));
    }
    const std::uint32_t ahead = call.ahead(distance);
    return steps::send(number, ahead, call.bytes_to(ahead));
}

/// In round i every rank sends to the rank i ahead, receives from the rank i behind, and waits for both.
Step alltoall_pairwise(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t distance = (number >> 1) + 1;
    if (distance >= call.size) {
        return steps::done();
    }
    const std::uint32_t behind = call.behind(distance);
    const std::uint32_t ahead = call.ahead(distance);
    const auto in = [&] { return steps::Transfer{behind, call.bytes_from(behind)}; };
    const auto out = [&] { return steps::Transfer{ahead, call.bytes_to(ahead)}; };
    return steps::exchange(number, (number & 1) != 0, in, out);
}

/// In round i every rank sends to the rank i ahead that rank's block of the vector, and receives its own block from the
/// rank i behind and reduces it. `recv_counts` are the sizes of the blocks; without them the vector of `bytes` is cut
/// evenly.
Step reduce_scatter_pairwise(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t distance = static_cast<std::uint32_t>(number) / 4 + 1;
    if (distance >= call.size) {
        return steps::done();
    }
    const Counts counts = Counts::of_vector(call, call.recv_counts);
    switch (number % 4) {
        case 0:
            return steps::recv(number, call.behind(distance), counts[call.rank]);
        case 1: {
            const std::uint32_t ahead = call.ahead(distance);
            return steps::send(number, ahead, counts[ahead]);
        }
        case 2:
            return steps::join(number);
        default:
            return steps::reduce(call, number, counts[call.rank]);
    }
}

}  // namespace idlewave::collectives
