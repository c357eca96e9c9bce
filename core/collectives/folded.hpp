#pragma once

#include <bit>
#include <cstdint>

#include "collectives/step.hpp"

namespace idlewave::collectives {

/// Folding makes an algorithm for 2^m ranks work for any number P of ranks, as in MPICH (Thakur, Rabenseifner, Gropp
/// 2005): of the first 2·(P − 2^m) ranks one of each pair sends its data to the other and is excluded from the
/// algorithm. The algorithm chooses whether the even or the odd ranks are excluded.
struct Folded {
    enum class Excluded : std::uint8_t { even, odd };

    Folded(std::uint32_t its_rank, std::uint32_t size, Excluded which)
        : active(std::bit_floor(size)), surplus(size - active), rank(its_rank), odd(which == Excluded::odd) {}

    [[nodiscard]] bool paired() const { return rank < 2 * surplus; }
    [[nodiscard]] bool excluded() const { return paired() && ((rank & 1) != 0) == odd; }
    [[nodiscard]] std::uint32_t partner() const { return rank ^ 1; }
    /// The rank among the participating ranks.
    [[nodiscard]] std::uint32_t number() const { return paired() ? rank / 2 : rank - surplus; }
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t n) const {
        return n < surplus ? 2 * n + (odd ? 0 : 1) : n + surplus;
    }
    /// The first of the one or two ranks whose data participant `n` has. Consecutive participants have the data of
    /// consecutive ranks.
    [[nodiscard]] std::uint32_t begin_of(std::uint32_t n) const { return n < surplus ? 2 * n : n + surplus; }
    [[nodiscard]] std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::countr_zero(active)); }

    std::uint32_t active;   ///< number of participants: the largest power of two up to the number of ranks
    std::uint32_t surplus;  ///< number of excluded ranks
    std::uint32_t rank;
    bool odd;  ///< odd ranks are excluded
};

inline constexpr std::uint32_t fold_steps = 3;

/// The steps before the algorithm: an excluded rank sends `bytes` to `partner`, a rank of the communicator, which
/// reduces them if `reducing`.
inline Step fold(const CollectiveCall& call, const Folded& folded, StepNumber number, std::uint32_t partner,
                 std::uint64_t bytes, bool reducing) {
    if (!folded.paired()) {
        return steps::jump(fold_steps);
    }
    switch (number) {
        case 0:
            return folded.excluded() ? steps::send(number, partner, bytes) : steps::recv(number, partner, bytes);
        case 1:
            return steps::join(number);
        default:
            return reducing && !folded.excluded() ? steps::reduce(call, number, bytes) : steps::skip(number);
    }
}

/// The steps after the algorithm, from step `begin` on: an excluded rank receives the result.
inline Step unfold(const Folded& folded, StepNumber number, std::uint32_t begin, std::uint64_t bytes) {
    if (!folded.paired() || number > begin + 1) {
        return steps::done();
    }
    if (number == begin + 1) {
        return steps::join(number);
    }
    return folded.excluded() ? steps::recv(number, folded.partner(), bytes)
                             : steps::send(number, folded.partner(), bytes);
}

}  // namespace idlewave::collectives
