// Exchanges without blocking, persistent collectives, partitioned messages, neighbourhood collectives, and collectives
// between two groups. Run it with four ranks; its argument is how often what is persistent is started.
#include <mpi.h>
#include <stdlib.h>

enum { PARTITIONS = 4, PART = 100 };

static int rank, ranks;
static char out[4096], in[4096];

static void exchange(void) {
    MPI_Request request;
    const int next = (rank + 1) % ranks;
    const int previous = (rank + ranks - 1) % ranks;
    MPI_Isendrecv(out, 300, MPI_CHAR, next, 3, in, 400, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(out, 200, MPI_CHAR, previous, 4, next, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent_collectives(int rounds) {
    MPI_Request requests[2];
    MPI_Allreduce_init(out, in, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(out + 1000, 500, MPI_CHAR, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < rounds; round++) {
        MPI_Start(&requests[rank % 2]);  // in any order: they match by that of their making
        MPI_Start(&requests[1 - rank % 2]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

// Two messages of one tag, of which the second is twice as long, and is started first.
static void partitioned(int rounds) {
    MPI_Request sends[2], receives[2];
    const int partner = rank ^ 1;
    for (int i = 0; i < 2; i++) {
        const int part = (i + 1) * PART;
        MPI_Psend_init(out, PARTITIONS, part, MPI_CHAR, partner, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
        MPI_Precv_init(in + i * 1024, PARTITIONS, part, MPI_CHAR, partner, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &receives[i]);
    }
    for (int round = 0; round < rounds; round++) {
        MPI_Startall(2, receives);
        for (int i = 1; i >= 0; i--) {
            MPI_Start(&sends[i]);
            MPI_Pready_range(0, 1, sends[i]);
            MPI_Pready(3, sends[i]);
            int last[] = {2};
            MPI_Pready_list(1, last, sends[i]);
        }
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
}

static void neighborhoods(void) {
    MPI_Comm grid;
    const int extents[] = {ranks / 2, 2};
    const int periodic[] = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periodic, 0, &grid);
    MPI_Neighbor_alltoall(out, 50, MPI_CHAR, in, 50, MPI_CHAR, grid);
    MPI_Request request;
    MPI_Ineighbor_allgather(out, 60, MPI_CHAR, in, 60, MPI_CHAR, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&grid);

    MPI_Comm ring;  // each rank sends to the next one alone
    const int next = (rank + 1) % ranks;
    const int previous = (rank + ranks - 1) % ranks;
    const int weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, &weight, 1, &next, &weight, MPI_INFO_NULL, 0, &ring);
    const int sent = 10 + rank;
    const int received = 10 + previous;
    const int zero = 0;
    MPI_Neighbor_alltoallv(out, &sent, &zero, MPI_CHAR, in, &received, &zero, MPI_CHAR, ring);
    MPI_Comm_free(&ring);
}

// Rank 0 is one group, the others are the other one.
static void between_groups(void) {
    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 7, &both);
    const int root = rank == 0 ? 1 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(out, 70, MPI_CHAR, root, both);
    MPI_Alltoall(out, 80, MPI_CHAR, in, 80, MPI_CHAR, both);
    MPI_Allgather(out, 90, MPI_CHAR, in, 90, MPI_CHAR, both);
    MPI_Barrier(both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    exchange();
    persistent_collectives(rounds);
    partitioned(rounds);
    neighborhoods();
    between_groups();
    MPI_Finalize();
    return 0;
}
