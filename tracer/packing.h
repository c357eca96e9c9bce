// Packs records into a few bytes each, as docs/trace-format.md describes.
//
// Programs repeat themselves: a loop makes the same calls with the same arguments again and again. Such a call is
// stored once. When it is made again, its record has the number of the stored one, or not even that, if it follows the
// same call as the last time; what remains are its times.
#ifndef IDLEWAVE_PACKING_H
#define IDLEWAVE_PACKING_H

#include <stddef.h>
#include <stdint.h>

// What a record has apart from its times.
typedef struct {
    unsigned call;
    unsigned info;
    size_t count;  // of words
    const uint64_t* words;
} Content;

// Forgets all records that are stored: the next one is the first of a file.
void packing_start(void);

// The most bytes that a record of `count` words takes, and those behind it over which its last word is written.
size_t packing_room(size_t count);

// Writes a record to `at`, which has this room, all of it zero. `gap` is the time from the end of the record before to
// the begin of this one, ns. Its first byte, without which it is no record, is written last. Returns its size.
size_t packing_write(char* at, Content content, int64_t gap, int64_t duration);

#endif
