// The difference between rank 0's clock and this rank's.
#ifndef IDLEWAVE_CLOCKSYNC_H
#define IDLEWAVE_CLOCKSYNC_H

#include <mpi.h>
#include <stdint.h>

#include "clock_burst.h"

// The ranks of a job, and which of them read one clock. Nothing else may use its communicators.
typedef struct {
    MPI_Comm all;
    MPI_Comm sharing;  // the ranks that read this rank's clock
    MPI_Comm leaders;  // the first of each such group, in order; MPI_COMM_NULL on the others
} ClockRanks;

// What tells the kernel's monotonic clock that this process reads from others: the kernel's boot and the time
// namespace. 0 if that is not known: then the rank counts as the only one that reads its clock.
uint64_t clock_identity(void);

// Collective over `comm`, of which it makes a duplicate. Where the identities on a node differ, each rank counts as
// alone.
ClockRanks clock_join(MPI_Comm comm, uint64_t identity);

// Collective over all ranks. They leave it at about the same time. Ranks that share a clock get the same answer, those
// that share rank 0's an offset and an error of 0.
ClockOffset clock_offset(const ClockRanks* ranks, ClockSource clock);

// Collective over all ranks.
void clock_part(ClockRanks* ranks);

#endif
