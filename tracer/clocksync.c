// Rank 0 answers one rank after the other. A burst (clock_burst.h) has tens of exchanges of a few microseconds, about
// 100 us a rank, so the whole takes less than two seconds for 16,384 clocks.
//
// The ranks of a node read one clock, so only the first rank of each node sends requests, and the others take its
// result: their order among each other is then exact, which no exchange of messages would give.
//
// A rank that waits for its burst, or for the end, sleeps between probes: where ranks share cores, busy waiting would
// lengthen the round trips of the measured pair. Therefore rank 0 notifies each rank during the burst before, so that
// the rank is awake (and spinning) when its own begins.
#include "clocksync.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { INVITATION = 1, NAP_NS = 50000 };

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static void nap_until(MPI_Request request) {
    int done = 0;
    while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) nap();
}

// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991).
static uint64_t hashed(uint64_t hash, const char* text) {
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

uint64_t clock_identity(void) {
    char boot[64] = "";
    FILE* file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file) return 0;
    const bool read = fgets(boot, sizeof boot, file) != NULL;
    fclose(file);
    if (!read) return 0;
    // A time namespace shifts the monotonic clock. Kernels without time namespaces have no such link: the name is
    // empty.
    char namespace[64] = "";
    const ssize_t length = readlink("/proc/self/ns/time", namespace, sizeof namespace - 1);
    namespace[length > 0 ? length : 0] = '\0';
    const uint64_t hash = hashed(hashed(0xcbf29ce484222325, boot), namespace);
    return hash ? hash : 1;
}

// The first rank of `node` if all of its ranks have one known identity, else this rank.
static int first_sharing(MPI_Comm node, uint64_t identity) {
    int rank = 0;
    uint64_t lowest = identity;
    uint64_t highest = identity;
    PMPI_Comm_rank(node, &rank);
    PMPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_UINT64_T, MPI_MIN, node);
    PMPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_UINT64_T, MPI_MAX, node);
    return lowest == highest && identity != 0 ? 0 : rank;
}

ClockRanks clock_join(MPI_Comm comm, uint64_t identity) {
    ClockRanks ranks = {.leaders = MPI_COMM_NULL};
    MPI_Comm node = MPI_COMM_NULL;
    int rank = 0;
    int place = 0;
    PMPI_Comm_dup(comm, &ranks.all);
    PMPI_Comm_rank(ranks.all, &rank);
    PMPI_Comm_split_type(ranks.all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    PMPI_Comm_split(node, first_sharing(node, identity), rank, &ranks.sharing);
    PMPI_Comm_free(&node);
    PMPI_Comm_rank(ranks.sharing, &place);
    PMPI_Comm_split(ranks.all, place == 0 ? 0 : MPI_UNDEFINED, rank, &ranks.leaders);
    return ranks;
}

void clock_part(ClockRanks* ranks) {
    if (ranks->leaders != MPI_COMM_NULL) PMPI_Comm_free(&ranks->leaders);
    PMPI_Comm_free(&ranks->sharing);
    PMPI_Comm_free(&ranks->all);
}

static void invite(MPI_Comm comm, int rank, int ranks) {
    if (rank < ranks) PMPI_Send(NULL, 0, MPI_BYTE, rank, INVITATION, comm);
}

static void serve(MPI_Comm comm, int ranks, ClockSource clock) {
    invite(comm, 1, ranks);
    for (int rank = 1; rank < ranks; rank++) {
        invite(comm, rank + 1, ranks);
        clock_answer(comm, rank, clock);
    }
}

static void await_invitation(MPI_Comm comm) {
    int invited = 0;
    while (PMPI_Iprobe(0, INVITATION, comm, &invited, MPI_STATUS_IGNORE) == MPI_SUCCESS && !invited) nap();
    PMPI_Recv(NULL, 0, MPI_BYTE, 0, INVITATION, comm, MPI_STATUS_IGNORE);
}

static ClockOffset lead(MPI_Comm leaders, ClockSource clock) {
    int rank = 0;
    int ranks = 1;
    PMPI_Comm_rank(leaders, &rank);
    PMPI_Comm_size(leaders, &ranks);
    ClockOffset offset = {.at = clock.read(clock.context)};
    if (rank == 0) {
        serve(leaders, ranks, clock);
        return offset;
    }
    ClockExchange exchanges[BURST_MOST];
    await_invitation(leaders);
    const int count = clock_ask(leaders, 0, clock, exchanges);
    return clock_estimate(exchanges, count);
}

ClockOffset clock_offset(const ClockRanks* ranks, ClockSource clock) {
    ClockOffset offset = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    if (ranks->leaders != MPI_COMM_NULL) offset = lead(ranks->leaders, clock);
    int64_t told[] = {offset.offset, offset.error, offset.at};
    PMPI_Ibcast(told, sizeof told / sizeof *told, MPI_INT64_T, 0, ranks->sharing, &request);
    nap_until(request);
    PMPI_Ibarrier(ranks->all, &request);
    nap_until(request);
    return (ClockOffset){.offset = told[0], .error = told[1], .at = told[2]};
}
