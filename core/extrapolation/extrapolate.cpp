#include "extrapolation/extrapolate.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "extrapolation/computation.hpp"
#include "extrapolation/continued_program.hpp"
#include "extrapolation/sizes.hpp"
#include "extrapolation/structure_search.hpp"

namespace idlewave::extrapolation {
namespace {

ProcessGrid grid_for(const FoundStructure& found, const ExtrapolationOptions& options) {
    if (options.grid) {
        if (options.grid->ranks() != options.ranks) {
            throw InputError("expected a grid of " + std::to_string(options.ranks) + " ranks, found one of " +
                             std::to_string(options.grid->ranks()));
        }
        return *options.grid;
    }
    const std::optional<ProcessGrid> grid = continued_grid(found.runs, options.ranks);
    if (!grid) {
        throw InputError("the grids of the traced runs do not show that of " + std::to_string(options.ranks) +
                         " ranks: give it (dims)");
    }
    return *grid;
}

/// Throws an InputError if the grid has no such series, or some rank of a program in which all do the same has no peer.
void check_grid(const FoundStructure& found, const ProcessGrid& grid) {
    for (const Series& series : found.program.series) {
        if (!series.iterations_on(grid)) {
            throw InputError("expected a power of 2 of ranks along dimension " + std::to_string(series.dimension) +
                             " of the grid, found " + std::to_string(grid.extents[series.dimension]));
        }
    }
    for (const Site& site : found.program.sites) {
        const CollectiveRule& rule = site.collective;
        if (site.kind == Action::Kind::collective && rule.root >= rule.communicator.size(grid)) {
            throw InputError("a collective has the root " + std::to_string(rule.root) + ", and its communicator " +
                             std::to_string(rule.communicator.size(grid)) + " ranks on the new grid");
        }
    }
    std::set<PeerRule> rules;
    for (const Item& item : found.program.items) {
        if (!found.neighbours && item.role == Item::Role::none && is_message(item.kind)) {
            rules.insert(found.program.sites[item.site].peers.front());
        }
    }
    for (const PeerRule& rule : rules) {
        for (std::uint32_t rank = 0; rule.kind != PeerRule::Kind::any && rank < grid.ranks(); ++rank) {
            if (!peer_of(rule, grid, rank)) {
                throw InputError("all ranks exchange messages with " + text_of(rule) + ", and rank " +
                                 std::to_string(rank) + " has no such peer on the grid of " +
                                 std::to_string(grid.ranks()) + " ranks");
            }
        }
    }
}

std::vector<std::string> texts_of_peers(const SymbolicProgram& program) {
    std::set<std::string> texts;
    for (const Item& item : program.items) {
        if (is_send(item.kind)) {
            texts.insert(item.role == Item::Role::none ? text_of(program.sites[item.site].peers.front())
                                                       : "a series of peers");
        }
    }
    return {texts.begin(), texts.end()};
}

}  // namespace

Extrapolation extrapolate(std::span<const collectives::Program* const> runs, const ExtrapolationOptions& options) {
    std::vector<TracedRun> traced;
    traced.reserve(runs.size());
    for (const collectives::Program* run : runs) {
        if (run->structure) {
            throw InputError("a program that was continued on more ranks cannot be continued again: use its traces");
        }
        traced.emplace_back(*run);
    }
    constexpr std::uint32_t most = 1U << 31;  // distances between ranks are signed numbers
    if (options.ranks >= most) {
        throw InputError("expected at most 2147483647 ranks, found " + std::to_string(options.ranks));
    }
    std::ranges::sort(traced, {}, &TracedRun::ranks);
    for (std::size_t i = 1; i < traced.size(); ++i) {
        if (traced[i].ranks() == traced[i - 1].ranks()) {
            throw InputError("expected runs with different numbers of ranks, found two with " +
                             std::to_string(traced[i].ranks()));
        }
    }
    const FoundStructure found = find_structure(traced);
    const ProcessGrid grid = grid_for(found, options);
    check_grid(found, grid);
    ContinuedSizes sizes(found, grid);
    ContinuedComputation computation{.factors = std::vector<double>(found.program.items.size(), 1), .laws = {}};
    if (options.fitted_times && traced.size() > 1) {
        computation = continue_computation(found, traced, grid);
    }
    const Continued continued{.sizes = [&](const PlannedCall& call) { return sizes.of(call); },
                              .time_factor = [&](std::uint32_t item) { return computation.factors[item]; }};
    const RunOnGrid largest(traced.back(), found.runs.back().grid);
    Extrapolation result{
        .program = continued_program(found.program, largest, found.runs.back(), grid, continued),
        .traced = {},
        .neighbours = found.neighbours,
        .peers = texts_of_peers(found.program),
        .sizes = sizes.laws(),
        .times = std::move(computation.laws),
        .one_sided_dimensions = found.program.one_sided_dimensions,
        .other_structure = found.other_structure,
    };
    for (const Measured& run : found.runs) {
        result.traced.push_back(run.grid);
    }
    const collectives::Program& last = traced.back().program();
    result.program.wildcard_receives = last.wildcard_receives;
    result.program.unknown_receives = last.unknown_receives;
    result.program.one_sided = last.one_sided;
    result.program.files = last.files;
    result.program.calls = last.calls;
    result.program.calls_left_out = last.calls_left_out;
    return result;
}

}  // namespace idlewave::extrapolation
