// Threads of each of two ranks that call MPI at a time. The first argument says what they do, the second how often.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BYTES = 64 };

typedef struct {
    int number;
    MPI_Comm comm;
} Thread;

static int rank, partner, rounds;
static MPI_Request given[THREADS];  // started by the main thread
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void ping_pong(int tag, MPI_Comm comm) {
    char data[BYTES] = {0};
    if (rank == 0) {
        MPI_Send(data, BYTES, MPI_CHAR, partner, tag, comm);
        MPI_Recv(data, BYTES, MPI_CHAR, partner, tag, comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, BYTES, MPI_CHAR, partner, tag, comm, MPI_STATUS_IGNORE);
        MPI_Send(data, BYTES, MPI_CHAR, partner, tag, comm);
    }
}

// Thread i makes i + 1 times as many ping-pongs as thread 0. Even ones have a communicator, odd ones a tag of their
// own.
static void* ping_pongs(void* argument) {
    const Thread* me = argument;
    for (int i = 0; i < rounds * (me->number + 1); i++) {
        if (me->number % 2 == 0) {
            ping_pong(0, me->comm);
        } else {
            ping_pong(me->number, MPI_COMM_WORLD);
        }
    }
    return NULL;
}

// All threads use one tag and communicator: who receives what is up to the MPI.
static void* races(void* argument) {
    (void)argument;
    for (int i = 0; i < rounds; i++) ping_pong(7, MPI_COMM_WORLD);
    return NULL;
}

// Thread i waits for the request that the main thread has started for it, and answers.
static void* awaits(void* argument) {
    const Thread* me = argument;
    int answer = 0;
    MPI_Wait(&given[me->number], MPI_STATUS_IGNORE);
    MPI_Send(&answer, 1, MPI_INT, partner, 100 + me->number, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT, partner, 100 + me->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

// Each thread has a communicator, and thread i calls i + 1 times as many collectives as thread 0.
static void* collectives(void* argument) {
    const Thread* me = argument;
    for (int i = 0; i < rounds * (me->number + 1); i++) {
        double in = 1, out = 0;
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, me->comm);
    }
    return NULL;
}

// Threads take turns, in another order on each rank, with collectives of one communicator.
static void* in_turn(void* argument) {
    const Thread* me = argument;
    static int next = 0;
    const int order = rank == 0 ? me->number : THREADS - 1 - me->number;
    for (int done = 0; done < rounds;) {
        pthread_mutex_lock(&turn);
        if (next % THREADS == order) {
            int value = 0;
            MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
            next++;
            done++;
        }
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

static void run(void* (*what)(void*), Thread threads[THREADS]) {
    pthread_t handles[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&handles[i], NULL, what, &threads[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(handles[i], NULL);
}

int main(int argc, char** argv) {
    const char* what = argc > 2 ? argv[1] : "";
    const int level = strcmp(what, "in_turn") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
    int provided;
    MPI_Init_thread(&argc, &argv, level, &provided);
    if (provided < level) {
        fprintf(stderr, "the MPI does not support threads\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    rounds = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = 1 - rank;
    Thread threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
    }
    if (strcmp(what, "ping_pongs") == 0) run(ping_pongs, threads);
    if (strcmp(what, "races") == 0) run(races, threads);
    if (strcmp(what, "collectives") == 0) run(collectives, threads);
    if (strcmp(what, "in_turn") == 0) run(in_turn, threads);
    if (strcmp(what, "awaits") == 0) {
        static int values[THREADS];
        for (int i = 0; i < THREADS; i++) MPI_Irecv(&values[i], 1, MPI_INT, partner, i, MPI_COMM_WORLD, &given[i]);
        for (int i = 0; i < THREADS; i++) MPI_Send(&i, 1, MPI_INT, partner, i, MPI_COMM_WORLD);
        run(awaits, threads);
    }
    MPI_Finalize();
    return 0;
}
