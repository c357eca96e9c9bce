#include "collectives/collective_uses.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace idlewave::collectives {
namespace {

/// How often a rank calls each of its collectives.
std::vector<std::uint64_t> calls_of(const RankProgram& rank) {
    std::vector<std::uint64_t> calls(rank.collectives.size());
    if (calls.empty()) {
        return calls;
    }
    rank.instructions.each([&calls](const Instruction& instruction) {
        if (instruction.kind == Instruction::Kind::collective) {
            ++calls[instruction.begin];
        }
    });
    return calls;
}

std::string_view name_of_steps(const CollectiveSite& site) {
    const auto found = std::ranges::find_if(algorithms(), [&site](const Algorithm& algorithm) {
        return algorithm.collective == site.collective && algorithm.step == site.step;
    });
    return found == algorithms().end() ? "other" : found->name;
}

std::string_view algorithm_of(const Program& program, const CollectiveSite& site, std::uint32_t members) {
    return site.rules_used == UseOfRules::algorithm_and_costs
               ? program.rules.find(site.collective, members, site.bytes)->algorithm->name
               : name_of_steps(site);
}

}  // namespace

std::vector<CollectiveUse> collective_uses(const Program& program, std::uint32_t copies) {
    std::map<std::pair<Collective, std::string_view>, std::uint64_t> found;
    if (program.structure) {
        return {};
    }
    for (const RankProgram& rank : program.ranks) {
        const std::vector<std::uint64_t> calls = calls_of(rank);
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const CollectiveSite& site = rank.collectives[i];
            const auto members = static_cast<std::uint32_t>(program.communicators[site.communicator].size());
            const bool spans_copies = members == ranks_of(program);
            const std::uint32_t size = spans_copies ? members * copies : members;
            if (calls[i] > 0 && site.rank == 0 && size > 1) {
                found[{site.collective, algorithm_of(program, site, size)}] += calls[i] * (spans_copies ? 1 : copies);
            }
        }
    }
    std::vector<CollectiveUse> uses;
    uses.reserve(found.size());
    for (const auto& [key, calls] : found) {
        uses.push_back({key.first, key.second, calls});
    }
    std::ranges::stable_sort(uses, [](const CollectiveUse& a, const CollectiveUse& b) {
        return std::tuple(a.collective, b.calls) < std::tuple(b.collective, a.calls);
    });
    return uses;
}

}  // namespace idlewave::collectives
