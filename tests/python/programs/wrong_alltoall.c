// To be preloaded: an all-to-all that gets the first number that it receives wrong.
#include <mpi.h>

int MPI_Alltoall(const void* sent, int sent_count, MPI_Datatype sent_type, void* received, int received_count,
                 MPI_Datatype received_type, MPI_Comm comm) {
    int status = PMPI_Alltoall(sent, sent_count, sent_type, received, received_count, received_type, comm);
    *(double*)received *= 1.001;
    return status;
}
