// Exchanges ten messages around a ring; then one rank dies in the way that is named: kill, segv, abort, exit,
// hang; or late: with an error after MPI_Finalize, when the others are done.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char* way) {
    if (strcmp(way, "kill") == 0) raise(SIGKILL);
    if (strcmp(way, "segv") == 0) raise(SIGSEGV);
    if (strcmp(way, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(way, "exit") == 0) _exit(3);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3) return 2;
    int rank, ranks, token = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 10; i++) {
        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % ranks, i, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    if (rank == atoi(argv[2])) die(argv[1]);
    if (strcmp(argv[1], "late") == 0) {
        MPI_Finalize();
        if (rank != atoi(argv[2])) return 0;
        sleep(2);
        return 2;
    }
    if (strcmp(argv[1], "hang") == 0) write(STDOUT_FILENO, "hanging\n", 8);
    // The others wait for a message that never comes, without using the processor.
    for (int flag = 0; !flag; usleep(1000)) MPI_Iprobe(MPI_ANY_SOURCE, 1000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
