// Five times each rank computes for 40 ms of its own CPU time, then sleeps for 5 ms, and all wait for each other.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <time.h>

#include "compute.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int round = 0; round < 5; round++) {
        compute(0.04);
        const struct timespec pause = {0, 5000000};
        nanosleep(&pause, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
