#include "file.h"

#include <stdlib.h>

#include "calls.h"
#include "comm.h"
#include "session.h"

// MPI's files have no attributes, so the ids of the open ones are here. Few are open at a time.
typedef struct {
    MPI_File file;
    uint64_t id;
} Open;

static struct {
    Open* open;
    size_t count;
} files;

static void add(MPI_File file, uint64_t id) {
    Open* more = realloc(files.open, (files.count + 1) * sizeof *more);
    if (!more) return;
    files.open = more;
    files.open[files.count++] = (Open){file, id};
}

static uint64_t id_of(MPI_File file) {
    for (size_t i = 0; i < files.count; i++) {
        if (files.open[i].file == file) return files.open[i].id;
    }
    return COMM_ID_UNKNOWN;
}

void record_file_opened(const Call* call, MPI_Comm comm, MPI_File file) {
    const uint64_t id = comm_object_id(comm);
    if (file != MPI_FILE_NULL) add(file, id);  // else it failed here
    uint64_t* words = record_begin(2);
    if (!words) return;
    words[0] = id;
    words[1] = comm_of(comm)->id;
    record_commit(call, CALL_FILE_OPEN, 0, 2);
}

uint64_t file_before_close(MPI_File file) {
    session_lock();
    const uint64_t id = id_of(file);
    for (size_t i = 0; i < files.count; i++) {
        if (files.open[i].file == file) files.open[i--] = files.open[--files.count];
    }
    session_unlock();
    return id;
}

void record_file_closed(const Call* call, uint64_t id) {
    record_word(call, CALL_FILE_CLOSE, id);
}

void record_file(const Call* call, int operation, bool collective, int64_t bytes, MPI_File file, Started started) {
    uint64_t* words = record_begin(4);
    if (!words) return;
    words[0] = id_of(file);
    words[1] = pair(operation, 0);
    words[2] = (uint64_t)bytes;
    words[3] = request_value(started.request);
    record_commit(call, CALL_FILE, collective ? INFO_COLLECTIVE : 0, started.kind == BLOCKING ? 3 : 4);
}
