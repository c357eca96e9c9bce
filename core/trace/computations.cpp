#include "trace/computations.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "trace/between_calls.hpp"
#include "trace/site_cycles.hpp"

namespace idlewave::trace {
namespace {

/// The computations of one site: by rank, and the row of each.
struct SiteOnRanks {
    std::vector<std::vector<SiteComputation>> ranks;
    std::vector<std::vector<std::size_t>> rows;
};

/// Sets the cycles of all sites and the positions of all rows. `calls`: by row, the number of the call on its rank.
void set_cycles(Computations& found, const std::vector<std::uint64_t>& calls) {
    std::vector<SiteOnRanks> sites(found.sites.size());
    for (std::size_t row = 0; row < found.rows.size(); ++row) {
        const ComputationRow& own = found.rows[row];
        SiteOnRanks& site = sites[own.site];
        if (site.rows.empty() || found.rows[site.rows.back().back()].rank != own.rank) {
            site.ranks.emplace_back();
            site.rows.emplace_back();
        }
        site.ranks.back().push_back({calls[row], own.ns});
        site.rows.back().push_back(row);
    }
    for (std::size_t number = 0; number < sites.size(); ++number) {
        const std::vector<SiteCycle> cycles = cycles_of(sites[number].ranks);
        found.sites[number].cycle_length = cycles.front().length;
        for (std::size_t rank = 0; rank < cycles.size() && cycles.front().length > 1; ++rank) {
            for (std::size_t i = 0; i < sites[number].rows[rank].size(); ++i) {
                found.rows[sites[number].rows[rank][i]].position = cycles[rank].position(i);
            }
        }
    }
}

}  // namespace

Computations computations_of(std::span<const RankTrace> ranks, bool wall) {
    Computations found;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;  // of the sites, by id
    std::vector<std::uint64_t> calls;
    for (const RankTrace& rank : ranks) {
        CallSites sites;
        BetweenCalls between(rank, wall);
        std::uint64_t call = 0;
        rank.each([&](const TraceRecord& r) {
            const std::optional<std::int64_t> ns = between.before(r);
            if (!ns || !CallSites::has_site(r.call)) {
                return;
            }
            const CallSite& site = sites.next(r);
            const std::int64_t bytes = sites.bytes();
            const auto [entry, is_new] = numbers.try_emplace(site.id(), static_cast<std::uint32_t>(numbers.size()));
            if (is_new) {
                found.sites.push_back({.site = site, .least_bytes = bytes, .most_bytes = bytes});
            }
            SiteOfTrace& own = found.sites[entry->second];
            own.least_bytes = std::min(own.least_bytes, bytes);
            own.most_bytes = std::max(own.most_bytes, bytes);
            found.rows.push_back({.rank = rank.header().rank, .site = entry->second, .ns = *ns});
            calls.push_back(++call);
        });
    }
    set_cycles(found, calls);
    return found;
}

}  // namespace idlewave::trace
