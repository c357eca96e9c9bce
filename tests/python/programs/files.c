// Files: each rank writes its block of a file, with the others and alone; rank 0 computes 20 ms before the first write,
// and the others wait for it. A nonblocking write ends in a wait. Of the last write that of rank 0 fails.
#define _XOPEN_SOURCE 700
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>

#include "compute.h"

enum { BYTES = 4096 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char data[BYTES] = {0};
    const MPI_Offset mine = (MPI_Offset)rank * BYTES;
    MPI_File file;
    const int error = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (error != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0) compute(0.02);
    MPI_File_write_at_all(file, mine, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, mine, data, BYTES / 2, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Request request;
    MPI_File_iwrite_at(file, mine, data, BYTES, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_read_at_all_begin(file, mine, data, BYTES, MPI_BYTE);
    MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE);
    if (rank == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit nothing = {0, 0};
        setrlimit(RLIMIT_FSIZE, &nothing);
    }
    MPI_File_write_at_all(file, mine, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
