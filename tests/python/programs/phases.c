// Three phases that MPI_Pcontrol separates: a start-up in which rank 0 sends to all, then rounds of a ring, and a
// result. Between the phases nothing synchronises the ranks, and the last round's message is received in the next
// phase.
#include <mpi.h>
#include <stdlib.h>

enum { START = 1, ROUND = 2, RESULT = 3 };

static int rank, ranks;

static void start_up(void) {
    int number = 0;
    for (int other = 1; other < ranks && rank == 0; other++)
        MPI_Send(&number, 1, MPI_INT, other, START, MPI_COMM_WORLD);
    if (rank != 0) MPI_Recv(&number, 1, MPI_INT, 0, START, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void result(void) {
    double one = 1, sum;
    MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int rounds = argc > 1 ? atoi(argv[1]) : 0;
    start_up();
    MPI_Pcontrol(1);
    char sent[1000] = {0}, received[1000];
    MPI_Request late;
    for (int i = 0; i < rounds; i++) {
        MPI_Irecv(received, 1000, MPI_CHAR, (rank + ranks - 1) % ranks, ROUND, MPI_COMM_WORLD, &late);
        MPI_Send(sent, 1000, MPI_CHAR, (rank + 1) % ranks, ROUND, MPI_COMM_WORLD);
        if (i < rounds - 1) MPI_Wait(&late, MPI_STATUS_IGNORE);
    }
    MPI_Pcontrol(0);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    result();
    MPI_Finalize();
    return 0;
}
