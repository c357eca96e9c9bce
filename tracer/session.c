#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "calls.h"
#include "clocksync.h"
#include "comm.h"
#include "core_wait.h"
#include "cores.h"
#include "p2p.h"
#include "request.h"
#include "window.h"

static struct {
    volatile bool recording;
    bool started;
    atomic_bool locked;  // true if several threads may call MPI at once
    uint32_t threads;    // how many have called MPI
    ClockRanks clock;
    Header* header;
    int64_t cpu_begin;
    struct rusage usage_begin;
    int64_t busy_end;  // of the host's cores
} session;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The library is preloaded, so its thread-local storage may use the cheap, static model.
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));
// Whether the thread has the lock: it did not take it if the first session of a program of MPI_Init began since.
static _Thread_local bool holding __attribute__((tls_model("initial-exec")));
// The number of the thread, in the order in which their first calls ended, plus one; 0: it has called nothing yet.
static _Thread_local uint32_t thread_number __attribute__((tls_model("initial-exec")));

bool call_enter(Call* call) {
    if (inside || !session.recording) return false;
    inside = true;
    call->begin = now();
    if (thread_number == 0) core_wait_watch_another();
    call->waited = core_wait_entered() ? core_wait_wait() : 0;
    return true;
}

bool session_has_threads(void) {
    return atomic_load_explicit(&session.locked, memory_order_relaxed);
}

void session_lock(void) {
    if (!session_has_threads()) return;
    pthread_mutex_lock(&mutex);
    holding = true;
}

void session_unlock(void) {
    if (!holding) return;
    holding = false;
    pthread_mutex_unlock(&mutex);
}

// Says whose the next records are.
static void record_calling_thread(void) {
    if (thread_number == 0) thread_number = ++session.threads;
    record_thread(thread_number - 1);
}

bool call_leave(Call* call, int error) {
    call->end = now();
    call->error = error;
    // Reading takes time behind the call: it is that of the next record.
    static _Thread_local int64_t reading;
    Waits waits = {.computing = call->waited, .reading = reading};
    reading = 0;
    if (core_wait_entered()) {
        waits.inside = core_wait_wait();
        reading = now() - call->end;
    }
    session_lock();
    if (!session.recording) return false;
    record_calling_thread();
    record_waits(waits);
    return error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS;
}

void call_done(void) {
    session_unlock();
    inside = false;
}

static int64_t cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// When a rank dies, launchers end the remaining ranks by SIGTERM. A rank notes the signal in its file, which
// distinguishes it from the rank that died of itself. Only the default action is replaced, and it is taken afterwards.
static void terminated(int signal_number) {
    if (session.header && session.header->state == STATE_RUNNING) session.header->state = STATE_TERMINATED;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

// The memory of the file is shared with a process that the program forks, whose calls are no rank's.
static void stop_in_child(void) {
    session.recording = false;
    session.header = NULL;
}

static void watch_termination(void) {
    struct sigaction action;
    if (sigaction(SIGTERM, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = terminated;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
}

// The MPI's name and version: the first line of its version text, or its part before a comma, with single blanks.
static void library_name(char library[MPI_MAX_LIBRARY_VERSION_STRING]) {
    int length = 0;
    library[0] = '\0';
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    char* end = library;
    for (const char* c = library; *c; c++) {
        const bool blank = *c == ' ' || *c == '\t';
        if (!blank) {
            *end++ = *c;
        } else if (end > library && end[-1] != ' ') {
            *end++ = ' ';
        }
    }
    *end = '\0';
}

// A level of MPI as the header's number.
static uint32_t thread_level(int level) {
    if (level == MPI_THREAD_MULTIPLE) return 3;
    if (level == MPI_THREAD_SERIALIZED) return 2;
    return level == MPI_THREAD_FUNNELED ? 1 : 0;
}

static void describe(Header* header) {
    gethostname(header->host, sizeof header->host - 1);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    library_name(library);
    memcpy(header->library, library, strnlen(library, sizeof header->library - 1));
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    header->thread_level = thread_level(level);
}

// Several programs that each have rank 0 (two MPIs mixed up, or one started by another MPI's launcher) create the same
// file: all but the first leave a mark, which the launcher explains.
static void mark_conflict(const char* folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/conflict-%ld", folder, (long)getpid());
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) close(file);
}

static bool open_file(const char* folder, int rank, int ranks) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/rank-%07d.iwtrace", folder, rank);
    const int error = record_open(path, (uint32_t)rank, (uint32_t)ranks);
    if (error == 0) return true;
    fprintf(stderr, "idlewave: rank %d of %d: %s cannot be created: %s; the program goes on untraced\n", rank, ranks,
            path, strerror(error));
    if (error == EEXIST && ranks == 1) mark_conflict(folder);
    return false;
}

static const char* trace_folder(void) {
    const char* folder = getenv("IDLEWAVE_TRACE_DIR");
    return folder && *folder ? folder : NULL;
}

void session_check(void) {
#ifdef OPEN_MPI
    const char* expected = "Open MPI";
    const char* other = "MPICH";
#else
    const char* expected = "MPICH";
    const char* other = "Open MPI";
#endif
    const char* folder = trace_folder();
    if (!folder) return;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    library_name(library);
    // Only the other kind of MPI is refused: MPIs derived from MPICH have many names.
    if (!strstr(library, other)) return;
    fprintf(stderr, "idlewave: this program's MPI is %s, but the launcher's, for which the tracer was built, is %s\n",
            library, expected);
    mark_conflict(folder);
    _exit(1);
}

// The time of recording a call: the steps of a wrapper around an empty call, the least of several rounds, because other
// work of the machine only adds time.
static uint64_t calibrate(void) {
    enum { ROUNDS = 20, CALLS = 100 };
    int64_t best = INT64_MAX;
    session.recording = true;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t begin = now();
        for (int i = 0; i < CALLS; i++) {
            Call call;
            if (!call_enter(&call)) continue;
            if (call_leave(&call, MPI_SUCCESS)) record_send(&call, CALL_SEND, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            call_done();
        }
        const int64_t took = now() - begin;
        if (took < best) best = took;
        record_discard();
    }
    session.recording = false;
    return (uint64_t)best * 1000 / CALLS;
}

static int64_t read_clock(const void* context) {
    (void)context;
    return now();
}

static const ClockSource monotonic = {.read = read_clock};

// Whether the program started this process (MPI_Comm_spawn). Its ranks are numbered from 0 again, and would write the
// files of others.
static bool is_spawned(void) {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

// When rank 0 asked for it, ns since 1970: all ranks of a run have the same, and two runs have different ones.
static uint64_t run_id(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t id = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    PMPI_Bcast(&id, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return id;
}

// Reads the cores before init_end, so that the time that this takes counts as MPI_Init. The rank's own times are taken
// last: they begin with its run.
static void record_init(int64_t begin, uint64_t run, unsigned watched) {
    uint64_t* words = record_begin(1 + CORES_WORDS);
    size_t count = 0;
    if (words) {
        words[0] = run;
        count = 1 + cores_describe(words + 1);
    }
    getrusage(RUSAGE_SELF, &session.usage_begin);
    session.cpu_begin = cpu_time();
    session.header->init_end = now();
    if (words) record_commit(&(Call){.begin = begin, .end = session.header->init_end}, CALL_INIT, watched, count);
}

void session_start(int64_t begin) {
    const char* folder = trace_folder();
    if (session.started || !folder || is_spawned()) return;
    int rank = 0;
    int ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    session.started = true;
    thread_number = session.threads = 1;
    session.clock = clock_join(MPI_COMM_WORLD, clock_identity());
    const bool opened = open_file(folder, rank, ranks);
    // All ranks take part, also those without a file.
    const ClockOffset offset = clock_offset(&session.clock, monotonic);
    const uint64_t run = run_id();
    if (!opened) return;

    Header* header = record_header();
    describe(header);
    header->offset_init = offset.offset;
    header->offset_init_error = offset.error;
    header->offset_init_at = offset.at;
    comm_start();
    windows_start();
    for (int kind = 0; kind < SCRATCH_KINDS; kind++) scratch((ScratchKind)kind, 1);
    const unsigned watched = core_wait_watch() ? INFO_CORE_WAIT : 0;
    if (header->thread_level == 3) session.locked = true;
    header->record_cost_ps = calibrate();
    session.header = header;
    watch_termination();
    pthread_atfork(NULL, NULL, stop_in_child);
    record_init(begin, run, watched);
    session.recording = true;
}

void session_finish(Call* call) {
    call->begin = now();
    if (!session.started) return;
    if (session.header) {
        Header* header = session.header;
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        header->finalize_begin = call->begin;
        header->voluntary_switches = (uint64_t)(usage.ru_nvcsw - session.usage_begin.ru_nvcsw);
        header->involuntary_switches = (uint64_t)(usage.ru_nivcsw - session.usage_begin.ru_nivcsw);
        header->cpu_ns = cpu_time() - session.cpu_begin;
        session.busy_end = cores_busy();
    }
    session_lock();
    session.recording = false;
    session_unlock();
    const ClockOffset offset = clock_offset(&session.clock, monotonic);
    clock_part(&session.clock);
    if (!session.header) return;
    session.header->offset_finalize = offset.offset;
    session.header->offset_finalize_error = offset.error;
    session.header->offset_finalize_at = offset.at;
}

void session_close(Call* call) {
    if (!session.header) return;
    call->end = now();
    record_calling_thread();
    record_word(call, CALL_FINALIZE, (uint64_t)session.busy_end);
    session.header->state = STATE_FINALIZED;
    session.header = NULL;
    record_close();
}

// Threads may begin and end sessions at once, whatever their levels.
static pthread_mutex_t sessions_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    int open;
    bool initialised;  // MPI, by the tracer
} sessions;

// Initialises MPI, unless it is. The MPI gets no lower level of threads than the session has.
static void initialise_for_session(int64_t begin, int level) {
    int initialised = 0;
    PMPI_Initialized(&initialised);
    if (initialised) return;
    int provided = MPI_THREAD_SINGLE;
    sessions.initialised = PMPI_Init_thread(NULL, NULL, level, &provided) == MPI_SUCCESS;
    if (sessions.initialised) session_start(begin);
}

void sessions_begin(int64_t begin, int level) {
    pthread_mutex_lock(&sessions_mutex);
    sessions.open++;
    if (trace_folder()) {
        session.locked = true;  // even threads of sessions that have one each may call MPI at once
        initialise_for_session(begin, level);
        Header* header = session.header;
        if (header && header->thread_level < thread_level(level)) header->thread_level = thread_level(level);
    }
    pthread_mutex_unlock(&sessions_mutex);
}

// Finalises MPI, if the tracer has initialised it.
static void finalise_after_sessions(void) {
    if (!sessions.initialised) return;
    sessions.initialised = false;
    Call call;
    session_finish(&call);
    call.error = PMPI_Finalize();
    session_close(&call);
}

void sessions_end(void) {
    pthread_mutex_lock(&sessions_mutex);
    if (--sessions.open == 0) finalise_after_sessions();
    pthread_mutex_unlock(&sessions_mutex);
}

void record_dynamic(const Call* call, const char* name) {
    const size_t words = (strlen(name) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    uint64_t* text = record_begin(words);
    if (!text) return;
    memset(text, 0, words * sizeof *text);
    memcpy(text, name, strlen(name));
    record_commit(call, CALL_UNMODELLED, 0, words);
}

void record_pcontrol(Call* call, int error, int level) {
    if (call_leave(call, error)) record_word(call, CALL_PCONTROL, (uint64_t)(int64_t)level);
    call_done();
}

void record_abort(const Call* call, int code) {
    session_lock();
    record_calling_thread();
    record_word(&(Call){.begin = call->begin, .end = now()}, CALL_ABORT, (uint64_t)(int64_t)code);
    session.header->state = STATE_ABORTED;
    session_unlock();
}
