// Fortran's handles and constants, for recording only: the program's arguments go to the MPI unchanged.
#ifndef IDLEWAVE_FORTRAN_H
#define IDLEWAVE_FORTRAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

// A Fortran status has as many integers as fit into a C status (MPI_STATUS_SIZE).
enum { FORTRAN_STATUS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

// True for MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE.
bool fortran_ignored(const MPI_Fint* status);

// MPI_IN_PLACE if `buffer` is Fortran's, else `buffer`.
const void* fortran_buffer(const void* buffer);

MPI_Status fortran_status(const MPI_Fint* status);

// Statuses to pass for MPI_STATUSES_IGNORE; and n Fortran statuses as C statuses (in scratch memory).
MPI_Fint* fortran_status_scratch(int n, MPI_Fint* ignored);
const MPI_Status* fortran_statuses(int n, const MPI_Fint* statuses);

// The values of n handles, as request_values.
const uint64_t* fortran_request_values(int n, const MPI_Fint* requests);

// The error code of a call: `ierror` is NULL if a caller of mpi_f08 leaves it out.
int fortran_error(const MPI_Fint* ierror);

#endif
