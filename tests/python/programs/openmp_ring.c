// Threads of an OpenMP loop compute, and exchange a message with the same thread of the next and the previous rank.
// Arguments: steps, threads, and the computation in each step, us.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute.h"

enum { BYTES = 1024 };

int main(int argc, char** argv) {
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (argc < 4 || provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
    const int steps = atoi(argv[1]);
    const double seconds = atoi(argv[3]) / 1e6;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#pragma omp parallel num_threads(atoi(argv[2]))
    {
        char out[BYTES] = {0}, in[BYTES];
        const int tag = omp_get_thread_num();
        for (int step = 0; step < steps; step++) {
            compute(seconds);
            MPI_Sendrecv(out, BYTES, MPI_CHAR, (rank + 1) % ranks, tag, in, BYTES, MPI_CHAR, (rank + ranks - 1) % ranks,
                         tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
