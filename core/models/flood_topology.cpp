#include "models/flood_topology.hpp"

#include "base/random.hpp"

namespace idlewave::models {
namespace {

/// The entity of the topology's random draws. Numbers of LPs have 32 bits, so no LP draws from this entity.
constexpr std::uint64_t topology_entity = std::uint64_t{1} << 32;

constexpr std::uint32_t first_router = FloodTopology::victim + 1;

}  // namespace

FloodTopology::FloodTopology(std::uint32_t routers, std::uint32_t hosts, std::uint64_t seed)
    : next_hop_(std::size_t{first_router} + routers + hosts), hosts_behind_(std::size_t{first_router} + routers) {
    next_hop_[first_router] = victim;
    const auto draws_of = [&](std::uint32_t lp) { return draws(seed, Stream::model, topology_entity, lp); };
    for (std::uint32_t lp = first_router + 1; lp < first_host(); ++lp) {
        // Preferential attachment: a random end of a random connection. Each router but the first one has made one
        // connection, to an earlier router.
        const Philox bits = draws_of(lp);
        const std::uint32_t connections = lp - first_router - 1;
        if (connections == 0) {
            next_hop_[lp] = first_router;
            continue;
        }
        const auto router = first_router + 1 + static_cast<std::uint32_t>(below(connections, bits[0]));
        next_hop_[lp] = below(2, bits[1]) == 0 ? router : next_hop_[router];
    }
    for (std::uint32_t lp = first_host(); lp < lps(); ++lp) {
        next_hop_[lp] = first_router + static_cast<std::uint32_t>(below(routers, draws_of(lp)[0]));
        ++hosts_behind_[next_hop_[lp]];
    }
    for (std::uint32_t lp = first_host() - 1; lp >= first_router; --lp) {
        hosts_behind_[next_hop_[lp]] += hosts_behind_[lp];
    }
}

}  // namespace idlewave::models
