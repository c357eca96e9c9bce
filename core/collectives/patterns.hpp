#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/step.hpp"

namespace idlewave {

/// Communication of all ranks that is no collective of MPI, but what programs do with point-to-point messages.
struct Pattern {
    std::string_view name;
    StepFunction step;
    std::uint32_t dimensions;   ///< of its process grid
    std::string_view sentence;  ///< what it does
    std::string_view source;    ///< the program, paper or benchmark that it follows
};

std::span<const Pattern> patterns();

/// The pattern of this name, or none.
const Pattern* find_pattern(std::string_view name);

/// `shape` with the dimensions chosen that it leaves open: what a pattern's steps should be called with. Throws
/// InputError where the shape does not fit the ranks or has numbers beyond what its fields allow.
GridShape fitted(const Pattern& pattern, const GridShape& shape, std::uint32_t ranks);

Step halo1d(const CollectiveCall& call, StepNumber number);
Step halo2d(const CollectiveCall& call, StepNumber number);
Step halo3d(const CollectiveCall& call, StepNumber number);
Step sweep(const CollectiveCall& call, StepNumber number);

}  // namespace idlewave
