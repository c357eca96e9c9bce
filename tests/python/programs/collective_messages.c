// Which messages Open MPI's collectives send, as its own monitoring counts them (--mca pml_monitoring_enable 1).
//
// Arguments: NAME RANKS BYTES for each call, on the first so many ranks, whose elements have 8 bytes. Each rank prints
// "call sender receiver messages bytes" for each pair with messages of a call, the calls being numbered from 0 on.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 64 };

static char* in;
static char* out;

static void call(const char* name, int count, int ranks, MPI_Comm comm) {
    const int block = count / ranks;
    int counts[most_ranks];
    for (int i = 0; i < ranks; i++) counts[i] = block;
    if (!strcmp(name, "allgather")) MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
    if (!strcmp(name, "allreduce")) MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    if (!strcmp(name, "alltoall")) MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
    if (!strcmp(name, "barrier")) MPI_Barrier(comm);
    if (!strcmp(name, "bcast")) MPI_Bcast(in, count, MPI_DOUBLE, 0, comm);
    if (!strcmp(name, "exscan")) MPI_Exscan(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    if (!strcmp(name, "gather")) MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, comm);
    if (!strcmp(name, "reduce")) MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (!strcmp(name, "reduce_scatter")) MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, comm);
    if (!strcmp(name, "reduce_scatter_block")) MPI_Reduce_scatter_block(in, out, block, MPI_DOUBLE, MPI_SUM, comm);
    if (!strcmp(name, "scan")) MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    if (!strcmp(name, "scatter")) MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, comm);
}

// A counter of messages to each rank of MPI_COMM_WORLD, bound to the session and started.
static MPI_T_pvar_handle started(MPI_T_pvar_session session, const char* name, int class) {
    int index, count;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_index(name, class, &index) != MPI_SUCCESS) {
        fprintf(stderr, "no performance variable %s\n", name);
        exit(1);
    }
    MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count);
    MPI_T_pvar_start(session, handle);
    return handle;
}

int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t room = (size_t)ranks << 22;
    in = calloc(room, 1);
    out = calloc(room, 1);
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle counts = started(session, "pml_monitoring_messages_count", MPI_T_PVAR_CLASS_SIZE);
    MPI_T_pvar_handle volumes = started(session, "pml_monitoring_messages_size", MPI_T_PVAR_CLASS_SIZE);
    unsigned long before[2][most_ranks], after[2][most_ranks];
    for (int i = 1; i + 2 < argc; i += 3) {
        const int members = atoi(argv[i + 1]);
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm == MPI_COMM_NULL) continue;
        MPI_T_pvar_read(session, counts, before[0]);
        MPI_T_pvar_read(session, volumes, before[1]);
        call(argv[i], atoi(argv[i + 2]) / 8, members, comm);
        MPI_T_pvar_read(session, counts, after[0]);
        MPI_T_pvar_read(session, volumes, after[1]);
        for (int to = 0; to < ranks; to++) {
            const unsigned long messages = after[0][to] - before[0][to];
            if (messages) printf("%d %d %d %lu %lu\n", (i - 1) / 3, rank, to, messages, after[1][to] - before[1][to]);
        }
        MPI_Comm_free(&comm);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
