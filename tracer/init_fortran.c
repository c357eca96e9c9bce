// The wrappers that begin and end tracing, and that of MPI_Pcontrol, for Fortran under Open MPI, whose Fortran library
// does not call the C symbols. There are two kinds of names: those of mpif.h and `use mpi`, and those of `use mpi_f08`.
#include <mpi.h>

#include "fortran.h"
#include "session.h"

typedef void (*Init)(MPI_Fint*);
typedef void (*InitThread)(MPI_Fint*, MPI_Fint*, MPI_Fint*);

#pragma GCC visibility push(default)

void pmpi_init_(MPI_Fint* ierror) __attribute__((weak));
void pmpi_init_f08_(MPI_Fint* ierror) __attribute__((weak));
void pmpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) __attribute__((weak));
void pmpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) __attribute__((weak));
void pmpi_pcontrol_(MPI_Fint* level) __attribute__((weak));
void pmpi_pcontrol_f08_(MPI_Fint* level) __attribute__((weak));
void pmpi_finalize_(MPI_Fint* ierror) __attribute__((weak));
void pmpi_finalize_f08_(MPI_Fint* ierror) __attribute__((weak));

void mpi_init_(MPI_Fint* ierror);
void mpi_init_f08_(MPI_Fint* ierror);
void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror);
void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror);
void mpi_pcontrol_(MPI_Fint* level);
void mpi_pcontrol_f08_(MPI_Fint* level);
void mpi_finalize_(MPI_Fint* ierror);
void mpi_finalize_f08_(MPI_Fint* ierror);

static void initialise(Init init, MPI_Fint* ierror) {
    const int64_t begin = now();
    session_check();
    init(ierror);
    if (fortran_error(ierror) == MPI_SUCCESS) session_start(begin);
}

static void initialise_thread(InitThread init, MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
    const int64_t begin = now();
    session_check();
    init(required, provided, ierror);
    if (fortran_error(ierror) == MPI_SUCCESS) session_start(begin);
}

static void control(void (*pcontrol)(MPI_Fint*), MPI_Fint* level) {
    Call call;
    const bool seen = call_enter(&call);
    pcontrol(level);
    if (seen) record_pcontrol(&call, MPI_SUCCESS, *level);
}

static void finalise(Init finalize, MPI_Fint* ierror) {
    Call call;
    session_finish(&call);
    finalize(ierror);
    session_close(&call);
}

void mpi_init_(MPI_Fint* ierror) {
    initialise(pmpi_init_, ierror);
}
void mpi_init_f08_(MPI_Fint* ierror) {
    initialise(pmpi_init_f08_, ierror);
}
void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
    initialise_thread(pmpi_init_thread_, required, provided, ierror);
}
void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
    initialise_thread(pmpi_init_thread_f08_, required, provided, ierror);
}
void mpi_pcontrol_(MPI_Fint* level) {
    control(pmpi_pcontrol_, level);
}
void mpi_pcontrol_f08_(MPI_Fint* level) {
    control(pmpi_pcontrol_f08_, level);
}
void mpi_finalize_(MPI_Fint* ierror) {
    finalise(pmpi_finalize_, ierror);
}
void mpi_finalize_f08_(MPI_Fint* ierror) {
    finalise(pmpi_finalize_f08_, ierror);
}
