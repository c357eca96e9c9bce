#include "comm.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "request.h"

// A key has the same numbers on all members of a communicator, so its id is the same, too.
typedef struct {
    uint64_t key;
    uint64_t count;
} Counter;

typedef struct {
    uint64_t request;
    int64_t begun;  // when the call that made the request ended
    const MPI_Comm* made;
    const MPI_Fint* made_fortran;
    Comm* info;
} Pending;

static struct {
    int key;
    MPI_Group world_group;
    Comm world;
    Comm self;
    Comm unknown;
    MPI_Comm last;  // the handle of the last lookup, its result, and how many communicators were freed before it
    Comm* last_info;
    unsigned last_freed;
    atomic_uint freed;
    Counter* counters;
    size_t counter_count;
    Pending* pending;
    size_t pending_count;
} comms;

// The MPI calls it when it frees a communicator, whose handle may be another's afterwards. It takes no lock, as the MPI
// may hold its own: it only makes what the last lookup found, perhaps of this communicator, useless.
static int forget(MPI_Comm comm, int key, void* info, void* extra) {
    (void)comm;
    (void)key;
    (void)extra;
    atomic_fetch_add_explicit(&comms.freed, 1, memory_order_release);
    free(info);
    return MPI_SUCCESS;
}

void comm_start(void) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &comms.key, NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &comms.world_group);
    comms.world.id = COMM_ID_WORLD;
    PMPI_Comm_size(MPI_COMM_WORLD, &comms.world.peers);
    PMPI_Comm_rank(MPI_COMM_WORLD, &comms.world.rank);
    comms.self = (Comm){.id = COMM_ID_SELF, .peers = 1};
    comms.unknown = (Comm){.id = COMM_ID_UNKNOWN};
    comm_forget();
}

void comm_forget(void) {
    comms.last = MPI_COMM_WORLD;
    comms.last_info = &comms.world;
}

static void describe(MPI_Comm comm, Comm* info) {
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    info->inter = inter != 0;
    PMPI_Comm_rank(comm, &info->rank);
    if (info->inter) {
        PMPI_Comm_remote_size(comm, &info->peers);
    } else {
        PMPI_Comm_size(comm, &info->peers);
    }
}

static Comm* attach(MPI_Comm comm, uint64_t id) {
    Comm* info = calloc(1, sizeof *info);
    if (!info) return &comms.unknown;
    describe(comm, info);
    info->id = id;
    PMPI_Comm_set_attr(comm, comms.key, info);
    return info;
}

Comm* comm_of(MPI_Comm comm) {
    const unsigned freed = atomic_load_explicit(&comms.freed, memory_order_acquire);
    if (comm == comms.last && freed == comms.last_freed) return comms.last_info;
    void* found = NULL;
    int there = 0;
    if (comm == MPI_COMM_WORLD) {
        found = &comms.world;
    } else if (comm == MPI_COMM_SELF) {
        found = &comms.self;
    } else {
        PMPI_Comm_get_attr(comm, comms.key, &found, &there);
        if (!there) found = attach(comm, COMM_ID_UNKNOWN);
    }
    comms.last = comm;
    comms.last_info = found;
    comms.last_freed = freed;
    return found;
}

Degrees degrees_of(MPI_Comm comm) {
    Degrees degrees = {0, 0};
    int topology = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &degrees.in);
        degrees.in *= 2;
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, comm_of(comm)->rank, &degrees.in);
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted = 0;
        PMPI_Dist_graph_neighbors_count(comm, &degrees.in, &degrees.out, &weighted);
        return degrees;
    }
    degrees.out = degrees.in;
    return degrees;
}

// The mixing function of splitmix64 (Steele, Lea, Flood 2014), chained.
static uint64_t mix(uint64_t hash, uint64_t value) {
    uint64_t x = hash + value + 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static uint64_t as_id(uint64_t hash) {
    const bool reserved = hash <= COMM_ID_SELF || hash == COMM_ID_UNKNOWN;
    return reserved ? hash ^ 0x5555555555555555U : hash;
}

uint64_t comm_object_id(MPI_Comm comm) {
    Comm* from = comm_of(comm);
    if (from->id == COMM_ID_UNKNOWN) return COMM_ID_UNKNOWN;
    const uint64_t hash = mix(mix(4, from->id), from->children++);
    return as_id(from->id == COMM_ID_SELF ? mix(hash, (uint64_t)comms.world.rank) : hash);
}

static void world_ranks_of(MPI_Group group, int n, const int* ranks, int* world) {
    PMPI_Group_translate_ranks(group, n, ranks, comms.world_group, world);
    for (int i = 0; i < n; i++) {
        if (world[i] == MPI_UNDEFINED) world[i] = NOT_KNOWN;
    }
}

static int first_world_rank(MPI_Group group) {
    const int zero = 0;
    int first = 0;
    world_ranks_of(group, 1, &zero, &first);
    return first;
}

// The world rank of the first member; for two groups the lower one of both, so that both sides agree.
static int first_member(MPI_Comm comm, bool inter) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    int first = first_world_rank(group);
    PMPI_Group_free(&group);
    if (!inter) return first;
    PMPI_Comm_remote_group(comm, &group);
    const int other = first_world_rank(group);
    PMPI_Group_free(&group);
    return first < other ? first : other;
}

// The world ranks of a group's members in order; the caller frees them. NULL if memory is short.
static int* world_ranks(MPI_Group group, int n) {
    int* ranks = calloc((size_t)n * 2, sizeof *ranks);
    if (!ranks) return NULL;
    for (int i = 0; i < n; i++) ranks[n + i] = i;
    world_ranks_of(group, n, ranks + n, ranks);
    return ranks;
}

static int* peers_world_ranks(MPI_Comm comm, const Comm* info) {
    MPI_Group group = MPI_GROUP_NULL;
    if (info->inter) {
        PMPI_Comm_remote_group(comm, &group);
    } else {
        PMPI_Comm_group(comm, &group);
    }
    int* ranks = world_ranks(group, info->peers);
    PMPI_Group_free(&group);
    return ranks;
}

static void record_cart(const Call* call, MPI_Comm comm, uint64_t id) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    int* numbers = calloc((size_t)dimensions * 3 + 1, sizeof *numbers);
    uint64_t* words = numbers ? record_begin(2 + (size_t)dimensions) : NULL;
    if (words) {
        int* periods = numbers + dimensions;
        PMPI_Cart_get(comm, dimensions, numbers, periods, periods + dimensions);
        words[0] = id;
        words[1] = (uint64_t)dimensions;
        for (int i = 0; i < dimensions; i++) words[2 + i] = pair(numbers[i], periods[i]);
        const Call end = record_at_end(call);
        record_commit(&end, CALL_CART, 0, 2 + (size_t)dimensions);
    }
    free(numbers);
}

// Returns whether there was memory for it.
static bool neighbors(MPI_Comm comm, Degrees degrees, int rank, int* sources, int* destinations) {
    int topology = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors(comm, rank, degrees.in, sources);
        memcpy(destinations, sources, (size_t)degrees.out * sizeof *destinations);
        return true;
    }
    int* weights = calloc((size_t)degrees.in + (size_t)degrees.out + 1, sizeof *weights);
    if (!weights) return false;
    PMPI_Dist_graph_neighbors(comm, degrees.in, sources, weights, degrees.out, destinations, weights + degrees.in);
    free(weights);
    return true;
}

static void record_neighbors(const Call* call, MPI_Comm comm, const Comm* info) {
    const Degrees degrees = degrees_of(comm);
    const size_t listed = ((size_t)degrees.in + (size_t)degrees.out + 1) / 2;
    uint64_t* words = record_begin(2 + listed);
    if (!words) return;
    words[0] = info->id;
    words[1] = pair(degrees.in, degrees.out);
    if (listed > 0) words[1 + listed] = 0;
    int* ranks = (int*)(words + 2);
    if (!neighbors(comm, degrees, info->rank, ranks, ranks + degrees.in)) return;
    const Call end = record_at_end(call);
    record_commit(&end, CALL_NEIGHBORS, 0, 2 + listed);
}

static void record_topology(const Call* call, MPI_Comm comm, const Comm* info) {
    int topology = MPI_UNDEFINED;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) record_cart(call, comm, info->id);
    if (topology == MPI_GRAPH || topology == MPI_DIST_GRAPH) record_neighbors(call, comm, info);
}

// `source` is the communicator from which the members are read: the new one itself, or the one that it duplicates.
static void record_definition(const Call* call, MPI_Comm source, const Comm* info, uint64_t parent) {
    int* members = info->rank == 0 ? peers_world_ranks(source, info) : NULL;
    const size_t listed = members ? ((size_t)info->peers + 1) / 2 : 0;
    uint64_t* words = record_begin(3 + listed);
    if (words) {
        words[0] = info->id;
        words[1] = parent;
        words[2] = pair(info->peers, info->rank);
        if (members) memcpy(words + 3, members, (size_t)info->peers * sizeof *members);
        const unsigned flags = (members ? INFO_MEMBERS : 0) | (info->inter ? INFO_INTERCOMM : 0);
        record_commit(call, CALL_COMM_DEF, flags, 3 + listed);
    }
    free(members);
    record_topology(call, source, info);
}

static void record_no_member(const Call* call, uint64_t parent) {
    uint64_t* words = record_begin(3);
    if (!words) return;
    words[0] = COMM_ID_NULL;
    words[1] = parent;
    words[2] = pair(0, NOT_KNOWN);
    record_commit(call, CALL_COMM_DEF, 0, 3);
}

static void define(const Call* call, uint64_t parent, MPI_Comm made, uint64_t hash) {
    const Comm* info = attach(made, parent == COMM_ID_UNKNOWN ? COMM_ID_UNKNOWN : as_id(hash));
    record_definition(call, made, info, parent);
}

void record_comm(const Call* call, MPI_Comm parent, MPI_Comm made) {
    Comm* from = comm_of(parent);
    const uint64_t number = from->children++;
    if (made == MPI_COMM_NULL) {
        record_no_member(call, from->id);
        return;
    }
    int inter = 0;
    PMPI_Comm_test_inter(made, &inter);
    const int first = first_member(made, inter != 0);
    define(call, from->id, made, mix(mix(mix(1, from->id), number), (uint64_t)first));
}

// Returns how often this key was counted before. Every rank that takes part in what the key describes counts alike.
static uint64_t count_key(uint64_t key) {
    for (size_t i = 0; i < comms.counter_count; i++) {
        if (comms.counters[i].key == key) return ++comms.counters[i].count;
    }
    Counter* more = realloc(comms.counters, (comms.counter_count + 1) * sizeof *more);
    if (!more) return 0;
    comms.counters = more;
    more[comms.counter_count++] = (Counter){.key = key};
    return 0;
}

static uint64_t group_hash(MPI_Group group) {
    int n = 0;
    PMPI_Group_size(group, &n);
    int* members = world_ranks(group, n);
    uint64_t hash = (uint64_t)n;
    for (int i = 0; members && i < n; i++) hash = mix(hash, (uint64_t)members[i]);
    free(members);
    return hash;
}

void record_comm_group(const Call* call, MPI_Comm parent, MPI_Comm made, int tag) {
    const uint64_t from = comm_of(parent)->id;
    if (made == MPI_COMM_NULL) {
        record_no_member(call, from);
        return;
    }
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(made, &group);
    const uint64_t key = mix(mix(mix(2, from), (uint64_t)tag), group_hash(group));
    PMPI_Group_free(&group);
    define(call, from, made, mix(key, count_key(key)));
}

void record_intercomm(const Call* call, MPI_Comm local, MPI_Comm made, int tag) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(made, &group);
    uint64_t both = group_hash(group);
    PMPI_Group_free(&group);
    PMPI_Comm_remote_group(made, &group);
    both += group_hash(group);
    PMPI_Group_free(&group);
    const uint64_t key = mix(mix(3, (uint64_t)tag), both);
    define(call, comm_of(local)->id, made, mix(key, count_key(key)));
}

static uint64_t text_hash(Text text) {
    uint64_t hash = text.length;
    for (size_t i = 0; i < text.length; i++) hash = mix(hash, (uint64_t)(unsigned char)text.first[i]);
    return hash;
}

void record_comm_from_group(const Call* call, MPI_Comm made, Text text) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(made, &group);
    uint64_t members = group_hash(group);
    PMPI_Group_free(&group);
    int inter = 0;
    PMPI_Comm_test_inter(made, &inter);
    if (inter) {
        PMPI_Comm_remote_group(made, &group);
        members += group_hash(group);  // the same on both sides
        PMPI_Group_free(&group);
    }
    const uint64_t key = mix(mix(5, text_hash(text)), members);
    define(call, COMM_ID_NULL, made, mix(key, count_key(key)));
}

static void record_pending(const Call* call, MPI_Comm parent, Pending pending) {
    Comm* from = comm_of(parent);
    const uint64_t number = from->children++;
    Comm* info = malloc(sizeof *info);
    Pending* more = realloc(comms.pending, (comms.pending_count + 1) * sizeof *more);
    if (more) comms.pending = more;
    if (!info || !more) {
        free(info);
        return;
    }
    *info = *from;
    info->children = 0;
    const int first = first_member(parent, from->inter);
    if (from->id != COMM_ID_UNKNOWN) info->id = as_id(mix(mix(mix(1, from->id), number), (uint64_t)first));
    pending.info = info;
    pending.begun = call->end;
    comms.pending[comms.pending_count++] = pending;
    record_definition(call, parent, info, from->id);
}

void record_comm_idup(const Call* call, MPI_Comm parent, const MPI_Comm* made, MPI_Request request) {
    record_pending(call, parent, (Pending){.request = request_value(request), .made = made});
}

void record_comm_idup_fortran(const Call* call, MPI_Comm parent, const MPI_Fint* made, MPI_Request request) {
    record_pending(call, parent, (Pending){.request = request_value(request), .made_fortran = made});
}

void comm_completed(uint64_t request, int64_t begin) {
    for (size_t i = 0; i < comms.pending_count; i++) {
        const Pending pending = comms.pending[i];
        if (pending.request != request || pending.begun > begin) continue;
        const MPI_Comm made = pending.made ? *pending.made : PMPI_Comm_f2c(*pending.made_fortran);
        PMPI_Comm_set_attr(made, comms.key, pending.info);
        comm_forget();
        comms.pending[i] = comms.pending[--comms.pending_count];
        return;
    }
}

void record_comm_free(const Call* call, uint64_t id) {
    record_word(call, CALL_COMM_FREE, id);
}
