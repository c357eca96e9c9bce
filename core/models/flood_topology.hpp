#pragma once

#include <cstdint>
#include <vector>

namespace idlewave::models {

/// The tree of an internet whose root is the victim. LP 0 is the victim, the next LPs are routers, and the others are
/// hosts. The victim is connected to the first router, and each host to a random router.
///
/// Each router is connected to an earlier one, chosen with a probability proportional to its number of connections
/// (A.-L. Barabási, R. Albert: Emergence of scaling in random networks, Science 286, 1999). A share
/// 4 / k (k + 1) (k + 2) of the routers then has k connections: a power law, like that of the internet (M., P. and
/// C. Faloutsos: On power-law relationships of the internet topology, SIGCOMM 1999).
class FloodTopology {
  public:
    static constexpr std::uint32_t victim = 0;

    /// `routers` > 0; the LPs are fewer than 2^32.
    FloodTopology(std::uint32_t routers, std::uint32_t hosts, std::uint64_t seed);

    [[nodiscard]] std::uint32_t lps() const { return static_cast<std::uint32_t>(next_hop_.size()); }
    [[nodiscard]] bool is_router(std::uint32_t lp) const { return lp != victim && lp < first_host(); }
    [[nodiscard]] bool is_host(std::uint32_t lp) const { return lp >= first_host(); }
    [[nodiscard]] std::uint32_t first_host() const { return static_cast<std::uint32_t>(hosts_behind_.size()); }

    /// The next LP on the way from a router or host to the victim: an LP with a smaller number.
    [[nodiscard]] std::uint32_t next_hop(std::uint32_t lp) const { return next_hop_[lp]; }

    /// Number of hosts whose packets pass the victim or a router.
    [[nodiscard]] std::uint32_t hosts_behind(std::uint32_t lp) const { return hosts_behind_[lp]; }

  private:
    std::vector<std::uint32_t> next_hop_;
    std::vector<std::uint32_t> hosts_behind_;
};

}  // namespace idlewave::models
