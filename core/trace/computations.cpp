#include "trace/computations.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include "trace/between_calls.hpp"
#include "trace/site_cycles.hpp"

namespace idlewave::trace {
namespace {

/// The computations of one site: by thread of a rank, and the row of each.
struct SiteOnThreads {
    std::vector<std::vector<SiteComputation>> threads;
    std::vector<std::vector<std::size_t>> rows;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;  ///< in these, by rank and thread
};

/// A call in its thread.
struct CallOfThread {
    std::uint32_t thread = 0;
    std::uint64_t number = 0;
};

/// Sets the cycles of all sites and the positions of all rows. `calls`: by row.
void set_cycles(Computations& found, const std::vector<CallOfThread>& calls) {
    std::vector<SiteOnThreads> sites(found.sites.size());
    for (std::size_t row = 0; row < found.rows.size(); ++row) {
        const ComputationRow& own = found.rows[row];
        SiteOnThreads& site = sites[own.site];
        const auto [entry, is_new] = site.numbers.try_emplace({own.rank, calls[row].thread}, site.rows.size());
        if (is_new) {
            site.threads.emplace_back();
            site.rows.emplace_back();
        }
        site.threads[entry->second].push_back({calls[row].number, own.ns});
        site.rows[entry->second].push_back(row);
    }
    for (std::size_t number = 0; number < sites.size(); ++number) {
        const std::vector<SiteCycle> cycles = cycles_of(sites[number].threads);
        found.sites[number].cycle_length = cycles.front().length;
        for (std::size_t thread = 0; thread < cycles.size() && cycles.front().length > 1; ++thread) {
            for (std::size_t i = 0; i < sites[number].rows[thread].size(); ++i) {
                found.rows[sites[number].rows[thread][i]].position = cycles[thread].position(i);
            }
        }
    }
}

}  // namespace

Computations computations_of(std::span<const RankTrace> ranks, bool wall) {
    Computations found;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;  // of the sites, by id
    std::vector<CallOfThread> calls;
    for (const RankTrace& rank : ranks) {
        CallSites sites;
        BetweenCalls between(rank, wall);
        std::vector<std::uint64_t> made(rank.threads().size());  // calls, by thread
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
            calls.push_back({r.thread, ++made[r.thread]});
        });
    }
    set_cycles(found, calls);
    return found;
}

}  // namespace idlewave::trace
