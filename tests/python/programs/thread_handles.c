// Threads whose requests and communicators have the same handles, one after the other, as they make and free them at a
// time. The first argument says what they do, the second how often.
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

typedef struct {
    int number;
    MPI_Comm comm;
    int sent, received;
    MPI_Request requests[2];
} Thread;

static int rounds;
static atomic_bool done;

static void make_requests(Thread* me) {
    MPI_Send_init(&me->sent, 1, MPI_INT, 0, me->number, MPI_COMM_SELF, &me->requests[0]);
    MPI_Recv_init(&me->received, 1, MPI_INT, 0, me->number, MPI_COMM_SELF, &me->requests[1]);
}

static void free_requests(Thread* me) {
    MPI_Request_free(&me->requests[0]);
    MPI_Request_free(&me->requests[1]);
}

// Persistent requests that are started together.
static void* starts(void* argument) {
    Thread* me = argument;
    make_requests(me);
    for (int i = 0; i < rounds; i++) {
        MPI_Startall(2, me->requests);
        MPI_Waitall(2, me->requests, MPI_STATUSES_IGNORE);
    }
    free_requests(me);
    return NULL;
}

// Persistent requests that are used once.
static void* frees(void* argument) {
    Thread* me = argument;
    for (int i = 0; i < rounds; i++) {
        make_requests(me);
        MPI_Start(&me->requests[0]);
        MPI_Start(&me->requests[1]);
        MPI_Waitall(2, me->requests, MPI_STATUSES_IGNORE);
        free_requests(me);
    }
    return NULL;
}

// Thread 0 waits for nonpersistent requests, until when the others make persistent ones that they never start.
static void* waits(void* argument) {
    Thread* me = argument;
    while (me->number > 0 && !done) {
        make_requests(me);
        free_requests(me);
    }
    for (int i = 0; me->number == 0 && i < rounds; i++) {
        MPI_Isend(&me->sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &me->requests[0]);
        MPI_Irecv(&me->received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &me->requests[1]);
        MPI_Wait(&me->requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&me->requests[0], MPI_STATUS_IGNORE);
    }
    if (me->number == 0) done = true;
    return NULL;
}

// Each duplicate of the thread's communicator, and then the communicator itself, has one message.
static void* duplicates(void* argument) {
    Thread* me = argument;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm duplicate;
        MPI_Comm_dup(me->comm, &duplicate);
        const MPI_Comm used[2] = {duplicate, me->comm};
        for (int k = 0; k < 2; k++) {
            MPI_Sendrecv(&me->sent, 1, MPI_INT, MPI_PROC_NULL, k, &me->received, 1, MPI_INT, MPI_PROC_NULL, k, used[k],
                         MPI_STATUS_IGNORE);
        }
        MPI_Comm_free(&duplicate);
    }
    return NULL;
}

// Messages with the other rank on a communicator of the thread's own.
static void* exchanges(void* argument) {
    Thread* me = argument;
    int rank;
    MPI_Comm_rank(me->comm, &rank);
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(&me->sent, 1, MPI_INT, 1 - rank, 0, &me->received, 1, MPI_INT, 1 - rank, 0, me->comm,
                     MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void run(void* (*what)(void*), Thread threads[THREADS]) {
    pthread_t handles[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&handles[i], NULL, what, &threads[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(handles[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&threads[i].comm);
}

static MPI_Session session_of_threads(void) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Info_set(info, "mpi_thread_support_level", "MPI_THREAD_MULTIPLE");  // the key of MPI 4.0
    MPI_Session session;
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    return session;
}

static void in_session(Thread threads[THREADS]) {
    MPI_Session session = session_of_threads();
    MPI_Group world;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    for (int i = 0; i < THREADS; i++) {
        const char tag[] = {(char)('a' + i), '\0'};
        MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &threads[i].comm);
    }
    MPI_Group_free(&world);
    run(exchanges, threads);
    MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
    if (argc < 3) return 1;
    const char* what = argv[1];
    rounds = atoi(argv[2]);
    Thread threads[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) threads[i].number = i;
    if (strcmp(what, "session") == 0) {
        in_session(threads);
        return 0;
    }
    const bool beside = strcmp(what, "beside_init") == 0;
    int provided;
    MPI_Init_thread(&argc, &argv, beside ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    if (beside) {
        in_session(threads);
    } else {
        for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_SELF, &threads[i].comm);
    }
    if (strcmp(what, "starts") == 0) run(starts, threads);
    if (strcmp(what, "frees") == 0) run(frees, threads);
    if (strcmp(what, "waits") == 0) run(waits, threads);
    if (strcmp(what, "duplicates") == 0) run(duplicates, threads);
    MPI_Finalize();
    return 0;
}
