// Records are written directly to a shared mapping of the file: they survive the process, however it dies. The mapping
// is a window of one chunk. Space for a chunk is allocated on disk before it is mapped (otherwise a full disk would
// cause a SIGBUS in the program), and touched at once (otherwise every 4 KiB would cause a page fault in the middle of
// the program).
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "calls.h"
#include "packing.h"

enum { CHUNK = 4 << 20 };

// Polls without another record between them, which become one record: it is written again with each.
typedef struct {
    size_t position;  // where in the file that record begins; 0: the last record is another one
    int64_t before;   // the end of the record before
    int64_t begin;
    uint64_t words[2];  // how many there are, and the time inside them
} Polls;

typedef struct {
    Header* header;   // its own mapping of the first page
    char* window;     // the chunk that is being written
    size_t offset;    // where the window begins in the file
    size_t length;    // of the window
    size_t size;      // of the file
    size_t position;  // where in the file the next record begins
    Polls polls;
    uint64_t* words;  // of the record that is begun
    size_t room;      // for words
    int64_t last_end;
    Waits waits;      // since the last record
    uint32_t thread;  // that made the last record
    Call growth;      // the time that the last growth took, to be recorded behind the record that caused it
    bool full;
    int file;
    char path[PATH_MAX];
} File;

static File file = {.file = -1};

// Writes an error to the file that the launcher has made for it, if there is one: a full disk has no room for a new
// file. If several ranks write, the last error remains.
static void leave_word(const char* path, uint32_t rank, int error) {
    char name[PATH_MAX];
    const char* slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) : 0;
    if (snprintf(name, sizeof name, "%.*s/failure", folder, path) >= (int)sizeof name) return;
    const int words = open(name, O_WRONLY | O_CLOEXEC);
    if (words < 0) return;
    const int32_t said[2] = {error, (int32_t)rank};
    const ssize_t written = pwrite(words, said, sizeof said, 0);
    (void)written;
    close(words);
}

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void touch(char* memory, size_t length, size_t page) {
#ifdef MADV_POPULATE_WRITE
    if (madvise(memory, length, MADV_POPULATE_WRITE) == 0) return;
#endif
    for (size_t i = 0; i < length; i += page) {
        volatile char* byte = memory + i;
        *byte = *byte;
    }
}

// Extends the file by zeroes. They are written, and not only allocated, because it is cheap to touch a page that is in
// the page cache already: 4 MiB take 0.9 ms on ext4, against 5 ms with posix_fallocate alone.
static bool extend(size_t size) {
    static char zeroes[256 << 10];
    const size_t more = size - file.size;
    // Beyond the limit of the file size the system would send the program a signal.
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    // If a file system cannot allocate ahead, the write below fails without space.
    if (fallocate(file.file, 0, (off_t)file.size, (off_t)more) != 0 && errno != EOPNOTSUPP) return false;
    while (file.size < size) {
        const size_t rest = size - file.size;
        const size_t part = rest < sizeof zeroes ? rest : sizeof zeroes;
        const ssize_t written = pwrite(file.file, zeroes, part, (off_t)file.size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        file.size += (size_t)written;
    }
    return true;
}

// Moves the window so that `bytes` more fit behind the position.
static bool map_window(size_t bytes) {
    const size_t page = page_size();
    const size_t offset = file.position / page * page;
    const size_t chunks = (file.position + bytes - file.size + CHUNK - 1) / CHUNK;
    if (!extend(file.size + chunks * CHUNK)) return false;
    const size_t length = file.size - offset;
    char* mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.file, (off_t)offset);
    if (mapped == MAP_FAILED) return false;
    touch(mapped, length, page);
    if (file.window) munmap(file.window, file.length);
    file.window = mapped;
    file.offset = offset;
    file.length = length;
    file.polls.position = 0;
    return true;
}

// Creates the file and maps its first chunk and its header. Returns 0 or an errno.
static int open_mapped(const char* path) {
    file.file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.file < 0) return errno;
    snprintf(file.path, sizeof file.path, "%s", path);
    if (map_window(CHUNK)) {
        void* first = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, file.file, 0);
        if (first != MAP_FAILED) {
            file.header = first;
            return 0;
        }
    }
    const int error = errno;
    close(file.file);
    unlink(path);
    return error;
}

int record_open(const char* path, uint32_t rank, uint32_t ranks) {
    const int error = open_mapped(path);
    if (error != 0) {
        if (error != EEXIST) leave_word(path, rank, error);
        return error;
    }
    *file.header = (Header){.version = 2, .header_bytes = sizeof(Header), .rank = rank, .ranks = ranks};
    file.header->pid = (uint64_t)getpid();
    memcpy(file.header->magic, "IDLEWTR1", sizeof file.header->magic);
    file.position = sizeof(Header);
    packing_start();
    return 0;
}

Header* record_header(void) {
    return file.header;
}

static bool grow(size_t bytes) {
    const int64_t begin = now();
    file.full = !map_window(bytes);
    if (file.full) leave_word(file.path, file.header->rank, errno);
    file.growth = (Call){.begin = begin, .end = now()};
    return !file.full;
}

// A reader may find the file at any instant: the first byte of a record is written last.
static void publish(int64_t begin, int64_t end, unsigned id, unsigned info, const uint64_t* words, size_t count) {
    const Content content = {.call = id, .info = info, .count = count, .words = words};
    char* at = file.window + (file.position - file.offset);
    file.position += packing_write(at, content, begin - file.last_end, end - begin);
    file.last_end = end;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

void record_waits(Waits waits) {
    file.waits.computing += waits.computing;
    file.waits.inside += waits.inside;
    file.waits.reading += waits.reading;
}

enum { WAIT_WORDS = 3 };

static void publish_waits(void) {
    const Waits waits = file.waits;
    if (waits.computing == 0 && waits.inside == 0 && waits.reading == 0) return;
    const uint64_t words[WAIT_WORDS] = {(uint64_t)waits.computing, (uint64_t)waits.inside, (uint64_t)waits.reading};
    publish(file.last_end, file.last_end, CALL_CORE_WAIT, 0, words, WAIT_WORDS);
    file.waits = (Waits){0};
    file.polls.position = 0;  // further polls would be written over this record
}

// Whether a record of `count` words fits, with the two others that it may bring: waits, and the time of growth.
static bool has_room(size_t count) {
    const size_t bytes = packing_room(WAIT_WORDS) + packing_room(count) + packing_room(0);
    return !file.full && (file.offset + file.length - file.position >= bytes || grow(bytes));
}

static bool has_words(size_t count) {
    if (count <= file.room) return true;
    uint64_t* words = realloc(file.words, count * sizeof *words);
    if (!words) return false;
    file.words = words;
    file.room = count;
    return true;
}

uint64_t* record_begin(size_t words) {
    if (!has_words(words) || !has_room(words)) {
        file.header->lost++;
        return NULL;
    }
    publish_waits();
    return file.words;
}

void record_commit(const Call* call, unsigned id, unsigned info, size_t words) {
    publish(call->begin, later(file.last_end, call->end), id, info, file.words, words);
    file.polls.position = 0;
    if (file.growth.end == 0) return;
    publish(later(call->end, file.growth.begin), later(file.last_end, file.growth.end), CALL_TRACER, 0, file.words, 0);
    file.growth.end = 0;
}

Call record_at_end(const Call* call) {
    const int64_t end = later(file.last_end, call->end);
    return (Call){.begin = end, .end = end, .error = call->error};
}

void record_word(const Call* call, unsigned id, uint64_t word) {
    uint64_t* words = record_begin(1);
    if (!words) return;
    words[0] = word;
    record_commit(call, id, 0, 1);
}

void record_thread(uint32_t thread) {
    if (thread == file.thread) return;
    uint64_t* words = record_begin(1);  // which writes the waits of the thread before
    if (!words) return;
    words[0] = thread;
    record_commit(&(Call){.begin = file.last_end, .end = file.last_end}, CALL_THREAD, 0, 1);
    file.thread = thread;
}

// Writes the record of polls, over the one that has fewer of them.
static void publish_polls(int64_t end) {
    char* at = file.window + (file.polls.position - file.offset);
    *(volatile char*)at = 0;  // first of all, as it is no record while it is written
    memset(at, 0, file.position - file.polls.position);
    file.position = file.polls.position;
    file.last_end = file.polls.before;
    publish(file.polls.begin, end, CALL_POLLS, 0, file.polls.words, 2);
}

void record_poll(const Call* call) {
    const uint64_t inside = (uint64_t)(call->end - call->begin);
    if (file.polls.position == 0) {
        uint64_t* words = record_begin(2);
        if (!words) return;
        const Polls polls = {file.position, file.last_end, call->begin, {1, inside}};
        words[0] = 1;
        words[1] = inside;
        const bool grew = file.growth.end != 0;
        record_commit(call, CALL_POLLS, 0, 2);
        if (!grew) file.polls = polls;
    } else {  // the room for the first one is enough for all
        file.polls.words[0] += 1;
        file.polls.words[1] += inside;
        publish_polls(later(file.last_end, call->end));
    }
}

void record_discard(void) {
    memset(file.window + (sizeof(Header) - file.offset), 0, file.position - sizeof(Header));
    file.position = sizeof(Header);
    file.last_end = 0;
    file.polls.position = 0;
    file.waits = (Waits){0};
    file.thread = 0;
    packing_start();
}

void record_close(void) {
    munmap(file.window, file.length);
    munmap(file.header, page_size());
    // If the truncation fails, zeroes remain behind the last record, which the format allows.
    const int cut = ftruncate(file.file, (off_t)file.position);
    (void)cut;
    close(file.file);
    free(file.words);
    file = (File){.file = -1};
}
