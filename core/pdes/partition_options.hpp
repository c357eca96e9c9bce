#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "pdes/run_configuration.hpp"

namespace idlewave::pdes {

/// Whether a partition under Time Warp executes events that may have to be rolled back, or only those that are certain.
enum class Speculation : std::uint8_t { ahead, none };

/// How the LPs of a run are executed.
struct PartitionOptions {
    Time cell = 1;      ///< longest cell of the calendar queue, > 0; at most the lookahead where there is one
    bool lazy = false;  ///< lazy cancellation: an anti-message is sent only when the event is not sent again
    bool pin = false;   ///< each thread stays on a processor of its own
    std::optional<Speculation> speculation = {};  ///< of Time Warp, in tests; else it is chosen by time
    bool check = false;                           ///< each execution of an LP is made, undone, compared and made again
    Time from = 0;                                ///< events before this time were executed in an earlier segment
    /// All partitions pause for migration when so many events were executed and one partition executed far more than
    /// its share; 0: never.
    std::uint64_t migrate_after = 0;
    /// How far more: the busiest partition's events as a multiple of an even share; 0: they pause in any case.
    double imbalance = 1.2;
    bool counts_communication = false;  ///< events are counted by group of senders and receivers
    /// Memory of a partition's undo log, beyond which only events that commit next are executed.
    std::size_t log_bytes = std::size_t{1} << 32;
};

/// The options that a configuration gives; the length of a cell depends on the model.
inline PartitionOptions partition_options_of(const RunConfiguration& configuration) {
    return {.lazy = configuration.lazy_cancellation, .pin = configuration.pin};
}

}  // namespace idlewave::pdes
