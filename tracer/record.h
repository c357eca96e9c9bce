// A rank's file: header and records, memory-mapped while it is written.
#ifndef IDLEWAVE_RECORD_H
#define IDLEWAVE_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { STATE_RUNNING = 0, STATE_FINALIZED = 1, STATE_ABORTED = 2, STATE_TERMINATED = 3 };

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint32_t rank;
    uint32_t ranks;
    uint64_t pid;
    int64_t init_end;
    int64_t finalize_begin;
    volatile uint32_t state;
    uint32_t thread_level;
    int64_t offset_init;
    int64_t offset_init_error;
    int64_t offset_init_at;
    int64_t offset_finalize;
    int64_t offset_finalize_error;
    int64_t offset_finalize_at;
    uint64_t lost;
    uint64_t record_cost_ps;
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    int64_t cpu_ns;
    char host[64];
    char library[48];
} Header;

static_assert(sizeof(Header) == 256, "the header of docs/trace-format.md has 256 bytes");

// One call of the program: its begin and end, and what the MPI returned.
typedef struct {
    int64_t begin;
    int64_t end;
    int error;
    int64_t waited;  // ns for which the thread waited for a core since the call before
} Call;

// For how long a thread waited for a core, ns: computing before a call, and inside the call; and how long it took to
// read that.
typedef struct {
    int64_t computing;
    int64_t inside;
    int64_t reading;
} Waits;

// CLOCK_MONOTONIC, ns.
static inline int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// A pair of the format, in one word.
static inline uint64_t pair(int low, int high) {
    return (uint64_t)(uint32_t)low | ((uint64_t)(uint32_t)high << 32);
}

// Creates the file (never over an existing one) and maps its header and first chunk. Returns 0 or an errno.
int record_open(const char* path, uint32_t rank, uint32_t ranks);

// The header, mapped until record_close; NULL if there is no file.
Header* record_header(void);

// Returns room for a record of at most `words` words, or NULL if the disk is full (the record then counts as lost).
uint64_t* record_begin(size_t words);

// Writes the record that record_begin began, with `words` words.
void record_commit(const Call* call, unsigned id, unsigned info, size_t words);

// Says which thread makes the next records. If another one made those before, a record says so. The first are those of
// thread 0.
void record_thread(uint32_t thread);

// Adds waits for a core, of the thread that makes the records. The next record is preceded by one with all those since
// the record before.
void record_waits(Waits waits);

// No time at the end of the last record, which is later than that of the call if the thread waited for another's
// record: for the further records of a call, of which only the first has its time.
Call record_at_end(const Call* call);

// Records a call with one word.
void record_word(const Call* call, unsigned id, uint64_t word);

// Counts an unsuccessful test or probe in the Polls record at the end of the file, or begins one.
void record_poll(const Call* call);

// Removes all records. They must lie in the first chunk.
void record_discard(void);

// Cuts the file behind its last record and closes it.
void record_close(void);

#endif
