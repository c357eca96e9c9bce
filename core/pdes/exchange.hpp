#pragma once

#include <cstdint>
#include <span>

#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"
#include "pdes/transport.h"

/// Collective operations of the processes of a run. All processes call them, and have no message batches under way.
namespace idlewave::pdes {

/// Gives each process the sections that are for its partitions: process p has the partitions from p * threads on.
/// Afterwards `snapshot` holds what is for this process. Throws TransportError.
void exchange(Snapshot& snapshot, const idlewave_transport& transport, std::uint32_t threads);

/// Waits until all processes have come here; `transport`: null if there is one process. Throws TransportError.
void barrier(const idlewave_transport* transport);

/// Sums values over all processes, in each; `transport`: null if there is one process. Throws TransportError.
void sum_over_processes(std::span<std::uint64_t> values, const idlewave_transport* transport);
void sum_over_processes(Statistics& statistics, const idlewave_transport* transport);

}  // namespace idlewave::pdes
