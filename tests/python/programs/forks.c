// A rank forks a process that calls MPI, before it ends.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 10; i++) MPI_Pcontrol(i);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
