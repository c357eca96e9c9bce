// Prints the error classes that failing calls return under MPI_ERRORS_RETURN, with and without statuses: they
// must be the same with the tracer and without.
#include <mpi.h>
#include <stdio.h>

static int class_of(int error) {
    int class = -1;
    MPI_Error_class(error, &class);
    return class;
}

// Whether a Waitall sees the error of a request that fails while it waits depends on the time: let them fail
// before.
static void await(const MPI_Request* requests, int n) {
    for (int i = 0; i < n; i++) {
        for (int done = 0; !done;) MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int in[8], out[8] = {0};
    const MPI_Comm world = MPI_COMM_WORLD;
    const int partner = rank ^ 1;
    for (int ignore = 0; ignore < 2; ignore++) {
        MPI_Request r[3];
        MPI_Status statuses[3];
        int done = 0, indices[3];
        MPI_Irecv(in, 1, MPI_INT, partner, 1, world, &r[0]);
        MPI_Irecv(in + 4, 4, MPI_INT, partner, 2, world, &r[1]);
        MPI_Send(out, 4, MPI_INT, partner, 1, world);
        MPI_Send(out, 4, MPI_INT, partner, 2, world);
        await(r, 2);
        const int all = MPI_Waitall(2, r, ignore ? MPI_STATUSES_IGNORE : statuses);
        MPI_Irecv(in, 1, MPI_INT, partner, 3, world, &r[0]);
        MPI_Send(out, 4, MPI_INT, partner, 3, world);
        await(r, 1);
        const int some = MPI_Waitsome(1, r, &done, indices, ignore ? MPI_STATUSES_IGNORE : statuses);
        MPI_Irecv(in, 1, MPI_INT, partner, 4, world, &r[0]);
        MPI_Send(out, 4, MPI_INT, partner, 4, world);
        const int one = MPI_Wait(r, ignore ? MPI_STATUS_IGNORE : statuses);
        const int bad = MPI_Send(out, -1, MPI_INT, partner, 0, world);
        const int peer = MPI_Send(out, 1, MPI_INT, 9999, 0, MPI_COMM_WORLD);
        // Open MPI 5's Waitall returns MPI_SUCCESS in this case if it is given no statuses, which the tracer
        // cannot imitate: it has to pass its own to see what was received.
        if (!ignore) printf("%d: waitall %d\n", rank, class_of(all));
        printf("%d: waitsome %d wait %d count %d peer %d\n", rank, class_of(some), class_of(one), class_of(bad),
               class_of(peer));
    }
    MPI_Finalize();
    return 0;
}
