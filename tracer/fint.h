// Fortran's handles where mpi.h does not have them: that of MPI's standard ABI (MPI-5, chapter 20) has its own
// functions.
#ifndef IDLEWAVE_FINT_H
#define IDLEWAVE_FINT_H

#include <mpi.h>

#ifdef MPI_H_ABI
typedef int MPI_Fint;
#define PMPI_Comm_f2c PMPI_Comm_fromint
#define PMPI_Type_f2c PMPI_Type_fromint
#endif

#endif
