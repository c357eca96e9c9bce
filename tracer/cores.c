#include "cores.h"

#include <assert.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static_assert(CORES_WORDS == 2 + CPU_SETSIZE / 64, "a bit for each core of a cpu_set_t");

int64_t cores_busy(void) {
    const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    char text[256];
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return -1;
    text[size] = '\0';
    unsigned long long user, nice, system, idle, waiting, irq, softirq;
    const char* line = "cpu %llu %llu %llu %llu %llu %llu %llu";
    if (sscanf(text, line, &user, &nice, &system, &idle, &waiting, &irq, &softirq) != 7) return -1;
    const long ticks_per_second = sysconf(_SC_CLK_TCK);
    if (ticks_per_second <= 0) return -1;
    return (int64_t)((user + nice + system + irq + softirq) * (1000000000 / (uint64_t)ticks_per_second));
}

size_t cores_describe(uint64_t words[CORES_WORDS]) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    words[0] = (uint64_t)cores_busy();
    words[1] = online > 0 ? (uint64_t)online : 0;
    cpu_set_t usable;
    size_t count = 2;
    // Of a host with more than CPU_SETSIZE cores it is not known which of them the rank may use.
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return count;
    memset(words + count, 0, (CORES_WORDS - count) * sizeof *words);
    for (unsigned core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &usable)) continue;
        words[2 + core / 64] |= UINT64_C(1) << core % 64;
        count = 3 + core / 64;
    }
    return count;
}
