#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "pdes/image.hpp"
#include "pdes/legs.hpp"

namespace idlewave {

/// What all processes of a simulation know of their ranks at its end, for the first one.
class Gathered {
  public:
    explicit Gathered(std::uint32_t partitions) : image_(partitions) {}

    /// When a rank finishes, or what one still waits for.
    void add(std::uint32_t rank, Time finish);
    void add(const Waiting& waiting);

    /// All processes of the crew call it. In the first one: what is waited for, by rank; and the finish times of all
    /// `ranks`. Throws TransportError.
    std::vector<Waiting> gather(const pdes::Crew& crew, std::uint32_t ranks, std::vector<Time>& finish);

  private:
    enum class Item : std::uint8_t { finish, waiting };

    pdes::Image image_;
};

}  // namespace idlewave
