#include "extrapolation/found_law.hpp"

#include <cmath>

#include "collectives/algorithms.hpp"

namespace idlewave::extrapolation {

std::string name_of(const SymbolicProgram& program, std::uint32_t item) {
    const Site& site = program.sites[program.items[item].site];
    if (site.kind == Action::Kind::collective) {
        return std::string(collectives::name_of(site.collective.collective));
    }
    const bool in_series = program.items[item].role != Item::Role::none;
    return name_of(site.kind) + (is_send(site.kind) ? " to " : " from ") +
           (in_series ? "each peer of a series" : text_of(site.peers.front()));
}

std::string text_of(const std::vector<Sample>& samples, const std::string& unit) {
    std::string text;
    for (const Sample& sample : samples) {
        text += (text.empty() ? "" : ", ") + std::to_string(std::llround(sample.value)) + unit + " on " +
                std::to_string(sample.grid.ranks());
    }
    return text;
}

}  // namespace idlewave::extrapolation
