// Request handles as the trace names them, persistent requests, and scratch arrays for what completes
// together.
#ifndef IDLEWAVE_REQUEST_H
#define IDLEWAVE_REQUEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A handle (a pointer in Open MPI, an int in MPICH) as the number that stands for it in the trace.
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

// Scratch memory of the calling thread, one block for each purpose. It grows when more is asked for than ever
// before, and is else reused, so that calls do not allocate. NULL when memory is short.
typedef enum { SCRATCH_HANDLES, SCRATCH_STATUSES, SCRATCH_FORTRAN_STATUSES, SCRATCH_KINDS } ScratchKind;
void* scratch(ScratchKind kind, size_t bytes);

// The values of n handles, taken before a call replaces them by MPI_REQUEST_NULL. NULL when memory is short.
const uint64_t* request_values(int n, const MPI_Request* requests);

// Statuses to pass for MPI_STATUSES_IGNORE; MPI_STATUSES_IGNORE itself when memory is short.
MPI_Status* status_scratch(int n);

// Persistent requests complete more than once, and waiting for an inactive one is allowed and completes
// nothing: they are told apart here.
void persistent_add(uint64_t request);
void persistent_start(uint64_t request);
void persistent_remove(uint64_t request);

// True unless `request` is an inactive persistent request; an active one becomes inactive.
bool request_completes(uint64_t request);

#endif
