// Computation for a time of the thread's own: waits for a core are no computation.
#ifndef IDLEWAVE_TEST_COMPUTE_H
#define IDLEWAVE_TEST_COMPUTE_H

#include <time.h>

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void compute(double seconds) {
    const double end = cpu_seconds() + seconds;
    while (cpu_seconds() < end) continue;
}

#endif
