// Functions of MPI 4: large counts, and an exchange without blocking.
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
#if MPI_VERSION >= 4
    int rank;
    int in[100], out[100] = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int partner = rank ^ 1;
    MPI_Sendrecv_c(out, 3, MPI_INT, partner, 1, in, 100, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Iallgatherv_c(out, rank + 1, MPI_INT, in, (MPI_Count[]){1, 2}, (MPI_Aint[]){0, 1}, MPI_INT, MPI_COMM_WORLD,
                      &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_c(out, 3, MPI_INT, partner, 2, in, 100, MPI_INT, partner, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_Finalize();
    return 0;
}
