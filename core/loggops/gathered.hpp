#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/snapshot.hpp"
#include "standstill/left.hpp"

namespace idlewave {

/// What all processes of a simulation know of their ranks at its end, for the first one.
class Gathered {
  public:
    explicit Gathered(std::uint32_t partitions) : snapshot_(partitions) {}

    /// When a rank finishes, and what is left of some ranks.
    void add(std::uint32_t rank, Time finish);
    void add(const Left& left);

    /// All processes of the run call it. In the first one: what is left of all ranks, and the finish times of all
    /// `ranks`. Throws TransportError.
    Left gather(const pdes::RunConfiguration& configuration, std::uint32_t ranks, std::vector<Time>& finish);

  private:
    enum class Item : std::uint8_t { finish, pending, stuck, message, dropped };

    template <class... T>
    void put(Item item, const T&... values);

    pdes::Snapshot snapshot_;
};

}  // namespace idlewave
