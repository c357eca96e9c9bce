#include "window.h"

#include <stdlib.h>

#include "calls.h"
#include "comm.h"
#include "session.h"

static struct {
    int key;
    MPI_Win last;  // the handle of the last lookup, and its result
    uint64_t last_id;
} windows;

static void forget(void) {
    windows.last = MPI_WIN_NULL;
    windows.last_id = COMM_ID_UNKNOWN;
}

static int free_id(MPI_Win window, int key, void* id, void* extra) {
    (void)window;
    (void)key;
    (void)extra;
    free(id);
    return MPI_SUCCESS;
}

void windows_start(void) {
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_id, &windows.key, NULL);
    forget();
}

static uint64_t id_of(MPI_Win window) {
    if (window == windows.last) return windows.last_id;
    uint64_t* found = NULL;
    int there = 0;
    PMPI_Win_get_attr(window, windows.key, &found, &there);
    windows.last = window;
    windows.last_id = there ? *found : COMM_ID_UNKNOWN;
    return windows.last_id;
}

void record_window_made(const Call* call, int kind, MPI_Comm comm, MPI_Win window) {
    const uint64_t id = comm_object_id(comm);
    uint64_t* attribute = malloc(sizeof *attribute);
    if (attribute) {
        *attribute = id;
        PMPI_Win_set_attr(window, windows.key, attribute);
    }
    uint64_t* words = record_begin(3);
    if (!words) return;
    words[0] = id;
    words[1] = comm_of(comm)->id;
    words[2] = pair(kind, 0);
    record_commit(call, CALL_WINDOW, 0, 3);
}

uint64_t window_before_free(MPI_Win window) {
    session_lock();
    const uint64_t id = window == MPI_WIN_NULL ? COMM_ID_UNKNOWN : id_of(window);
    forget();
    session_unlock();
    return id;
}

void record_window_freed(const Call* call, uint64_t id) {
    record_word(call, CALL_WINDOW_FREE, id);
}

void record_window(const Call* call, unsigned id, MPI_Win window) {
    record_word(call, id, id_of(window));
}

static int target_of(int target) {
    if (target == EVERY_RANK) return RANK_ANY;
    return target == MPI_PROC_NULL ? RANK_PROC_NULL : target;
}

void record_one_sided(const Call* call, int operation, int target, int64_t to_target, int64_t from_target,
                      MPI_Win window, Started started) {
    uint64_t* words = record_begin(5);
    if (!words) return;
    words[0] = id_of(window);
    words[1] = pair(target_of(target), operation);
    words[2] = (uint64_t)to_target;
    words[3] = (uint64_t)from_target;
    words[4] = request_value(started.request);
    record_commit(call, CALL_ONE_SIDED, 0, started.kind == BLOCKING ? 4 : 5);
}

void record_window_group(const Call* call, unsigned id, MPI_Group group, MPI_Win window) {
    int size = 0;
    PMPI_Group_size(group, &size);
    const size_t listed = ((size_t)size + 1) / 2;
    int* own = calloc((size_t)size + 1, sizeof *own);
    uint64_t* words = own ? record_begin(2 + listed) : NULL;
    if (words) {
        MPI_Group all = MPI_GROUP_NULL;
        PMPI_Win_get_group(window, &all);
        for (int i = 0; i < size; i++) own[i] = i;
        words[0] = id_of(window);
        words[1] = (uint64_t)size;
        if (listed > 0) words[1 + listed] = 0;
        PMPI_Group_translate_ranks(group, size, own, all, (int*)(words + 2));
        PMPI_Group_free(&all);
        record_commit(call, id, 0, 2 + listed);
    }
    free(own);
}

void record_passive_target(const Call* call, int step, int target, MPI_Win window) {
    uint64_t* words = record_begin(2);
    if (!words) return;
    words[0] = id_of(window);
    words[1] = pair(target_of(target), step);
    record_commit(call, CALL_PASSIVE_TARGET, 0, 2);
}
