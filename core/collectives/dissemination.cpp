#include "collectives/algorithms.hpp"

namespace idlewave {
namespace {

/// In round i every rank tells the one 2^i ahead and hears from the one 2^i behind.
Step exchange(const CollectiveCall& call, std::uint64_t number, std::uint32_t distance, bool receiving) {
    if (receiving) {
        const std::uint32_t behind = call.rank >= distance ? call.rank - distance : call.rank + (call.size - distance);
        return steps::recv(number, behind, call.bytes);
    }
    const std::uint32_t left = call.size - distance;
    const std::uint32_t ahead = call.rank < left ? call.rank + distance : call.rank - left;
    return steps::send_and_join(number, ahead, call.bytes);
}

/// 2^round; 0 when there are no more rounds.
std::uint32_t distance_of(const CollectiveCall& call, std::uint64_t round) {
    const std::uint64_t distance = std::uint64_t{1} << round;
    return distance < call.size ? static_cast<std::uint32_t>(distance) : 0;
}

}  // namespace

Step barrier_dissemination(const CollectiveCall& call, std::uint64_t number) {
    const std::uint32_t distance = distance_of(call, number / 2);
    return distance == 0 ? steps::done() : exchange(call, number, distance, number % 2 == 0);
}

Step allreduce_dissemination(const CollectiveCall& call, std::uint64_t number) {
    const std::uint32_t distance = distance_of(call, number / 3);
    if (distance == 0) {
        return steps::done();
    }
    return number % 3 == 2 ? steps::reduce(call, number, call.bytes)
                           : exchange(call, number, distance, number % 3 == 0);
}

}  // namespace idlewave
