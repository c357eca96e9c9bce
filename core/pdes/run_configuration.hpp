#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// How LPs are dealt out to partitions: neighbours together, or every n-th LP.
enum class PlacementKind : std::uint8_t { block, cyclic };

/// Where checkpoints of a run are written.
struct CheckpointOptions {
    std::string directory = {};    ///< empty: the run writes no checkpoints
    std::string description = {};  ///< one line that names the model and its parameters; a restart must agree with it
    double interval = 600;         ///< seconds between two checkpoints
    bool restart = false;          ///< begin with the last checkpoint in the directory
};

/// How a run is made. The results are the same for every configuration.
struct RunConfiguration {
    std::string scheduler = "sequential";           ///< by its name in the table (schedulers.hpp)
    std::uint32_t threads = 1;                      ///< of each process; a thread simulates one partition
    const idlewave_transport* transport = nullptr;  ///< to the other processes of the run; null: there are none
    PlacementKind placement_kind = PlacementKind::block;
    std::vector<std::uint32_t> placement = {};  ///< the partition of each LP; empty: as `placement_kind` says
    bool pin = false;                           ///< each thread stays on a processor of its own
    bool lazy_cancellation = false;             ///< Time Warp; without a lookahead cancellation is always lazy
    Time cell = 0;                              ///< longest cell of the calendar queue; 0: a good length is chosen
    /// Events a partition, after which LPs migrate from partitions that executed far more events than the others; 0:
    /// LPs do not migrate.
    std::uint64_t migrate_after = 0;
    /// Chooses the partition of each group of LPs when LPs migrate, in place of the even split: from the number of
    /// events that each group sent to each other one (CommunicationMatrix). It must return the same in all processes.
    std::function<std::vector<std::uint32_t>(const std::vector<std::uint64_t>& between, std::uint32_t partitions)>
        choose_placement = {};
    CheckpointOptions checkpoint = {};
    /// Called a few times a second with the time before which all events are committed. It may throw to end the run.
    std::function<void(Time)> poll = {};

    [[nodiscard]] std::uint32_t processes() const {
        return transport == nullptr ? 1 : static_cast<std::uint32_t>(transport->processes);
    }
    [[nodiscard]] std::uint32_t partitions() const { return threads * processes(); }
};

}  // namespace idlewave::pdes
