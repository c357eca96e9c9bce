// Lookups of wrappers before a call.
#ifndef IDLEWAVE_LOOKUP_H
#define IDLEWAVE_LOOKUP_H

#include "comm.h"
#include "session.h"

// The id of a communicator that is about to be freed.
static inline uint64_t freed_comm(MPI_Comm comm) {
    session_lock();
    const uint64_t id = comm == MPI_COMM_NULL ? 0 : comm_of(comm)->id;
    comm_forget();
    session_unlock();
    return id;
}

#endif
