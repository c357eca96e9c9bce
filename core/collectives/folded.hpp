#pragma once

#include <bit>
#include <cstdint>

#include "collectives/step.hpp"

namespace idlewave {

/// Makes an algorithm for a power of two of ranks work for any number, as MPICH does (Thakur, Rabenseifner, Gropp
/// 2005): of the first 2·(P − 2^m) ranks one of each pair gives what it has to the other, and stands aside. Which one
/// is the algorithm's choice: those of even rank, or those of odd.
struct Folded {
    enum class Aside : std::uint8_t { even, odd };

    Folded(std::uint32_t its_rank, std::uint32_t size, Aside which)
        : active(std::bit_floor(size)), surplus(size - active), rank(its_rank), odd(which == Aside::odd) {}

    [[nodiscard]] bool paired() const { return rank < 2 * surplus; }
    [[nodiscard]] bool aside() const { return paired() && ((rank & 1) != 0) == odd; }
    [[nodiscard]] std::uint32_t partner() const { return rank ^ 1; }
    /// Among those that take part.
    [[nodiscard]] std::uint32_t number() const { return paired() ? rank / 2 : rank - surplus; }
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t n) const {
        return n < surplus ? 2 * n + (odd ? 0 : 1) : n + surplus;
    }
    /// The first of the ranks that `n` stands for: what n and those after it stand for are ranges of ranks.
    [[nodiscard]] std::uint32_t begin_of(std::uint32_t n) const { return n < surplus ? 2 * n : n + surplus; }
    [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::countr_zero(active)); }

    std::uint32_t active;   ///< the largest power of two that is no more than the ranks
    std::uint32_t surplus;  ///< ranks beyond it
    std::uint32_t rank;
    bool odd;  ///< those of odd rank stand aside
};

inline constexpr std::uint32_t fold_steps = 3;

/// Before: `partner` is a rank of the communicator, `bytes` what is given to it, and what a reduction then costs.
inline Step fold(const CollectiveCall& call, const Folded& folded, StepNumber number, std::uint32_t partner,
                 std::uint64_t bytes, bool reducing) {
    if (!folded.paired()) {
        return steps::jump(fold_steps);
    }
    switch (number) {
        case 0:
            return folded.aside() ? steps::send(number, partner, bytes) : steps::recv(number, partner, bytes);
        case 1:
            return steps::join(number);
        default:
            return reducing && !folded.aside() ? steps::reduce(call, number, bytes) : steps::skip(number);
    }
}

/// After, from step `begin` on: who stood aside is told the result.
inline Step unfold(const Folded& folded, StepNumber number, std::uint32_t begin, std::uint64_t bytes) {
    if (!folded.paired() || number > begin + 1) {
        return steps::done();
    }
    if (number == begin + 1) {
        return steps::join(number);
    }
    return folded.aside() ? steps::recv(number, folded.partner(), bytes) : steps::send(number, folded.partner(), bytes);
}

}  // namespace idlewave
