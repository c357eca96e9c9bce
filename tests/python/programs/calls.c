// Calls each class of function that the tracer wraps, with peers, tags and sizes that the test knows.
// Ranks work in pairs: an even rank with the odd one above it. Run it with an even number of ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, partner;
static int out[4096], in[4096];

static void handshake(void) {
    MPI_Sendrecv(NULL, 0, MPI_INT, partner, 99, NULL, 0, MPI_INT, partner, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void mark(void) {
    MPI_Barrier(MPI_COMM_SELF);
}

static void blocking(void) {
    static char buffer[4096];
    if (rank % 2 == 0) {
        MPI_Send(out, 5, MPI_INT, partner, 1, MPI_COMM_WORLD);
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Bsend(out, 3, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD);
        void* detached = NULL;
        int size = 0;
        MPI_Buffer_detach(&detached, &size);
        MPI_Ssend(out, 7, MPI_CHAR, partner, 3, MPI_COMM_WORLD);
        handshake();
        MPI_Rsend(out, 0, MPI_CHAR, partner, 4, MPI_COMM_WORLD);
        MPI_Send(out, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        MPI_Recv(in, 400, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, 400, MPI_BYTE, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Recv(in, 400, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request ready;
        MPI_Irecv(in, 1, MPI_INT, partner, 4, MPI_COMM_WORLD, &ready);
        handshake();
        MPI_Wait(&ready, MPI_STATUS_IGNORE);
        MPI_Recv(in, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void exchanges(void) {
    const int next = (rank + 1) % ranks;
    const int previous = (rank + ranks - 1) % ranks;
    MPI_Sendrecv(out, 2, MPI_INT, next, 10, in, 50, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(out, 6, MPI_INT, next, 11, previous, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Sends tagged 20 to 23 and one more, and as many receives, completed in all ways.
static void nonblocking(void) {
    static char buffer[4096];
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Request r[8];
    for (int i = 0; i < 4; i++) MPI_Irecv(in + 100 * i, 100, MPI_INT, MPI_ANY_SOURCE, 20 + i, MPI_COMM_WORLD, &r[i]);
    handshake();
    MPI_Isend(out, 1, MPI_INT, partner, 20, MPI_COMM_WORLD, &r[4]);
    MPI_Ibsend(out, 2, MPI_INT, partner, 21, MPI_COMM_WORLD, &r[5]);
    MPI_Issend(out, 3, MPI_INT, partner, 22, MPI_COMM_WORLD, &r[6]);
    MPI_Irsend(out, 4, MPI_INT, partner, 23, MPI_COMM_WORLD, &r[7]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, r + 4, MPI_STATUSES_IGNORE);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    void* detached = NULL;
    int size = 0;
    MPI_Buffer_detach(&detached, &size);
}

static void some(MPI_Request* requests, int use_test) {
    int left = 3;
    while (left > 0) {
        int done = 0;
        int indices[3];
        if (use_test) {
            MPI_Testsome(3, requests, &done, indices, MPI_STATUSES_IGNORE);
        } else {
            MPI_Waitsome(3, requests, &done, indices, MPI_STATUSES_IGNORE);
        }
        left -= done;
    }
}

static void completions(void) {
    for (int way = 0; way < 6; way++) {
        MPI_Request receives[3];
        MPI_Request sends[3];
        for (int i = 0; i < 3; i++) {
            MPI_Irecv(in + 100 * i, 100, MPI_INT, MPI_ANY_SOURCE, 30 + i, MPI_COMM_WORLD, &receives[i]);
        }
        for (int i = 0; i < 3; i++) MPI_Isend(out, i + 1, MPI_INT, partner, 30 + i, MPI_COMM_WORLD, &sends[i]);
        int flag = 0;
        int index = 0;
        if (way == 0) some(receives, 0);
        if (way == 1) some(receives, 1);
        if (way == 2) {
            for (int i = 0; i < 3; i++) MPI_Waitany(3, receives, &index, MPI_STATUS_IGNORE);
        }
        for (int left = way == 3 ? 3 : 0; left > 0; left -= flag) {
            MPI_Testany(3, receives, &index, &flag, MPI_STATUS_IGNORE);
        }
        while (way == 4 && !flag) MPI_Testall(3, receives, &flag, MPI_STATUSES_IGNORE);
        for (int i = 0; way == 5 && i < 3; i++) {
            for (flag = 0; !flag;) MPI_Test(&receives[i], &flag, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    }
}

static void persistent(void) {
    MPI_Request r[2];
    MPI_Recv_init(in, 10, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &r[0]);
    MPI_Ssend_init(out, 4, MPI_INT, partner, 40, MPI_COMM_WORLD, &r[1]);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Start(&r[0]);
    MPI_Start(&r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);  // r[0] is inactive
    int flag = 0;
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);  // completes nothing
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Irecv(in, 1, MPI_INT, partner, 41, MPI_COMM_WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

static void probes(void) {
    MPI_Request sends[4];
    for (int i = 0; i < 4; i++) MPI_Isend(out, 10 + i, MPI_INT, partner, 50 + i, MPI_COMM_WORLD, &sends[i]);
    MPI_Probe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100, MPI_INT, partner, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int flag = 0;
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100, MPI_INT, partner, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, 52, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 100, MPI_INT, &message, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;) MPI_Improbe(MPI_ANY_SOURCE, 53, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_Imrecv(in, 100, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
}

static void many_polls(void) {
    handshake();
    int flag = 0;
    for (int i = 0; i < 1000; i++) MPI_Iprobe(partner, 60, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    handshake();
}

// Every collective, once blocking and once not, with root 1 where there is one; then those with MPI_IN_PLACE.
static void collectives(void) {
    const MPI_Comm world = MPI_COMM_WORLD;
    int counts[64], displacements[64], zeroes[64], bytes[64];
    MPI_Datatype types[64];
    for (int i = 0; i < ranks; i++) {
        counts[i] = i + 1;
        displacements[i] = i * (i + 1) / 2;
        zeroes[i] = 0;
        bytes[i] = 0;
        types[i] = i % 2 ? MPI_DOUBLE : MPI_INT;
    }
    const int mine = rank + 1;
    int send[64];
    for (int i = 0; i < ranks; i++) send[i] = mine;
    MPI_Datatype wsend[64];
    for (int i = 0; i < ranks; i++) wsend[i] = rank % 2 ? MPI_DOUBLE : MPI_INT;
    for (int i = 0; i < ranks; i++) zeroes[i] = 8 * i * 16;
    for (int i = 0; i < ranks; i++) bytes[i] = 1;

    MPI_Barrier(world);
    MPI_Bcast(in, 11, MPI_INT, 1, world);
    MPI_Reduce(out, in, 12, MPI_INT, MPI_SUM, 1, world);
    MPI_Allreduce(out, in, 13, MPI_INT, MPI_SUM, world);
    MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, 1, world);
    MPI_Gatherv(out, mine, MPI_INT, in, counts, displacements, MPI_INT, 1, world);
    MPI_Scatter(out, 3, MPI_INT, in, 3, MPI_INT, 1, world);
    MPI_Scatterv(out, counts, displacements, MPI_INT, in, mine, MPI_INT, 1, world);
    MPI_Allgather(out, 4, MPI_INT, in, 4, MPI_INT, world);
    MPI_Allgatherv(out, mine, MPI_INT, in, counts, displacements, MPI_INT, world);
    MPI_Alltoall(out, 5, MPI_INT, in, 5, MPI_INT, world);
    MPI_Alltoallv(out, send, zeroes, MPI_CHAR, in, counts, displacements, MPI_CHAR, world);
    MPI_Alltoallw(out, bytes, zeroes, wsend, in, bytes, zeroes, types, world);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world);
    MPI_Reduce_scatter_block(out, in, 6, MPI_INT, MPI_SUM, world);
    MPI_Scan(out, in, 7, MPI_INT, MPI_SUM, world);
    MPI_Exscan(out, in, 8, MPI_INT, MPI_SUM, world);
    mark();
    MPI_Request r;
    MPI_Ibarrier(world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ibcast(in, 11, MPI_INT, 1, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ireduce(out, in, 12, MPI_INT, MPI_SUM, 1, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iallreduce(out, in, 13, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Igather(out, 2, MPI_INT, in, 2, MPI_INT, 1, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Igatherv(out, mine, MPI_INT, in, counts, displacements, MPI_INT, 1, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iscatter(out, 3, MPI_INT, in, 3, MPI_INT, 1, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iscatterv(out, counts, displacements, MPI_INT, in, mine, MPI_INT, 1, world, &r),
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iallgather(out, 4, MPI_INT, in, 4, MPI_INT, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iallgatherv(out, mine, MPI_INT, in, counts, displacements, MPI_INT, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ialltoall(out, 5, MPI_INT, in, 5, MPI_INT, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ialltoallv(out, send, zeroes, MPI_CHAR, in, counts, displacements, MPI_CHAR, world, &r),
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ialltoallw(out, bytes, zeroes, wsend, in, bytes, zeroes, types, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter_block(out, in, 6, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iscan(out, in, 7, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iexscan(out, in, 8, MPI_INT, MPI_SUM, world, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    mark();
    const int root = rank == 1;
    MPI_Allreduce(MPI_IN_PLACE, in, 13, MPI_INT, MPI_SUM, world);
    MPI_Gather(root ? MPI_IN_PLACE : out, root ? 0 : 2, root ? MPI_DATATYPE_NULL : MPI_INT, in, root ? 2 : 0,
               root ? MPI_INT : MPI_DATATYPE_NULL, 1, world);
    MPI_Gatherv(root ? MPI_IN_PLACE : out, root ? 0 : mine, root ? MPI_DATATYPE_NULL : MPI_INT, in,
                root ? counts : NULL, root ? displacements : NULL, root ? MPI_INT : MPI_DATATYPE_NULL, 1, world);
    MPI_Scatter(out, root ? 3 : 0, root ? MPI_INT : MPI_DATATYPE_NULL, root ? MPI_IN_PLACE : in, root ? 0 : 3,
                root ? MPI_DATATYPE_NULL : MPI_INT, 1, world);
    MPI_Scatterv(out, root ? counts : NULL, root ? displacements : NULL, root ? MPI_INT : MPI_DATATYPE_NULL,
                 root ? MPI_IN_PLACE : in, root ? 0 : mine, root ? MPI_DATATYPE_NULL : MPI_INT, 1, world);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 4, MPI_INT, world);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, displacements, MPI_INT, world);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 5, MPI_INT, world);
    mark();
}

static void neighbours(void) {
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 0, &ring);
    MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, ring);
    MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, ring);
    MPI_Neighbor_alltoallv(out, (int[]){1, 2}, (int[]){0, 1}, MPI_INT, in, (int[]){2, 1}, (int[]){0, 2}, MPI_INT, ring);
    MPI_Comm_free(&ring);
    const int next = (rank + 1) % ranks;
    const int previous = (rank + ranks - 1) % ranks;
    MPI_Comm chain;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, (int[]){1}, 1, &next, (int[]){1}, MPI_INFO_NULL, 0,
                                   &chain);
    MPI_Request r;
    MPI_Ineighbor_allgather(out, 5, MPI_INT, in, 5, MPI_INT, chain, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_free(&chain);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    partner = rank ^ 1;
    void (*const sections[])(void) = {blocking, exchanges,  nonblocking, completions, persistent,
                                      probes,   many_polls, collectives, neighbours};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        sections[i]();
        mark();
    }
    if (rank == 0) printf("calls: done\n");
    MPI_Finalize();
    return 0;
}
