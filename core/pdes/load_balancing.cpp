#include "pdes/load_balancing.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "pdes/communication_matrix.hpp"
#include "pdes/placement.hpp"

namespace idlewave::pdes {

Placement balanced(const std::vector<std::uint64_t>& weights, std::uint32_t lps, std::uint32_t partitions) {
    const std::uint32_t size = group_size(lps, max_groups);
    const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    std::vector<std::uint32_t> partition_of;
    partition_of.reserve(weights.size());
    std::uint64_t before = 0;
    for (const std::uint64_t weight : weights) {
        // The group's middle as a share of all events.
        const double share = all == 0 ? 0 : static_cast<double>(2 * before + weight) / (2 * static_cast<double>(all));
        partition_of.push_back(std::min(partitions - 1, static_cast<std::uint32_t>(share * partitions)));
        before += weight;
    }
    return Placement::ranges(partition_of, size, lps, partitions);
}

Placement placement_of_groups(const std::vector<std::uint32_t>& partition_of, std::uint32_t lps,
                              std::uint32_t partitions) {
    if (partition_of.size() != CommunicationMatrix::groups_of(lps)) {
        throw InputError("the placement is of " + std::to_string(partition_of.size()) +
                         " groups of LPs, and there are " + std::to_string(CommunicationMatrix::groups_of(lps)));
    }
    const std::uint32_t group = group_size(lps, CommunicationMatrix::max_groups);
    std::vector<std::uint32_t> by_lp(lps);
    for (std::uint32_t lp = 0; lp < lps; ++lp) {
        by_lp[lp] = partition_of[lp / group];
    }
    return Placement::table(by_lp, partitions);
}

}  // namespace idlewave::pdes
