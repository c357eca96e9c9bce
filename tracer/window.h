// The records of one-sided communication. Call these functions between call_leave and call_done.
#ifndef IDLEWAVE_WINDOW_H
#define IDLEWAVE_WINDOW_H

#include <mpi.h>

#include "record.h"
#include "request.h"

// Creates the attribute's key. Call it once, after MPI_Init.
void windows_start(void);

// Records that `window` was made, in the way WINDOW_..., from `comm`.
void record_window_made(const Call* call, int kind, MPI_Comm comm, MPI_Win window);

// The id of a window that is about to be freed, and the record of the call that freed it.
uint64_t window_before_free(MPI_Win window);
void record_window_freed(const Call* call, uint64_t id);

// A put, get or accumulate: bytes to and from the target.
void record_one_sided(const Call* call, int operation, int target, int64_t to_target, int64_t from_target,
                      MPI_Win window, Started started);

// Synchronisation: a call that names only the window, one with a group of its ranks, and one of passive targets.
void record_window(const Call* call, unsigned id, MPI_Win window);
void record_window_group(const Call* call, unsigned id, MPI_Group group, MPI_Win window);
enum { EVERY_RANK = -1000 };  // of the window, as a target
void record_passive_target(const Call* call, int step, int target, MPI_Win window);

#endif
