// The wrappers that begin and end tracing, and that of MPI_Pcontrol, by which programs mark their phases.
#include <mpi.h>

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
int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* made) {
    const int64_t begin = now();
    session_check();
    const int error = PMPI_Session_init(info, errhandler, made);
    if (error == MPI_SUCCESS) sessions_begin(begin);
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
