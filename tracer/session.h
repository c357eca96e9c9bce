// The session from MPI_Init to MPI_Finalize: whether calls are recorded, and the first and last steps of every wrapper.
#ifndef IDLEWAVE_SESSION_H
#define IDLEWAVE_SESSION_H

#include <mpi.h>

#include "record.h"

// Notes the time and returns true if this call is to be recorded: tracing is on, and neither the MPI nor a callback of
// the program makes the call inside another call. If it returns false, no other function of this file may be called.
bool call_enter(Call* call);

// Notes the time and what the call returned, and takes the recording lock. Returns true if the call is to be
// recorded: it succeeded, or at least one of its requests may have.
bool call_leave(Call* call, int error);

// Releases the lock, unless session_unlock has done so. Every call_enter that returned true ends here.
void call_done(void);

// Whether several threads may call MPI at once. If not, no lock is taken.
bool session_has_threads(void);

// The lock for lookups before the call.
void session_lock(void);
void session_unlock(void);

// Call it before the MPI's own MPI_Init. It ends the process with a clear message if the program's MPI is not of the
// kind for which this library was compiled: its handles have another size, so that calls would crash.
void session_check(void);

// The work of MPI_Init (after the MPI's own) and of MPI_Finalize (before and after it).
void session_start(int64_t begin);
void session_finish(Call* call);
void session_close(Call* call);

// The same for the sessions model. Without MPI_Init there is no MPI_COMM_WORLD, whose ranks the trace is of: the tracer
// initialises MPI beside the program's first session, and finalises it before the last one of those that are open ends.
// `level` is the session's level of threads.
void sessions_begin(int64_t begin, int level);
void sessions_end(void);

// Records a call that starts processes or joins others, by its name.
void record_dynamic(const Call* call, const char* name);

// Records MPI_Pcontrol, which the call entered.
void record_pcontrol(Call* call, int error, int level);

// Records MPI_Abort, which does not return.
void record_abort(const Call* call, int code);

#endif
