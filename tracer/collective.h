// The records of collectives. docs/trace-format.md has the meaning of the two sizes for each. Call these functions
// between call_leave and call_done.
#ifndef IDLEWAVE_COLLECTIVE_H
#define IDLEWAVE_COLLECTIVE_H

#include <mpi.h>

#include "fint.h"
#include "record.h"
#include "request.h"

// A list of counts, as int or (large-count functions) as MPI_Count.
typedef struct {
    const int* narrow;
    const MPI_Count* wide;
} Counts;

static inline Counts narrow(const int* counts) {
    return (Counts){.narrow = counts};
}
static inline Counts wide(const MPI_Count* counts) {
    return (Counts){.wide = counts};
}

// A list of datatypes, as C or Fortran handles.
typedef struct {
    const MPI_Datatype* c;
    const MPI_Fint* fortran;
} Types;

static inline Types c_types(const MPI_Datatype* types) {
    return (Types){.c = types};
}
static inline Types fortran_types(const MPI_Fint* types) {
    return (Types){.fortran = types};
}

// Counts of elements, with one datatype for all or one for each.
typedef struct {
    Counts counts;
    MPI_Datatype type;
    Types types;
} Parts;

static inline Parts parts_of(Counts counts, MPI_Datatype type) {
    return (Parts){.counts = counts, .type = type};
}
static inline Parts mixed_parts(Counts counts, Types types) {
    return (Parts){.counts = counts, .types = types};
}

// The value of `root` for a collective without a root.
enum { NO_ROOT = -1000 };

void record_barrier(const Call* call, MPI_Comm comm, Started started);

// Bcast, Reduce, Allreduce, Scan, Exscan.
void record_vector(const Call* call, unsigned c, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm,
                   Started started);

void record_gather(const Call* call, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, int64_t recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm, Started started);
void record_gatherv(const Call* call, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype, Counts recvcounts,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, Started started);
void record_scatter(const Call* call, int64_t sendcount, MPI_Datatype sendtype, int64_t recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm, Started started);
void record_scatterv(const Call* call, Counts sendcounts, MPI_Datatype sendtype, const void* recvbuf, int64_t recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, Started started);

// Allgather and Alltoall: one part sent and one received, for each peer.
void record_parts(const Call* call, unsigned c, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                  int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm, Started started);
void record_allgatherv(const Call* call, const void* sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                       Counts recvcounts, MPI_Datatype recvtype, MPI_Comm comm, Started started);

// Alltoallv and Alltoallw.
void record_exchange(const Call* call, unsigned c, const void* sendbuf, Parts sent, Parts received, MPI_Comm comm,
                     Started started);

void record_reduce_scatter(const Call* call, Counts recvcounts, MPI_Datatype datatype, MPI_Comm comm, Started started);
void record_reduce_scatter_block(const Call* call, int64_t recvcount, MPI_Datatype datatype, MPI_Comm comm,
                                 Started started);

// Neighbourhood collectives, with the same amount to (or from) each neighbour on the sending or the receiving side, or
// with different amounts.
void record_neighbor(const Call* call, int64_t part_sent, int64_t part_received, MPI_Comm comm, Started started);
void record_neighbor_gatherv(const Call* call, int64_t part_sent, Parts received, MPI_Comm comm, Started started);
void record_neighbor_exchange(const Call* call, Parts sent, Parts received, MPI_Comm comm, Started started);

#endif
