#include "collective.h"

#include <string.h>

#include "calls.h"
#include "comm.h"
#include "p2p.h"
#include "request.h"

typedef struct {
    unsigned c;
    int root;
    MPI_Comm comm;
    Started started;
    int64_t sent;
    int64_t received;
    const Parts* sends;  // lists of byte counts, one for each peer, or NULL
    const Parts* receives;
} Collective;

static int64_t bytes_at(const Parts* parts, int i) {
    const int64_t count = parts->counts.wide ? (int64_t)parts->counts.wide[i] : parts->counts.narrow[i];
    if (parts->types.c) return bytes_of(count, parts->types.c[i]);
    if (parts->types.fortran) return bytes_of(count, PMPI_Type_f2c(parts->types.fortran[i]));
    return bytes_of(count, parts->type);
}

static int64_t total(const Parts* parts, int n) {
    int64_t sum = 0;
    for (int i = 0; i < n; i++) sum += bytes_at(parts, i);
    return sum;
}

static uint64_t* list(uint64_t* words, const Parts* parts, int n) {
    for (int i = 0; parts && i < n; i++) *words++ = (uint64_t)bytes_at(parts, i);
    return words;
}

static int root_of(int root) {
    if (root == NO_ROOT) return NOT_KNOWN;
    if (root == MPI_ROOT) return RANK_ROOT;
    return root == MPI_PROC_NULL ? RANK_PROC_NULL : root;
}

// The calls of the collectives, by the kind of request that they make.
static const unsigned first_of[] = {CALL_COLLECTIVE, CALL_NONBLOCKING_COLLECTIVE, CALL_COLLECTIVE_INIT};

static void record_collective(const Call* call, const Collective* collective) {
    const Comm* comm = comm_of(collective->comm);
    if (collective->started.kind == PERSISTENT) {
        persistent_add(request_value(collective->started.request), call->end);
    }
    const Degrees peers =
        collective->c == NEIGHBOR ? degrees_of(collective->comm) : (Degrees){comm->peers, comm->peers};
    const int sends = collective->sends ? peers.out : 0;
    const int receives = collective->receives ? peers.in : 0;
    uint64_t* words = record_begin(5 + (size_t)sends + (size_t)receives);
    if (!words) return;
    uint64_t* next = words;
    *next++ = comm->id;
    *next++ = pair(collective->root, 0);
    if (collective->started.kind != BLOCKING) *next++ = request_value(collective->started.request);
    *next++ = (uint64_t)collective->sent;
    *next++ = (uint64_t)collective->received;
    next = list(next, collective->sends, sends);
    next = list(next, collective->receives, receives);
    const unsigned info = (collective->sends ? INFO_SEND_COUNTS : 0) | (collective->receives ? INFO_RECEIVE_COUNTS : 0);
    record_commit(call, first_of[collective->started.kind] + collective->c, info, (size_t)(next - words));
}

// True for the one rank for which the root arguments of a rooted collective have a meaning.
static bool is_root(const Comm* comm, int root) {
    return comm->inter ? root == MPI_ROOT : root == comm->rank;
}

void record_barrier(const Call* call, MPI_Comm comm, Started started) {
    record_collective(call, &(Collective){BARRIER, .root = NOT_KNOWN, .comm = comm, .started = started});
}

void record_vector(const Call* call, unsigned c, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm,
                   Started started) {
    const int64_t bytes = root == MPI_PROC_NULL ? 0 : bytes_of(count, datatype);
    record_collective(call, &(Collective){c, root_of(root), comm, started, bytes, bytes, NULL, NULL});
}

void record_gather(const Call* call, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, int64_t recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, Started started) {
    const bool at_root = is_root(comm_of(comm), root);
    const bool sends = sendbuf != MPI_IN_PLACE && root != MPI_ROOT && root != MPI_PROC_NULL;
    int64_t part = sends ? bytes_of(sendcount, sendtype) : 0;
    const int64_t received = at_root ? bytes_of(recvcount, recvtype) : part;
    if (sendbuf == MPI_IN_PLACE) part = received;
    record_collective(call, &(Collective){GATHER, root_of(root), comm, started, part, received, NULL, NULL});
}

void record_gatherv(const Call* call, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, Counts recvcounts,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, Started started) {
    const Comm* info = comm_of(comm);
    const Parts parts = {.counts = recvcounts, .type = recvtype};
    Collective collective = {GATHERV, .root = root_of(root), .comm = comm, .started = started};
    if (is_root(info, root)) {
        collective.receives = &parts;
        collective.received = total(&parts, info->peers);
    }
    if (sendbuf == MPI_IN_PLACE) {
        collective.sent = bytes_at(&parts, info->rank);
    } else if (root != MPI_ROOT && root != MPI_PROC_NULL) {
        collective.sent = bytes_of(sendcount, sendtype);
    }
    record_collective(call, &collective);
}

void record_scatter(const Call* call, int64_t sendcount, MPI_Datatype sendtype, int64_t recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, Started started) {
    int64_t part = 0;
    if (is_root(comm_of(comm), root)) {
        part = bytes_of(sendcount, sendtype);
    } else if (root != MPI_PROC_NULL) {
        part = bytes_of(recvcount, recvtype);
    }
    record_collective(call, &(Collective){SCATTER, root_of(root), comm, started, part, part, NULL, NULL});
}

void record_scatterv(const Call* call, Counts sendcounts, MPI_Datatype sendtype, const void* recvbuf, int64_t recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, Started started) {
    const Comm* info = comm_of(comm);
    const Parts parts = {.counts = sendcounts, .type = sendtype};
    Collective collective = {SCATTERV, .root = root_of(root), .comm = comm, .started = started};
    if (is_root(info, root)) {
        collective.sends = &parts;
        collective.sent = total(&parts, info->peers);
    }
    if (recvbuf == MPI_IN_PLACE) {
        collective.received = bytes_at(&parts, info->rank);
    } else if (root != MPI_ROOT && root != MPI_PROC_NULL) {
        collective.received = bytes_of(recvcount, recvtype);
    }
    record_collective(call, &collective);
}

void record_parts(const Call* call, unsigned c, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                  int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, Started started) {
    const int64_t received = bytes_of(recvcount, recvtype);
    const int64_t sent = sendbuf == MPI_IN_PLACE ? received : bytes_of(sendcount, sendtype);
    record_collective(call, &(Collective){c, NOT_KNOWN, comm, started, sent, received, NULL, NULL});
}

void record_allgatherv(const Call* call, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                       Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm, Started started) {
    const Comm* info = comm_of(comm);
    const Parts parts = {.counts = recvcounts, .type = recvtype};
    const int64_t sent = sendbuf == MPI_IN_PLACE ? bytes_at(&parts, info->rank) : bytes_of(sendcount, sendtype);
    const int64_t received = total(&parts, info->peers);
    record_collective(call, &(Collective){ALLGATHERV, NOT_KNOWN, comm, started, sent, received, NULL, &parts});
}

void record_exchange(const Call* call, unsigned c, const void* sendbuf, Parts sent, Parts received, MPI_Comm comm,
                     Started started) {
    const int peers = comm_of(comm)->peers;
    const Parts* sends = sendbuf == MPI_IN_PLACE ? &received : &sent;
    record_collective(call, &(Collective){c, NOT_KNOWN, comm, started, total(sends, peers), total(&received, peers),
                                          sends, &received});
}

void record_reduce_scatter(const Call* call, Counts recvcounts, MPI_Datatype datatype, MPI_Comm comm, Started started) {
    const Comm* info = comm_of(comm);
    const Parts parts = {.counts = recvcounts, .type = datatype};
    // On an intercommunicator the counts are the local group's, whose size is not the number of peers.
    const bool listed = !info->inter;
    const int64_t sent = listed ? total(&parts, info->peers) : BYTES_NOT_KNOWN;
    record_collective(call, &(Collective){REDUCE_SCATTER, NOT_KNOWN, comm, started, sent, bytes_at(&parts, info->rank),
                                          NULL, listed ? &parts : NULL});
}

void record_reduce_scatter_block(const Call* call, int64_t recvcount, MPI_Datatype datatype, MPI_Comm comm,
                                 Started started) {
    const Comm* info = comm_of(comm);
    const int64_t part = bytes_of(recvcount, datatype);
    const int64_t sent = info->inter ? BYTES_NOT_KNOWN : part * info->peers;
    record_collective(call, &(Collective){REDUCE_SCATTER_BLOCK, NOT_KNOWN, comm, started, sent, part, NULL, NULL});
}

static void record_neighborhood(const Call* call, int64_t sent, int64_t received, const Parts* sends,
                                const Parts* receives, MPI_Comm comm, Started started) {
    record_collective(call, &(Collective){NEIGHBOR, NOT_KNOWN, comm, started, sent, received, sends, receives});
}

void record_neighbor(const Call* call, int64_t part_sent, int64_t part_received, MPI_Comm comm, Started started) {
    const Degrees degrees = degrees_of(comm);
    record_neighborhood(call, part_sent * degrees.out, part_received * degrees.in, NULL, NULL, comm, started);
}

void record_neighbor_gatherv(const Call* call, int64_t part_sent, Parts received, MPI_Comm comm, Started started) {
    const Degrees degrees = degrees_of(comm);
    record_neighborhood(call, part_sent * degrees.out, total(&received, degrees.in), NULL, &received, comm, started);
}

void record_neighbor_exchange(const Call* call, Parts sent, Parts received, MPI_Comm comm, Started started) {
    const Degrees degrees = degrees_of(comm);
    record_neighborhood(call, total(&sent, degrees.out), total(&received, degrees.in), &sent, &received, comm, started);
}
