#include "core_wait.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include) && defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define WATCHABLE 1
#endif
#endif

_Thread_local volatile uint64_t* core_wait_pointer __attribute__((tls_model("initial-exec")));

#ifdef WATCHABLE

// A sequence that no thread ever executes. The kernel demands the signature before the address to which it would jump.
__asm__(
    ".pushsection .text\n"
    ".balign 16\n"
    ".local idlewave_never\n"
    ".local idlewave_never_end\n"
    ".local idlewave_abort\n"
    "idlewave_never: nop\n"
    "nop\n"
    "idlewave_never_end:\n"
#ifdef __x86_64__
    ".long 0x53053053\n"
    "idlewave_abort: ud2\n"
#else
    ".long 0xd428bc00\n"
    "idlewave_abort: brk #1\n"
#endif
    ".popsection\n");
extern const char idlewave_never[] __attribute__((visibility("hidden")));
extern const char idlewave_never_end[] __attribute__((visibility("hidden")));
extern const char idlewave_abort[] __attribute__((visibility("hidden")));

static struct rseq_cs never __attribute__((aligned(32)));
const void* const core_wait_mark = &never;

static _Thread_local struct {
    int file;
    int64_t waited;
} thread = {.file = -1};

// The kernel's count of the time for which the thread waited for a core, ns; −1 if it cannot be read. A kernel that
// does not count says that the thread has never run.
static int64_t waited(void) {
    char text[64];
    const ssize_t size = pread(thread.file, text, sizeof text - 1, 0);
    if (size <= 0) return -1;
    text[size] = '\0';
    unsigned long long ran = 0;
    unsigned long long in_queue = 0;
    unsigned long long times = 0;
    return sscanf(text, "%llu %llu %llu", &ran, &in_queue, &times) == 3 && times > 0 ? (int64_t)in_queue : -1;
}

static void set_mark(void) {
    *core_wait_pointer = (uint64_t)(uintptr_t)core_wait_mark;
}

// Whether the kernel clears the pointer when the thread leaves its core inside a system call, too. Linux before 6.19
// does.
static bool is_cleared_by_sleep(void) {
    set_mark();
    const struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
    return core_wait_entered();
}

// Begins to read how long the calling thread has waited.
static bool read_waits(void) {
    thread.file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (thread.file < 0) return false;
    thread.waited = waited();
    if (thread.waited >= 0) {
        struct rseq* own = (struct rseq*)((char*)__builtin_thread_pointer() + __rseq_offset);
        core_wait_pointer = (volatile uint64_t*)&own->rseq_cs;
        return true;
    }
    close(thread.file);
    return false;
}

// No longer watches the calling thread.
static void stop_watching(void* unused) {
    (void)unused;
    *core_wait_pointer = 0;
    core_wait_pointer = NULL;
    close(thread.file);
}

static bool watchable;
static pthread_key_t key;  // its destructor is called at the end of each further thread that is watched

bool core_wait_watch(void) {
    if (__rseq_size == 0) return false;  // the kernel lacks it, or glibc was told not to register threads
    if (!read_waits()) return false;
    never.start_ip = (uint64_t)(uintptr_t)idlewave_never;
    never.post_commit_offset = (uint64_t)(idlewave_never_end - idlewave_never);
    never.abort_ip = (uint64_t)(uintptr_t)idlewave_abort;
    if (!is_cleared_by_sleep()) {
        stop_watching(NULL);
        return false;
    }
    core_wait_wait();
    watchable = pthread_key_create(&key, stop_watching) == 0;
    return true;
}

void core_wait_watch_another(void) {
    if (!watchable || core_wait_pointer || !read_waits()) return;
    pthread_setspecific(key, &never);  // any value: a destructor is not called for none
    core_wait_wait();
}

int64_t core_wait_wait(void) {
    const int64_t now = waited();
    const int64_t since = now < 0 ? 0 : now - thread.waited;
    if (now >= 0) thread.waited = now;
    set_mark();
    return since;
}

#else

const void* const core_wait_mark = 0;

bool core_wait_watch(void) {
    return false;
}

void core_wait_watch_another(void) {}

int64_t core_wait_wait(void) {
    return 0;
}

#endif
