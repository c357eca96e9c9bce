// The difference between rank 0's clock and this rank's.
#ifndef IDLEWAVE_CLOCKSYNC_H
#define IDLEWAVE_CLOCKSYNC_H

#include <mpi.h>
#include <stdint.h>

typedef struct {
    int64_t offset;  // rank 0's clock minus this one's, ns
    int64_t error;   // half of the round trip that gave it, ns
    int64_t at;      // this rank's clock when it was taken, ns
} ClockOffset;

// Collective over `comm`, which nothing else may use. Ranks leave it at about the same time.
ClockOffset clock_offset(MPI_Comm comm);

#endif
