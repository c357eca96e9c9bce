#include <bit>

#include "collectives/algorithms.hpp"

namespace idlewave {
namespace {

/// In round i every rank tells the one 2^i ahead and hears from the one 2^i behind.
Step disseminate(const CollectiveCall& call, std::uint64_t number, bool reducing) {
    const std::uint64_t round = number / 4;
    if (round >= static_cast<std::uint64_t>(std::bit_width(call.size - 1))) {
        return steps::done();
    }
    const std::uint64_t distance = std::uint64_t{1} << round;
    const auto ahead = static_cast<std::uint32_t>((call.rank + distance) % call.size);
    const auto behind = static_cast<std::uint32_t>((call.rank + call.size - distance) % call.size);
    switch (number % 4) {
        case 0:
            return steps::recv(number, behind, call.bytes);
        case 1:
            return steps::send(number, ahead, call.bytes);
        case 2:
            return steps::join(number);
        default:
            return reducing ? steps::reduce(call, number, call.bytes) : steps::skip(number);
    }
}

}  // namespace

Step barrier_dissemination(const CollectiveCall& call, std::uint64_t number) {
    return disseminate(call, number, false);
}

Step allreduce_dissemination(const CollectiveCall& call, std::uint64_t number) {
    return disseminate(call, number, true);
}

}  // namespace idlewave
