// Which collectives Open MPI refuses, by communicator size and bytes: those for which its file of rules names an
// algorithm that does not exist. Rank 0 prints "collective ranks bytes" for each.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char* in;
static char* out;

static int call(int which, int count, MPI_Comm comm) {
    switch (which) {
        case 0:
            return MPI_Allgather(in, count, MPI_CHAR, out, count, MPI_CHAR, comm);
        case 1:
            return MPI_Allreduce(in, out, count, MPI_CHAR, MPI_MAX, comm);
        case 2:
            return MPI_Alltoall(in, count, MPI_CHAR, out, count, MPI_CHAR, comm);
        case 3:
            return MPI_Barrier(comm);
        case 4:
            return MPI_Bcast(in, count, MPI_CHAR, 0, comm);
        case 5:
            return MPI_Gather(in, count, MPI_CHAR, out, count, MPI_CHAR, 0, comm);
        case 6:
            return MPI_Reduce(in, out, count, MPI_CHAR, MPI_MAX, 0, comm);
        case 7:
            return MPI_Scatter(in, count, MPI_CHAR, out, count, MPI_CHAR, 0, comm);
        case 8:
            return MPI_Reduce_scatter_block(in, out, count, MPI_CHAR, MPI_MAX, comm);
        case 9:
            return MPI_Scan(in, out, count, MPI_DOUBLE, MPI_MAX, comm);
        default:
            return MPI_Exscan(in, out, count, MPI_DOUBLE, MPI_MAX, comm);
    }
}

int main(int argc, char** argv) {
    const char* const names[] = {"allgather", "allreduce", "alltoall",       "barrier", "bcast", "gather",
                                 "reduce",    "scatter",   "reduce_scatter", "scan",    "exscan"};
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    in = calloc(1 << 16, 1);
    out = calloc(1 << 16, 1);
    for (int size = 2; size <= ranks; size++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm == MPI_COMM_NULL) continue;
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int which = 0; which < 11; which++) {
            for (int i = 1; i < argc; i++) {
                const int bytes = atoi(argv[i]);
                const int failed = call(which, which >= 9 ? bytes / 8 : bytes, comm) != MPI_SUCCESS;
                if (failed && rank == 0) printf("%s %d %d\n", names[which], size, bytes);
            }
        }
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
