// The time for which a thread could have run and had no core, without a cost where it had one.
//
// A pointer that the kernel clears when it takes a thread off its core (rseq) shows whether that happened. Only then is
// the time read that the kernel has counted (/proc/thread-self/schedstat).
#ifndef IDLEWAVE_RUN_QUEUE_H
#define IDLEWAVE_RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

// Begins to watch the calling thread. Returns false where a thread cannot be watched.
bool run_queue_watch(void);

// The descriptor whose address is in the calling thread's pointer, and that pointer; NULL: the thread is not watched.
extern const void* const run_queue_mark;
extern _Thread_local volatile uint64_t* run_queue_pointer __attribute__((tls_model("initial-exec")));

// Whether the calling thread may have lost its core since `run_queue_wait` was called.
static inline bool run_queue_entered(void) {
    return run_queue_pointer && *run_queue_pointer != (uint64_t)(uintptr_t)run_queue_mark;
}

// The time in ns for which the calling thread has waited for a core since the last call.
int64_t run_queue_wait(void);

#endif
