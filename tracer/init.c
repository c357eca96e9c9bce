// The wrappers that begin and end tracing, and that of MPI_Pcontrol, by which programs mark their phases.
#include <mpi.h>
#include <string.h>

#include "calls.h"
#include "session.h"

#pragma GCC visibility push(default)

int MPI_Init(int* argc, char*** argv) {
    const int64_t begin = now();
    session_check();
    const int error = PMPI_Init(argc, argv);
    if (error == MPI_SUCCESS) session_start(begin);
    return error;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    const int64_t begin = now();
    session_check();
    const int error = PMPI_Init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS) session_start(begin);
    return error;
}

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
// The level of threads of a session: by its info of MPI 4.1, or of MPI 4.0, else the highest.
static int level_of(MPI_Session session) {
    static const char* const keys[] = {"thread_level", "mpi_thread_support_level"};
    MPI_Info info = MPI_INFO_NULL;
    if (PMPI_Session_get_info(session, &info) != MPI_SUCCESS) return MPI_THREAD_MULTIPLE;
    char name[32] = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !*name; i++) {
        int length = sizeof name;
        int found = 0;
        PMPI_Info_get_string(info, keys[i], &length, name, &found);
        if (!found) *name = '\0';
    }
    PMPI_Info_free(&info);
    if (strcmp(name, "MPI_THREAD_SINGLE") == 0) return MPI_THREAD_SINGLE;
    if (strcmp(name, "MPI_THREAD_FUNNELED") == 0) return MPI_THREAD_FUNNELED;
    return strcmp(name, "MPI_THREAD_SERIALIZED") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* made) {
    const int64_t begin = now();
    session_check();
    const int error = PMPI_Session_init(info, errhandler, made);
    if (error == MPI_SUCCESS) sessions_begin(begin, level_of(*made));
    return error;
}

int MPI_Session_finalize(MPI_Session* ended) {
    sessions_end();
    return PMPI_Session_finalize(ended);
}
#endif

// What follows the level is not passed on: MPI does not define its types, and C has no way to pass on the unknown.
int MPI_Pcontrol(const int level, ...) {
    Call call;
    const bool seen = call_enter(&call);
    const int error = PMPI_Pcontrol(level);
    if (seen) record_pcontrol(&call, error, level);
    return error;
}

int MPI_Finalize(void) {
    Call call;
    session_finish(&call);
    call.error = PMPI_Finalize();
    session_close(&call);
    return call.error;
}
