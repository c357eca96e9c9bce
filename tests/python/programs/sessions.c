// The sessions model, without MPI_Init: a communicator of all ranks from the session's group, and another of the same
// group by another text; a sum over each, and a message on the second.
#include <mpi.h>

int main(int argc, char** argv) {
    (void)argc;
    (void)argv;
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group world;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm first;
    MPI_Comm second;
    MPI_Comm_create_from_group(world, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
    MPI_Comm_create_from_group(world, "second", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Group_free(&world);
    int rank;
    int ranks;
    MPI_Comm_rank(first, &rank);
    MPI_Comm_size(first, &ranks);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, first);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, second);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 3, &sum, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, second,
                 MPI_STATUS_IGNORE);
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Session_finalize(&session);
    return sum == (rank + ranks - 1) % ranks ? 0 : 1;
}
