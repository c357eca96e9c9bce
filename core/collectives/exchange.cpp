#include <algorithm>
#include <bit>

#include "collectives/algorithms.hpp"

/// Operations in which every rank has something for every other.
namespace idlewave {

/// Around the ring: in round i every rank hands on what it received in the round before.
Step allgather_ring(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t size = call.size;
    const std::uint64_t round = number / 3;
    if (round >= size - 1) {
        return steps::done();
    }
    const auto block = [size](std::uint64_t i) { return static_cast<std::uint32_t>(i % size); };
    const std::uint64_t out = call.rank + size - round;
    switch (number % 3) {
        case 0:
            return steps::recv(number, block(call.rank + size - 1), call.bytes_from(block(out - 1)));
        case 1:
            return steps::send(number, block(call.rank + 1), call.bytes_from(block(out)));
        default:
            return steps::join(number);
    }
}

/// In round i every rank sends all that it has, up to 2^i blocks, to the rank 2^i before it.
Step allgather_bruck(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t size = call.size;
    const std::uint64_t round = number / 3;
    if (round >= static_cast<std::uint64_t>(std::bit_width(call.size - 1))) {
        return steps::done();
    }
    const std::uint64_t distance = std::uint64_t{1} << round;
    const auto blocks_from = [&call, size, distance](std::uint64_t first) {
        const std::uint64_t count = std::min(distance, size - distance);
        if (call.recv_counts.empty()) {
            return count * call.bytes;
        }
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            sum += call.bytes_from(static_cast<std::uint32_t>((first + i) % size));
        }
        return sum;
    };
    const auto ahead = static_cast<std::uint32_t>((call.rank + distance) % size);
    const auto behind = static_cast<std::uint32_t>((call.rank + size - distance) % size);
    switch (number % 3) {
        case 0:
            return steps::recv(number, ahead, blocks_from(ahead));
        case 1:
            return steps::send(number, behind, blocks_from(call.rank));
        default:
            return steps::join(number);
    }
}

/// All receives and all sends at once, the nearest rank first.
Step alltoall_linear(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t others = call.size - 1;
    if (number >= 2 * others) {
        return number == 2 * others ? steps::join(number) : steps::done();
    }
    const std::uint64_t distance = number / 2 + 1;
    if (number % 2 == 0) {
        const auto behind = static_cast<std::uint32_t>((call.rank + call.size - distance) % call.size);
        return steps::recv(number, behind, call.bytes_from(behind));
    }
    const auto ahead = static_cast<std::uint32_t>((call.rank + distance) % call.size);
    return steps::send(number, ahead, call.bytes_to(ahead));
}

/// In round i every rank exchanges with the ranks i ahead and i behind, and waits for both.
Step alltoall_pairwise(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t distance = number / 3 + 1;
    if (distance >= call.size) {
        return steps::done();
    }
    const auto ahead = static_cast<std::uint32_t>((call.rank + distance) % call.size);
    const auto behind = static_cast<std::uint32_t>((call.rank + call.size - distance) % call.size);
    switch (number % 3) {
        case 0:
            return steps::recv(number, behind, call.bytes_from(behind));
        case 1:
            return steps::send(number, ahead, call.bytes_to(ahead));
        default:
            return steps::join(number);
    }
}

/// In round i every rank sends the rank i ahead its block of the vector, and reduces its own from the rank i behind.
/// `recv_counts` are the blocks; without them the vector of `bytes` is cut evenly.
Step reduce_scatter_pairwise(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t distance = number / 4 + 1;
    if (distance >= call.size) {
        return steps::done();
    }
    const auto block = [&call](std::uint32_t rank) {
        return call.recv_counts.empty() ? call.block(rank) : call.bytes_from(rank);
    };
    const auto ahead = static_cast<std::uint32_t>((call.rank + distance) % call.size);
    const auto behind = static_cast<std::uint32_t>((call.rank + call.size - distance) % call.size);
    switch (number % 4) {
        case 0:
            return steps::recv(number, behind, block(call.rank));
        case 1:
            return steps::send(number, ahead, block(ahead));
        case 2:
            return steps::join(number);
        default:
            return steps::reduce(call, number, block(call.rank));
    }
}

/// In round i every rank sends its partial result to the rank 2^i ahead, and adds that of the rank 2^i behind.
Step scan_recursive_doubling(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t distance = std::uint64_t{1} << std::min<std::uint64_t>(number / 4, 40);
    if (distance >= call.size) {
        return steps::done();
    }
    const bool hears = call.rank >= distance;
    const bool tells = call.rank + distance < call.size;
    switch (number % 4) {
        case 0:
            return hears ? steps::recv(number, static_cast<std::uint32_t>(call.rank - distance), call.bytes)
                         : steps::skip(number);
        case 1:
            return tells ? steps::send(number, static_cast<std::uint32_t>(call.rank + distance), call.bytes)
                         : steps::skip(number);
        case 2:
            return steps::join(number);
        default:
            return hears ? steps::reduce(call, number, call.bytes) : steps::skip(number);
    }
}

}  // namespace idlewave
