#pragma once

#include <string>
#include <vector>

#include "extrapolation/laws.hpp"
#include "extrapolation/symbolic_program.hpp"

namespace idlewave::extrapolation {

/// A size or a time and the law by which it was continued.
struct FoundLaw {
    std::string what;
    std::vector<Sample> samples = {};
    Fit fit = {};
    double continued = 0;    ///< its value on the new grid
    std::string other = {};  ///< another law that fits and gives another value there, in words; "" if there is none
};

/// What the item is, in words: "send to (+1, 0, 0)".
std::string name_of(const SymbolicProgram& program, std::uint32_t item);

/// "100 on 4, 50 on 8": the values and the numbers of ranks, with a unit behind each value.
std::string text_of(const std::vector<Sample>& samples, const std::string& unit = "");

}  // namespace idlewave::extrapolation
