// Two ranks that send to each other buffered before they receive, which is safe whatever the size; synchronous sends;
// and receives that are cancelled and freed, as programs that end do with those that they posted ahead, too late or
// not.
#include <mpi.h>
#include <stdlib.h>

enum { BYTES = 100000, SENDS = 3 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int other = 1 - rank;
    static char data[BYTES];
    static char received[BYTES];
    const int room = SENDS * (BYTES + MPI_BSEND_OVERHEAD);
    void* buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);

    MPI_Request ahead;
    MPI_Irecv(received, 8, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &ahead);

    MPI_Request request;
    MPI_Bsend(data, BYTES, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    MPI_Ibsend(data, BYTES, MPI_CHAR, other, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bsend_init(data, BYTES, MPI_CHAR, other, 3, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    for (int tag = 1; tag <= SENDS; tag++)
        MPI_Recv(received, BYTES, MPI_CHAR, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    if (rank == 0) {
        MPI_Ssend(data, 8, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
        MPI_Issend(data, 8, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(received, 8, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(received, 8, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Request arrived;
    MPI_Irecv(received, 8, MPI_CHAR, other, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived);
    MPI_Send(data, 8, MPI_CHAR, other, 5, MPI_COMM_WORLD);
    for (int flag = 0; !flag;) MPI_Request_get_status(arrived, &flag, MPI_STATUS_IGNORE);
    MPI_Cancel(&arrived);  // too late
    MPI_Request_free(&arrived);
    MPI_Cancel(&ahead);
    MPI_Request_free(&ahead);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Buffer_detach(&buffer, &(int){0});
    free(buffer);
    MPI_Finalize();
    return 0;
}
