// The cores that a rank may use, and how busy those of its host are.
#ifndef IDLEWAVE_CORES_H
#define IDLEWAVE_CORES_H

#include <stddef.h>
#include <stdint.h>

// The words that cores_describe writes at most: two numbers, and a bit for each of CPU_SETSIZE cores.
enum { CORES_WORDS = 2 + 1024 / 64 };

// Writes for how long the host's cores were busy (words[0], as cores_busy), how many cores the host has (words[1]; 0:
// not known), and a bit for each core that the calling thread may use. Returns the number of words.
size_t cores_describe(uint64_t words[CORES_WORDS]);

// For how long all cores of the host together were busy since it was started, ns; −1 if the system does not say it.
int64_t cores_busy(void);

#endif
