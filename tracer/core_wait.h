// The time for which a thread could have run and had no core, without a cost where it had one.
//
// A pointer that the kernel clears when it takes a thread off its core (rseq) shows whether that happened. Only then is
// the time read that the kernel has counted (/proc/thread-self/schedstat).
#ifndef IDLEWAVE_CORE_WAIT_H
#define IDLEWAVE_CORE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

// Begins to watch the calling thread. Returns false where a thread cannot be watched.
bool core_wait_watch(void);

// Begins to watch another thread, which calls it, until it ends. Nothing happens where the first one is not watched.
void core_wait_watch_another(void);

// The descriptor whose address is in the calling thread's pointer, and that pointer; NULL: the thread is not watched.
extern const void* const core_wait_mark;
extern _Thread_local volatile uint64_t* core_wait_pointer __attribute__((tls_model("initial-exec")));

// Whether the calling thread may have lost its core since `core_wait_wait` was called.
static inline bool core_wait_entered(void) {
    return core_wait_pointer && *core_wait_pointer != (uint64_t)(uintptr_t)core_wait_mark;
}

// The time in ns for which the calling thread has waited for a core since the last call.
int64_t core_wait_wait(void);

#endif
