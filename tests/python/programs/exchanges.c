// Four ranks send, receive and reduce in the ways that a trace must tell apart, always with the same messages in the
// same order: the DUMPI trace of tests/python/support/dumpi_trace.py is one of this program.
#include <mpi.h>

enum { ROOT = 0, MOST = 1000 };

static double sent[MOST], received[MOST];
static int rank, ranks, left, right;

static void nonblocking(void) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Irecv(received, 100, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(received + 200, 5, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(sent, 80, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, statuses);

    MPI_Irecv(received, 12, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(sent, 11, MPI_INT, right, 4, MPI_COMM_WORLD);
    int indices[1], completed, found = 0;
    MPI_Waitsome(1, requests, &completed, indices, statuses);

    MPI_Irecv(received, 12, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(sent, 12, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!found) MPI_Test(&requests[0], &found, MPI_STATUS_IGNORE);
}

// One message at a time, so that it is certain which one a receive without a source takes.
static void wildcards(void) {
    MPI_Status status;
    for (int other = 1; other < ranks; other++) {
        if (rank == ROOT) {
            MPI_Send(sent, 0, MPI_BYTE, other, 9, MPI_COMM_WORLD);
            MPI_Recv(received, 50, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        } else if (rank == other) {
            MPI_Recv(received, 0, MPI_BYTE, ROOT, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Ssend(sent, 10 * rank, MPI_INT, ROOT, 10 + rank, MPI_COMM_WORLD);
        }
    }
}

static void persistent(void) {
    MPI_Request requests[2];
    MPI_Recv_init(received, 12, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(sent, 12, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 2; round++) {
        int index;
        MPI_Startall(2, requests);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void exchanges(void) {
    MPI_Datatype column;
    MPI_Type_vector(10, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(sent, 2, column, right, 6, received, 20, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Sendrecv_replace(sent, 30, MPI_BYTE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void collectives(void) {
    int counts[MOST], places[MOST], parts[MOST], starts[MOST];
    for (int i = 0; i < ranks; i++) {
        counts[i] = i + 1;
        parts[i] = rank + i;
        places[i] = starts[i] = 10 * i;
    }
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Allreduce(sent, received, 8, MPI_DOUBLE, MPI_SUM, world);
    MPI_Bcast(sent, 500, MPI_DOUBLE, 1, world);
    MPI_Alltoallv(sent, parts, starts, MPI_DOUBLE, received, parts, starts, MPI_DOUBLE, world);
    MPI_Gather(sent, 4, MPI_INT, received, 4, MPI_INT, 2, world);
    MPI_Gatherv(sent, rank + 1, MPI_INT, received, counts, places, MPI_INT, ROOT, world);
    MPI_Scatter(sent, 5, MPI_INT, received, 5, MPI_INT, 3, world);
    MPI_Scatterv(sent, counts, places, MPI_INT, received, rank + 1, MPI_INT, ROOT, world);
    MPI_Allgather(sent, 6, MPI_INT, received, 6, MPI_INT, world);
    MPI_Allgatherv(sent, rank + 1, MPI_INT, received, counts, places, MPI_INT, world);
    MPI_Alltoall(sent, 2, MPI_INT, received, 2, MPI_INT, world);
    MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, world);
    MPI_Scan(sent, received, 9, MPI_INT, MPI_SUM, world);
    MPI_Exscan(sent, received, 9, MPI_INT, MPI_SUM, world);
}

static void communicators(void) {
    MPI_Comm half, copy, grid, row, some;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Allreduce(sent, received, 1, MPI_DOUBLE, MPI_SUM, half);
    MPI_Comm_dup(half, &copy);
    MPI_Barrier(copy);

    MPI_Group world, chosen;
    const int members[2] = {2, 0};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, members, &chosen);
    MPI_Comm_create(MPI_COMM_WORLD, chosen, &some);
    if (some != MPI_COMM_NULL) {
        MPI_Bcast(sent, 11, MPI_DOUBLE, 0, some);
        MPI_Comm_free(&some);
    }

    const int extents[2] = {2, 2}, periods[2] = {1, 0}, kept[2] = {0, 1};
    int from, to;
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    MPI_Sendrecv(sent, 20, MPI_DOUBLE, to, 5, received, 20, MPI_DOUBLE, from, 5, grid, MPI_STATUS_IGNORE);
    MPI_Cart_sub(grid, kept, &row);
    MPI_Reduce(sent, received, 3, MPI_DOUBLE, MPI_SUM, 1, row);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    nonblocking();
    wildcards();
    persistent();
    exchanges();
    collectives();
    communicators();
    MPI_Finalize();
    return 0;
}
