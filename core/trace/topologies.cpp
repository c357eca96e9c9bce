#include "trace/topologies.hpp"

#include <cstddef>
#include <span>
#include <string>

#include "base/error.hpp"

namespace idlewave::trace {

void Topologies::add(const RankTrace& rank, const TraceRecord& record) {
    constexpr auto unknown_communicator = ~std::uint64_t{0};  // several may have this id
    if (record.words[0] == unknown_communicator) {
        return;
    }
    if (record.call == Call::cart) {
        add_grid(rank, record);
    } else {
        add_neighbors(rank, record);
    }
}

void Topologies::add_grid(const RankTrace& rank, const TraceRecord& record) {
    const std::uint64_t dimensions = record.words[1];
    if (record.words.size() - 2 != dimensions) {
        throw InputError(rank.name() + ": a grid of " + std::to_string(dimensions) + " dimensions lists " +
                         std::to_string(record.words.size() - 2) + " extents");
    }
    std::vector<Dimension> grid;
    std::int64_t ranks = 1;
    for (std::size_t i = 2; i < record.words.size(); ++i) {
        const Pair extent = record.pair(i);
        ranks *= extent.first;
        if (extent.first < 1 || ranks > rank.header().ranks) {
            throw InputError(rank.name() + ": expected a grid of 1 to " + std::to_string(rank.header().ranks) +
                             " ranks, found an extent of " + std::to_string(extent.first));
        }
        grid.push_back({extent.first, extent.second != 0});
    }
    grids_[record.words[0]] = std::move(grid);
}

void Topologies::add_neighbors(const RankTrace& rank, const TraceRecord& record) {
    const Pair degrees = record.pair(1);
    const auto listed = std::int64_t{degrees.first} + degrees.second;
    if (degrees.first < 0 || degrees.second < 0 ||
        record.words.size() - 2 != (static_cast<std::uint64_t>(listed) + 1) / 2) {
        throw InputError(rank.name() + ": " + std::to_string(degrees.first) + " and " + std::to_string(degrees.second) +
                         " neighbours are listed in " + std::to_string(record.words.size() - 2) + " words");
    }
    Neighborhood found;
    for (const std::int32_t neighbor : record.listed(2, static_cast<std::size_t>(listed))) {
        const bool source = found.sources.size() < static_cast<std::size_t>(degrees.first);
        (source ? found.sources : found.destinations).push_back({neighbor, 0});
    }
    neighborhoods_[{record.words[0], rank.header().rank}] = std::move(found);
}

const Neighborhood* Topologies::find(std::uint64_t id, std::uint32_t world_rank, std::uint32_t rank) {
    if (const auto found = neighborhoods_.find({id, world_rank}); found != neighborhoods_.end()) {
        return &found->second;
    }
    const auto grid = grids_.find(id);
    if (grid == grids_.end()) {
        return nullptr;
    }
    // The last dimension varies fastest. What goes down along a dimension is received from above.
    Neighborhood made;
    std::int64_t below = 1;  // ranks of a step along the dimension
    std::vector<std::int64_t> steps(grid->second.size());
    for (std::size_t d = grid->second.size(); d-- > 0;) {
        steps[d] = below;
        below *= grid->second[d].extent;
    }
    for (std::size_t d = 0; d < steps.size(); ++d) {
        const auto [extent, periodic] = grid->second[d];
        const std::int64_t at = rank / steps[d] % extent;
        const auto shifted = [&](std::int64_t by) {
            const bool inside = at + by >= 0 && at + by < extent;
            const std::int64_t to = (at + by + extent) % extent;
            return inside || periodic ? static_cast<std::int32_t>(rank + (to - at) * steps[d]) : proc_null;
        };
        const auto down = static_cast<std::int32_t>(2 * d);
        made.sources.push_back({shifted(-1), down + 1});
        made.sources.push_back({shifted(1), down});
        made.destinations.push_back({shifted(-1), down});
        made.destinations.push_back({shifted(1), down + 1});
    }
    return &neighborhoods_.emplace(std::pair(id, world_rank), std::move(made)).first->second;
}

}  // namespace idlewave::trace
