/* How processes of one run tell each other things: what the kernel asks for, and wire.c does by MPI. All functions
 * return 0, or another number if MPI reported an error, whose text `error_text` then is. One thread at a time may call.
 */
#ifndef IDLEWAVE_WIRE_H
#define IDLEWAVE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all agree upon: sums, and least values. */
struct idlewave_cut {
    int64_t sum[2];
    int64_t least[4];
};

struct idlewave_wire {
    int32_t process;
    int32_t processes;
    /* Begins to send; the bytes must stay as they are until `sent` says of the ticket that they have left. */
    int (*send)(int32_t to, const void* bytes, size_t size, int32_t* ticket);
    int (*sent)(int32_t ticket, int32_t* done);
    /* Looks for a message: its size, or -1 if there is none. One that was found has to be received next. */
    int (*probe)(int64_t* size);
    int (*receive)(void* bytes);
    /* Begins a cut; and asks whether all processes have. One at a time. */
    int (*contribute)(const struct idlewave_cut* mine);
    int (*agreed)(struct idlewave_cut* cut, int32_t* done);
    /* Waits for all processes; the sums of so many numbers, to each. */
    int (*sum)(uint64_t* values, int32_t count);
    int (*close)(void);
    /* Ends all processes of the run at once. */
    void (*abort)(int32_t status);
    const char* (*error_text)(void);
};

/* Begins MPI, for several threads of which one at a time calls. Null, and a text in `error`, if that fails. */
const struct idlewave_wire* idlewave_open_wire(char* error, size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
