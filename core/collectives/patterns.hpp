#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/step.hpp"

namespace idlewave::collectives {

/// A communication pattern: point-to-point messages among all ranks, as in common programs.
struct Pattern {
    std::string_view name;
    StepFunction step;
    std::uint32_t dimensions;   ///< number of dimensions of its process grid
    std::string_view sentence;  ///< its description
    std::string_view source;    ///< the program, paper or benchmark that it follows
    bool by_slab = false;       ///< whether it computes and exchanges slabs
    bool one_sided = false;     ///< whether its messages are puts
};

std::span<const Pattern> patterns();

/// The pattern with this name, or null.
const Pattern* find_pattern(std::string_view name);

/// `shape` with all dimensions chosen, for the calls of the pattern's step function. Throws InputError if the shape
/// does not fit the number of ranks, or a value is out of range.
GridShape fitted(const Pattern& pattern, const GridShape& shape, std::uint32_t ranks);

Step halo1d(const CollectiveCall& call, StepNumber number);
Step halo2d(const CollectiveCall& call, StepNumber number);
Step halo3d(const CollectiveCall& call, StepNumber number);
Step sweep(const CollectiveCall& call, StepNumber number);
Step slabs_two_sided(const CollectiveCall& call, StepNumber number);
Step slabs_nonblocking(const CollectiveCall& call, StepNumber number);
Step slabs_put(const CollectiveCall& call, StepNumber number);
Step packed_slabs_put(const CollectiveCall& call, StepNumber number);

}  // namespace idlewave::collectives
