// Cristian's method (1989): a rank asks rank 0 for its clock; the answer was read somewhere within the round
// trip, so half the round trip bounds the error, and the shortest of several round trips is the one least
// disturbed.
//
// Rank 0 serves the others one after the other. With ROUNDS = 15 round trips of a few microseconds this is
// about 50 us a rank: below a second at 16,384 ranks. More rounds gain little: the shortest of 15 is mostly
// within a few percent of the shortest of 1000, and what remains is the path's asymmetry, which no number of
// rounds cures.
//
// Whoever waits for its turn, or for the others to be done, sleeps between looks: where ranks share cores,
// their spinning would lengthen the round trips of the pair that is being measured. Rank 0 therefore invites
// a rank one turn ahead, which is awake (and spinning) when its turn comes.
#include "clocksync.h"

#include <time.h>

#include "record.h"

enum { ROUNDS = 15, INVITATION = 1, QUESTION = 2, ANSWER = 3, NAP_NS = 50000 };

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

static void invite(MPI_Comm comm, int rank, int ranks) {
    if (rank < ranks) PMPI_Send(NULL, 0, MPI_BYTE, rank, INVITATION, comm);
}

static void serve(MPI_Comm comm, int ranks) {
    invite(comm, 1, ranks);
    for (int rank = 1; rank < ranks; rank++) {
        invite(comm, rank + 1, ranks);
        for (int i = 0; i < ROUNDS; i++) {
            PMPI_Recv(NULL, 0, MPI_BYTE, rank, QUESTION, comm, MPI_STATUS_IGNORE);
            const int64_t clock = now();
            PMPI_Send(&clock, 1, MPI_INT64_T, rank, ANSWER, comm);
        }
    }
}

static void await_invitation(MPI_Comm comm) {
    int invited = 0;
    while (PMPI_Iprobe(0, INVITATION, comm, &invited, MPI_STATUS_IGNORE) == MPI_SUCCESS && !invited) nap();
    PMPI_Recv(NULL, 0, MPI_BYTE, 0, INVITATION, comm, MPI_STATUS_IGNORE);
}

static ClockOffset ask(MPI_Comm comm) {
    ClockOffset best = {.error = INT64_MAX};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t answer = 0;
        const int64_t asked = now();
        PMPI_Send(NULL, 0, MPI_BYTE, 0, QUESTION, comm);
        PMPI_Recv(&answer, 1, MPI_INT64_T, 0, ANSWER, comm, MPI_STATUS_IGNORE);
        const int64_t answered = now();
        const int64_t half = (answered - asked + 1) / 2;
        if (half >= best.error) continue;
        best = (ClockOffset){.offset = answer - (asked + half), .error = half, .at = answered};
    }
    return best;
}

static void leave_together(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    PMPI_Ibarrier(comm, &request);
    while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) nap();
}

ClockOffset clock_offset(MPI_Comm comm) {
    int rank = 0;
    int ranks = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    ClockOffset offset = {.at = now()};
    if (rank == 0) {
        serve(comm, ranks);
    } else {
        await_invitation(comm);
        offset = ask(comm);
    }
    leave_together(comm);
    return offset;
}
