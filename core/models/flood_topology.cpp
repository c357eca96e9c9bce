#include "models/flood_topology.hpp"

#include "base/random.hpp"

namespace idlewave {
namespace {

/// What a draw of the topology is for. LPs have numbers of 32 bits: what they draw never meets this entity.
constexpr std::uint64_t topology_entity = std::uint64_t{1} << 32;

constexpr std::uint32_t first_router = FloodTopology::victim + 1;

}  // namespace

FloodTopology::FloodTopology(std::uint32_t routers, std::uint32_t hosts, std::uint64_t seed)
    : next_hop_(std::size_t{first_router} + routers + hosts), hosts_behind_(std::size_t{first_router} + routers) {
    next_hop_[first_router] = victim;
    const auto draws_of = [&](std::uint32_t lp) { return draws(seed, Stream::model, topology_entity, lp); };
    for (std::uint32_t lp = first_router + 1; lp < first_host(); ++lp) {
        // One end of a connection that is chosen among all there are: of that which any router but the first has made.
        const Philox bits = draws_of(lp);
        const std::uint32_t made = lp - first_router - 1;
        if (made == 0) {
            next_hop_[lp] = first_router;
            continue;
        }
        const auto maker = first_router + 1 + static_cast<std::uint32_t>(below(made, bits[0]));
        next_hop_[lp] = below(2, bits[1]) == 0 ? maker : next_hop_[maker];
    }
    for (std::uint32_t lp = first_host(); lp < lps(); ++lp) {
        next_hop_[lp] = first_router + static_cast<std::uint32_t>(below(routers, draws_of(lp)[0]));
        ++hosts_behind_[next_hop_[lp]];
    }
    for (std::uint32_t lp = first_host() - 1; lp >= first_router; --lp) {
        hosts_behind_[next_hop_[lp]] += hosts_behind_[lp];
    }
}

}  // namespace idlewave
