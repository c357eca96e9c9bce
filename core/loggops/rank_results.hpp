#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/snapshot.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave {

/// The results of all ranks of a simulation. Each process adds those of its own ranks; the first process gathers all.
class RankResults {
  public:
    explicit RankResults(std::uint32_t partitions) : snapshot_(partitions) {}

    /// Adds the finish time of a rank, or the unfinished ops and messages of some ranks.
    void add(std::uint32_t rank, Time finish);
    void add(const Unfinished& unfinished);

    /// A collective call of all processes of the run. The first process gets the finish times of all `ranks`, and
    /// everything that is unfinished; the others get nothing. Throws TransportError.
    Unfinished gather(const pdes::RunConfiguration& configuration, std::uint32_t ranks, std::vector<Time>& finish);

  private:
    enum class Item : std::uint8_t { finish, pending, stuck, message, dropped };

    template <class... T>
    void put(Item item, const T&... values);

    pdes::Snapshot snapshot_;
};

}  // namespace idlewave
