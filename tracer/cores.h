// The cores that a rank may use, and how busy those of its host are.
#ifndef IDLEWAVE_CORES_H
#define IDLEWAVE_CORES_H

#include <stddef.h>
#include <stdint.h>

enum { CORES_WORDS = 2 + 1024 / 64 };  // at most

// Describes the cores in words: the time for which those of the host were busy, how many it has, and those that the
// calling thread may use, a bit for each. Returns the number of words.
size_t cores_describe(uint64_t words[CORES_WORDS]);

// For how long all cores of the host together were busy since it was started, ns; −1 if the system does not say it.
int64_t cores_busy(void);

#endif
