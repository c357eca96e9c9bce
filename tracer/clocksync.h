// The difference between rank 0's clock and this rank's.
#ifndef IDLEWAVE_CLOCKSYNC_H
#define IDLEWAVE_CLOCKSYNC_H

#include <mpi.h>
#include <stdint.h>

#include "clock_burst.h"

// The ranks of a job, grouped by clock. Nothing else may use its communicators.
typedef struct {
    MPI_Comm all;
    MPI_Comm sharing;  // the ranks that read this rank's clock
    MPI_Comm leaders;  // the first rank of each such group, in order; MPI_COMM_NULL on the others
} ClockRanks;

// The identity of the monotonic clock that this process reads: the kernel's boot and the time namespace. 0 if it is not
// known: then the rank counts as the only one that reads its clock.
uint64_t clock_identity(void);

// Collective over `comm`, of which it makes a duplicate. If the identities on a node differ, each of its ranks has a
// group of its own.
ClockRanks clock_join(MPI_Comm comm, uint64_t identity);

// Collective over all ranks. They leave it at about the same time. Ranks that share a clock get the same result; those
// that share rank 0's clock get an offset and an error of 0.
ClockOffset clock_offset(const ClockRanks* ranks, ClockSource clock);

// Collective over all ranks.
void clock_part(ClockRanks* ranks);

#endif
