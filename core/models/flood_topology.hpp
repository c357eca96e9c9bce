#pragma once

#include <cstdint>
#include <vector>

namespace idlewave {

/// The part of an internet that leads to one victim. LP 0 is the victim, the next ones are routers, the first of which
/// the victim hangs on, and the others hosts.
///
/// A router is connected to an earlier one, to any with a probability proportional to how many connections it has
/// (A.-L. Barabási, R. Albert: Emergence of scaling in random networks, Science 286, 1999): a share 4 / k (k + 1) (k +
/// 2) of them has k connections, a power law as of the internet's (M., P. and C. Faloutsos: On power-law relationships
/// of the internet topology, SIGCOMM 1999). Every host hangs on any router.
class FloodTopology {
  public:
    static constexpr std::uint32_t victim = 0;

    /// `routers` > 0, and all in all less than 2^32 LPs.
    FloodTopology(std::uint32_t routers, std::uint32_t hosts, std::uint64_t seed);

    [[nodiscard]] std::uint32_t lps() const { return static_cast<std::uint32_t>(next_hop_.size()); }
    [[nodiscard]] bool is_router(std::uint32_t lp) const { return lp != victim && lp < first_host(); }
    [[nodiscard]] bool is_host(std::uint32_t lp) const { return lp >= first_host(); }
    [[nodiscard]] std::uint32_t first_host() const { return static_cast<std::uint32_t>(hosts_behind_.size()); }

    /// Where an LP other than the victim sends what is meant for the victim: to an earlier LP.
    [[nodiscard]] std::uint32_t next_hop(std::uint32_t lp) const { return next_hop_[lp]; }

    /// Of the victim or a router: how many hosts' packets pass it.
    [[nodiscard]] std::uint32_t hosts_behind(std::uint32_t lp) const { return hosts_behind_[lp]; }

  private:
    std::vector<std::uint32_t> next_hop_;
    std::vector<std::uint32_t> hosts_behind_;
};

}  // namespace idlewave
