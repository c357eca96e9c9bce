// Request handles as numbers in the trace, persistent requests, and scratch arrays for requests that complete together.
#ifndef IDLEWAVE_REQUEST_H
#define IDLEWAVE_REQUEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A handle (a pointer in Open MPI, an int in MPICH) as its number in the trace.
static inline uint64_t request_value(MPI_Request request) {
    uint64_t value = 0;
    memcpy(&value, &request, sizeof request);
    return value;
}

static inline uint64_t message_value(MPI_Message message) {
    uint64_t value = 0;
    memcpy(&value, &message, sizeof message);
    return value;
}

// The request that a call made: none of a blocking call, and one that is used once or again and again (persistent).
typedef struct {
    enum { BLOCKING, NONBLOCKING, PERSISTENT } kind;
    MPI_Request request;
} Started;

// Scratch memory of the calling thread, one block for each purpose. A block grows only for a size larger than all
// before; otherwise it is reused, so that calls do not allocate. NULL if memory is short.
typedef enum { SCRATCH_HANDLES, SCRATCH_STATUSES, SCRATCH_FORTRAN_STATUSES, SCRATCH_KINDS } ScratchKind;
void* scratch(ScratchKind kind, size_t bytes);

// The values of n handles, taken before a call replaces them by MPI_REQUEST_NULL. NULL if memory is short.
const uint64_t* request_values(int n, const MPI_Request* requests);

// Statuses to pass for MPI_STATUSES_IGNORE; MPI_STATUSES_IGNORE itself if memory is short.
MPI_Status* status_scratch(int n);

// The states of persistent requests: they complete more than once, and a wait for an inactive one is allowed and
// completes nothing. Of a handle that several threads had as requests, one after the other, a call that began at
// `begin` means the last one that was `made` before: the MPI may give a completed one to another thread before its wait
// is recorded.
void persistent_add(uint64_t request, int64_t made);
void persistent_start(uint64_t request, int64_t begin);
void persistent_remove(uint64_t request, int64_t begin);

// Says that the status with which `request` completes has no meaning. It must not be persistent.
void status_means_nothing(uint64_t request, int64_t made);

// True unless `request` is an inactive persistent request; an active one becomes inactive. Sets whether its status has
// a meaning.
bool request_completes(uint64_t request, int64_t begin, bool* has_status);

#endif
