#include "fortran.h"

#include <string.h>

#include "request.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's default INTEGER has the size of int");

// Open MPI's Fortran constants are common blocks, recognised by their addresses. The names are those that gfortran,
// flang, ifort and nvfortran give them. The symbols are weak, because they exist only if a Fortran program or library
// is loaded.
extern MPI_Fint mpi_fortran_in_place_ __attribute__((weak));
extern MPI_Fint mpi_fortran_status_ignore_ __attribute__((weak));
extern MPI_Fint mpi_fortran_statuses_ignore_ __attribute__((weak));

bool fortran_ignored(const MPI_Fint* status) {
    return status == &mpi_fortran_status_ignore_ || status == &mpi_fortran_statuses_ignore_ ||
           status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE;
}

const void* fortran_buffer(const void* buffer) {
    return buffer == &mpi_fortran_in_place_ ? MPI_IN_PLACE : buffer;
}

MPI_Status fortran_status(const MPI_Fint* status) {
    MPI_Status converted;
    PMPI_Status_f2c(status, &converted);
    return converted;
}

MPI_Fint* fortran_status_scratch(int n, MPI_Fint* ignored) {
    const size_t bytes = n < 0 ? 0 : (size_t)n * FORTRAN_STATUS * sizeof(MPI_Fint);
    MPI_Fint* statuses = scratch(SCRATCH_FORTRAN_STATUSES, bytes);
    if (!statuses) return ignored;
    memset(statuses, 0, bytes);
    return statuses;
}

const MPI_Status* fortran_statuses(int n, const MPI_Fint* statuses) {
    MPI_Status* converted = fortran_ignored(statuses) ? MPI_STATUSES_IGNORE : status_scratch(n);
    for (int i = 0; converted != MPI_STATUSES_IGNORE && i < n; i++) {
        converted[i] = fortran_status(statuses + (size_t)i * FORTRAN_STATUS);
    }
    return converted;
}

const uint64_t* fortran_request_values(int n, const MPI_Fint* requests) {
    if (n < 0) return NULL;
    uint64_t* values = scratch(SCRATCH_HANDLES, (size_t)n * sizeof *values);
    for (int i = 0; values && i < n; i++) values[i] = request_value(PMPI_Request_f2c(requests[i]));
    return values;
}

int fortran_error(const MPI_Fint* ierror) {
    return ierror ? *ierror : MPI_SUCCESS;
}
