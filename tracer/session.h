// From MPI_Init to MPI_Finalize: whether calls are recorded, and what every wrapper does first and last.
#ifndef IDLEWAVE_SESSION_H
#define IDLEWAVE_SESSION_H

#include <mpi.h>

#include "record.h"

// Notes the time and returns true if this call is to be recorded: tracing is on, and the call is not one that
// the MPI (or a callback of the program) makes inside another. If false, nothing else of this page may be
// called.
bool call_enter(Call* call);

// Notes the time and what the call returned, and takes the recording lock. Returns true if the call is to be
// recorded: it succeeded, or at least one of its requests may have.
bool call_leave(Call* call, int error);

// Gives the lock back. Every call_enter that returned true ends here.
void call_done(void);

// For what has to be looked up before the call.
void session_lock(void);
void session_unlock(void);

// To be called before the MPI's own MPI_Init. Ends the process with a clear line if the program's MPI is not
// of the kind that this library was compiled for: its handles have another size, so that passing calls on
// would crash.
void session_check(void);

// The work of MPI_Init (after the MPI's own) and of MPI_Finalize (before and after it).
void session_start(int64_t begin);
void session_finish(Call* call);
void session_close(Call* call);

// Records MPI_Abort, which does not return.
void record_abort(const Call* call, int code);

#endif
