#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "collectives/program.hpp"

namespace idlewave::trace {

/// Schedules have no communicators, only sources and tags. Tags of communicators other than MPI_COMM_WORLD are
/// therefore mapped to unused tags, which are the same for all ranks.
class Tags {
  public:
    /// Messages of different spaces never match.
    enum class Space : std::uint8_t { messages, partitioned, neighborhoods };

    /// The schedule's tag for messages with `tag` on the communicator with this index; `world`: on MPI_COMM_WORLD.
    std::uint32_t message(std::uint32_t communicator, std::uint32_t tag, bool world, Space space) {
        if (world && tag < mapped && space == Space::messages) {
            return tag;
        }
        const auto next = mapped + static_cast<std::uint32_t>(numbers_.size()) % (collective - mapped);
        return numbers_.try_emplace({space, world ? no_communicator : communicator, tag}, next).first->second;
    }

    /// The tag of the first collective on a communicator; the next ones have those that follow (CollectiveSite).
    /// Consecutive collectives must have different tags, since a small message may overtake a larger one of an earlier
    /// collective. With the bit of a shared buffer (goal/op.hpp) none of them is `any`.
    static std::uint32_t of_collectives(std::uint32_t communicator) {
        constexpr std::uint32_t each = collectives::CollectiveSite::tags;
        return collective + communicator % (collective / each - 1) * each;
    }

  private:
    static constexpr std::uint32_t no_communicator = 0xffffffff;
    static constexpr std::uint32_t mapped = 0x30000000;
    static constexpr std::uint32_t collective = 0x40000000;

    std::map<std::tuple<Space, std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace idlewave::trace
