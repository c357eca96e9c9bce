// Offsets of clocks that run wrong as they are told to, as the tracer finds them: skewed_clocks MILLISECONDS
// {OFFSET_NS DRIFT_PPB}...: for each rank how far its clock is ahead of the true one, and how much faster it runs.
// Prints, for each rank, what was found at the beginning and at the end, so many milliseconds later, and then what was
// found of the real clocks.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clocksync.h"

typedef struct {
    int64_t offset;
    int64_t ppb;
} Skew;

static int64_t true_clock(const void* context) {
    (void)context;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t skewed_clock(const void* context) {
    const Skew* skew = context;
    const int64_t t = true_clock(NULL);
    return t + skew->offset + (int64_t)((double)t * 1e-9 * (double)skew->ppb);
}

int main(int argc, char** argv) {
    int rank = 0;
    int ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2 + 2 * ranks) return 2;
    const Skew skew = {atoll(argv[2 + 2 * rank]), atoll(argv[3 + 2 * rank])};
    const long milliseconds = atol(argv[1]);
    const ClockSource clock = {skewed_clock, &skew};
    ClockRanks alone = clock_join(MPI_COMM_WORLD, 0);
    ClockRanks sharing = clock_join(MPI_COMM_WORLD, clock_identity());
    const ClockOffset begin = clock_offset(&alone, clock);
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
    const ClockOffset end = clock_offset(&alone, clock);
    const ClockOffset real = clock_offset(&sharing, (ClockSource){true_clock, NULL});
    const ClockOffset found[] = {begin, end, real};
    for (int i = 0; i < 3; i++) {
        printf("%d %" PRId64 " %" PRId64 " %" PRId64 "\n", rank, found[i].offset, found[i].error, found[i].at);
    }
    fflush(stdout);
    clock_part(&alone);
    clock_part(&sharing);
    MPI_Finalize();
    return 0;
}
