/* How the processes of one run exchange messages: what the kernel needs, and transport.c implements with MPI. Each
 * function returns 0, or another number if MPI reported an error, which `error_text` then describes. One thread at a
 * time may call.
 */
#ifndef IDLEWAVE_TRANSPORT_H
#define IDLEWAVE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a process contributes to a cut, and what all agree upon: sums, and least values. */
struct idlewave_cut {
    int64_t sum[2];
    int64_t least[4];
};

struct idlewave_transport {
    int32_t process;
    int32_t processes;
    /* Begins to send. The bytes must stay unchanged until `sent` reports that the message of this ticket has left. */
    int (*send)(int32_t to, const void* bytes, size_t size, int32_t* ticket);
    int (*sent)(int32_t ticket, int32_t* done);
    /* Looks for a message: `size` is its size, or -1 if there is none. A message that was found has to be received
     * next. */
    int (*probe)(int64_t* size);
    int (*receive)(void* bytes);
    /* Contributes to a cut, one at a time; and asks whether all processes have contributed. */
    int (*contribute)(const struct idlewave_cut* own);
    int (*completed)(struct idlewave_cut* cut, int32_t* done);
    /* Waits for all processes, and sums `count` numbers over them, in each. */
    int (*sum)(uint64_t* values, int32_t count);
    int (*close)(void);
    /* Ends all processes of the run at once. */
    void (*abort)(int32_t status);
    const char* (*error_text)(void);
};

/* Initialises MPI for several threads of which one at a time calls. Returns null, and a text in `error`, if that fails.
 */
const struct idlewave_transport* idlewave_open_transport(char* error, size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
