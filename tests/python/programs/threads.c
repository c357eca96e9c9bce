// Two threads of each rank exchange messages with the partner at the same time, each on its own communicator.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, MESSAGES = 100 };

static int partner;
static MPI_Comm comms[THREADS];

static void* exchange(void* argument) {
    const int me = *(const int*)argument;
    int in = 0;
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, partner, i, &in, 1, MPI_INT, partner, i, comms[me], MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = rank ^ 1;
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t threads[THREADS];
        int numbers[THREADS];
        for (int i = 0; i < THREADS; i++) {
            numbers[i] = i;
            pthread_create(&threads[i], NULL, exchange, &numbers[i]);
        }
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    }
    if (rank == 0) printf("threads: %s\n", provided == MPI_THREAD_MULTIPLE ? "done" : "not supported");
    MPI_Finalize();
    return 0;
}
