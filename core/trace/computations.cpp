#include "trace/computations.hpp"

#include <algorithm>
#include <unordered_map>

#include "trace/between_calls.hpp"

namespace idlewave::trace {

Computations computations_of(std::span<const RankTrace> ranks, bool wall) {
    Computations found;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;  // of the sites, by id
    for (const RankTrace& rank : ranks) {
        CallSites sites;
        BetweenCalls between(rank, wall);
        rank.each([&](const TraceRecord& r) {
            const std::optional<std::int64_t> ns = between.before(r);
            if (!ns || !CallSites::has_site(r.call)) {
                return;
            }
            const CallSite& site = sites.next(r);
            const std::int64_t bytes = sites.bytes();
            const auto [entry, is_new] = numbers.try_emplace(site.id(), static_cast<std::uint32_t>(numbers.size()));
            if (is_new) {
                found.sites.push_back({site, bytes, bytes});
            }
            SiteOfTrace& own = found.sites[entry->second];
            own.least_bytes = std::min(own.least_bytes, bytes);
            own.most_bytes = std::max(own.most_bytes, bytes);
            found.rows.push_back({rank.header().rank, entry->second, *ns});
        });
    }
    return found;
}

}  // namespace idlewave::trace
