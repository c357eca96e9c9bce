// Messages and collectives of many kinds, of which an archive of another format says all: parts of collectives are
// equal, buffers are as large as their messages, and no communicator has two groups.
#include <mpi.h>
#include <stdio.h>

enum { MOST = 4096 };

static int rank, ranks;
static int out[MOST], in[3][MOST];

static void blocking(MPI_Comm comm) {
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    const int after = (me + 1) % all, before = (me + all - 1) % all;
    MPI_Sendrecv(out, 10 + me, MPI_INT, after, 1, in[0], 10 + before, MPI_INT, before, 1, comm, MPI_STATUS_IGNORE);
    const int up = me + 1 < all ? me + 1 : MPI_PROC_NULL, down = me > 0 ? me - 1 : MPI_PROC_NULL;
    MPI_Recv(in[0], 20, MPI_INT, down, 2, comm, MPI_STATUS_IGNORE);
    MPI_Ssend(out, 20, MPI_INT, up, 2, comm);
}

static void nonblocking(MPI_Comm comm) {
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    const int after = (me + 1) % all, before = (me + all - 1) % all;
    MPI_Request requests[4];
    for (int round = 0; round < 3; round++) {
        MPI_Irecv(in[0], 30, MPI_INT, before, 3, comm, &requests[0]);
        MPI_Irecv(in[1], 40, MPI_INT, MPI_ANY_SOURCE, 4, comm, &requests[1]);
        MPI_Isend(out, 30, MPI_INT, after, 3, comm, &requests[2]);
        MPI_Issend(out, 40, MPI_INT, after, 4, comm, &requests[3]);
        int first;
        MPI_Waitany(4, requests, &first, MPI_STATUS_IGNORE);
        int done = 0;
        while (!done) MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE);
    }
    MPI_Irecv(in[2], 1, MPI_INT, before, 99, comm, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void persistent(void) {
    const int after = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Request requests[2];
    MPI_Recv_init(in[0], 50, MPI_INT, before, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 50, MPI_INT, after, 5, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void probed(void) {
    const int after = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Request sent, received;
    MPI_Message message;
    for (int way = 0; way < 3; way++) {
        MPI_Isend(out, 60 + way, MPI_INT, after, 6 + way, MPI_COMM_WORLD, &sent);
        if (way == 0) {
            MPI_Probe(before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(in[0], 60, MPI_INT, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Mprobe(before, 6 + way, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            if (way == 1) MPI_Mrecv(in[0], 61, MPI_INT, &message, MPI_STATUS_IGNORE);
            if (way == 2) {
                MPI_Imrecv(in[0], 62, MPI_INT, &message, &received);
                MPI_Wait(&received, MPI_STATUS_IGNORE);
            }
        }
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
}

static void collectives(MPI_Comm comm) {
    int all;
    MPI_Comm_size(comm, &all);
    const int root = all - 1;
    MPI_Request requests[2];
    MPI_Barrier(comm);
    MPI_Bcast(out, 7, MPI_INT, root, comm);
    MPI_Reduce(out, in[0], 8, MPI_INT, MPI_SUM, root, comm);
    MPI_Allreduce(out, in[0], 9, MPI_INT, MPI_SUM, comm);
    MPI_Gather(out, 10, MPI_INT, in[0], 10, MPI_INT, root, comm);
    MPI_Scatter(out, 11, MPI_INT, in[0], 11, MPI_INT, 0, comm);
    MPI_Allgather(out, 12, MPI_INT, in[0], 12, MPI_INT, comm);
    MPI_Alltoall(out, 13, MPI_INT, in[0], 13, MPI_INT, comm);
    MPI_Reduce_scatter_block(out, in[0], 14, MPI_INT, MPI_SUM, comm);
    MPI_Scan(out, in[0], 15, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(out, in[0], 16, MPI_INT, MPI_SUM, comm);
    MPI_Iallreduce(out, in[0], 17, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibcast(in[1], 18, MPI_INT, 0, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm copy, part;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    const MPI_Comm comms[] = {MPI_COMM_WORLD, copy, part, MPI_COMM_SELF};
    for (int i = 0; i < 4; i++) {
        blocking(comms[i]);
        nonblocking(comms[i]);
        collectives(comms[i]);
    }
    persistent();
    probed();
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
    if (rank == 0) printf("exchanges: done\n");
    MPI_Finalize();
    return 0;
}
