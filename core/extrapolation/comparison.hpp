#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "extrapolation/symbolic_program.hpp"
#include "extrapolation/traced_run.hpp"

namespace idlewave::extrapolation {

/// The bytes of a message; of a collective also the counts of its v-variant.
using Sizes = std::array<std::uint64_t, 3>;

/// What a run of a program has for each of its items.
struct Measured {
    struct Of {
        Sizes least{};  ///< of all ranks
        Sizes most{};
        std::array<double, 3> sums{};
        std::uint32_t ranks = 0;  ///< that make the call
        bool is_first = false;    ///< call of a rank: what is before it is the start of the program
        double ns = 0;            ///< computation before it, of all these ranks

        [[nodiscard]] double mean(std::size_t which) const { return sums[which] / ranks; }
        /// By how much ranks differ, relative to their mean.
        [[nodiscard]] double spread(std::size_t which) const {
            return most[which] == least[which] ? 0 : static_cast<double>(most[which] - least[which]) / mean(which);
        }
    };

    ProcessGrid grid;
    std::vector<Of> items;
};

/// Where a run is not what a program says.
struct Difference {
    std::string what;
    std::optional<std::uint32_t> site = {};  ///< whose message has another peer
    std::uint32_t call = 0;                  ///< number of the rank's call
};

/// Compares a run with a program, call by call: kinds, peers, tags, communicators, and what waits wait for. Returns the
/// first difference, or none if the run is one of the program: `measured` has what it has then.
std::optional<Difference> compare(const SymbolicProgram& program, const RunOnGrid& run, Measured& measured);

}  // namespace idlewave::extrapolation
