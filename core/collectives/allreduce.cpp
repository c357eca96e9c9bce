#include <bit>

#include "collectives/algorithms.hpp"

namespace idlewave {
namespace {

/// Algorithms for a power of two of ranks, made to work for any number as MPICH does: of the first 2·(P − 2^m) ranks
/// the even ones give their vector to their odd neighbour, stand aside, and are told the result in the end.
struct Folded {
    explicit Folded(const CollectiveCall& call)
        : active(std::bit_floor(call.size)), surplus(call.size - active), rank(call.rank) {}

    [[nodiscard]] bool paired() const { return rank < 2 * surplus; }
    [[nodiscard]] bool aside() const { return paired() && rank % 2 == 0; }
    [[nodiscard]] std::uint32_t number() const { return paired() ? rank / 2 : rank - surplus; }
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t n) const { return n < surplus ? 2 * n + 1 : n + surplus; }
    [[nodiscard]] unsigned rounds() const { return static_cast<unsigned>(std::bit_width(active) - 1); }

    std::uint32_t active;   ///< the largest power of two that is no more than the ranks
    std::uint32_t surplus;  ///< ranks beyond it
    std::uint32_t rank;
};

constexpr std::uint64_t fold_steps = 3;

Step fold(const CollectiveCall& call, const Folded& folded, std::uint64_t number) {
    if (!folded.paired()) {
        return steps::skip(number);
    }
    switch (number) {
        case 0:
            return folded.aside() ? steps::send(number, call.rank + 1, call.bytes)
                                  : steps::recv(number, call.rank - 1, call.bytes);
        case 1:
            return steps::join(number);
        default:
            return folded.aside() ? steps::skip(number) : steps::reduce(call, number, call.bytes);
    }
}

Step unfold(const CollectiveCall& call, const Folded& folded, std::uint64_t number, std::uint64_t begin) {
    if (!folded.paired() || number > begin + 1) {
        return steps::done();
    }
    if (number == begin + 1) {
        return steps::join(number);
    }
    return folded.aside() ? steps::recv(number, call.rank + 1, call.bytes)
                          : steps::send(number, call.rank - 1, call.bytes);
}

/// Receive, send, join, reduce: one exchange of `bytes` with `peer`.
Step exchange(const CollectiveCall& call, std::uint64_t number, std::uint64_t part, std::uint32_t peer,
              std::uint64_t bytes, bool reducing) {
    switch (part) {
        case 0:
            return steps::recv(number, peer, bytes);
        case 1:
            return steps::send(number, peer, bytes);
        case 2:
            return steps::join(number);
        default:
            return reducing ? steps::reduce(call, number, bytes) : steps::skip(number);
    }
}

}  // namespace

Step allreduce_recursive_doubling(const CollectiveCall& call, std::uint64_t number) {
    const Folded folded(call);
    if (number < fold_steps) {
        return fold(call, folded, number);
    }
    const std::uint64_t end = fold_steps + 4 * std::uint64_t{folded.rounds()};
    if (number >= end) {
        return unfold(call, folded, number, end);
    }
    if (folded.aside()) {
        return steps::jump(end);
    }
    const std::uint64_t i = number - fold_steps;
    const std::uint32_t peer = folded.rank_of(folded.number() ^ (std::uint32_t{1} << (i / 4)));
    return exchange(call, number, i % 4, peer, call.bytes, true);
}

/// Reduce-scatter by recursive halving, then allgather by recursive doubling.
Step allreduce_rabenseifner(const CollectiveCall& call, std::uint64_t number) {
    const Folded folded(call);
    if (number < fold_steps) {
        return fold(call, folded, number);
    }
    const std::uint64_t rounds = folded.rounds();
    const std::uint64_t end = fold_steps + 8 * rounds;
    if (number >= end) {
        return unfold(call, folded, number, end);
    }
    if (folded.aside()) {
        return steps::jump(end);
    }
    const std::uint64_t i = number - fold_steps;
    const bool halving = i / 4 < rounds;
    const std::uint64_t halvings = halving ? i / 4 + 1 : 2 * rounds - i / 4;  // the part's size is bytes / 2^halvings
    const std::uint32_t peer = folded.rank_of(folded.number() ^ (folded.active >> halvings));
    return exchange(call, number, i % 4, peer, call.bytes >> halvings, halving);
}

/// Reduce-scatter around the ring, then allgather around the ring, block by block.
Step allreduce_ring(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t size = call.size;
    const std::uint64_t round = number / 4;
    if (round >= 2 * (size - 1)) {
        return steps::done();
    }
    const bool reducing = round < size - 1;
    const std::uint64_t out = reducing ? call.rank + size - round : call.rank + 2 * size - round;
    const auto next = static_cast<std::uint32_t>((call.rank + 1) % size);
    const auto previous = static_cast<std::uint32_t>((call.rank + size - 1) % size);
    switch (number % 4) {
        case 0:
            return steps::recv(number, previous, call.block(out - 1));
        case 1:
            return steps::send(number, next, call.block(out));
        case 2:
            return steps::join(number);
        default:
            return reducing ? steps::reduce(call, number, call.block(out - 1)) : steps::skip(number);
    }
}

Step allreduce_reduce_bcast(const CollectiveCall& call, std::uint64_t number) {
    return steps::one_after_the_other(reduce_binomial, bcast_binomial, call, number);
}

}  // namespace idlewave
