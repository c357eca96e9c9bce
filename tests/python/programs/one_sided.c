// One-sided communication: each rank computes for 2 ms, puts to the next one between fences; posts, starts, completes
// and waits; and accumulates under locks. Windows of all kinds.
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdlib.h>

#include "compute.h"

enum { ROUNDS = 3, BYTES = 1000 };

static void fences(MPI_Win window, int next) {
    char data[BYTES] = {0};
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    for (int i = 0; i < ROUNDS; i++) {
        compute(0.002);
        MPI_Put(data, BYTES, MPI_BYTE, next, 0, BYTES, MPI_BYTE, window);
        MPI_Win_fence(0, window);
    }
}

static void exposures(MPI_Win window, int next, int before) {
    MPI_Group all;
    MPI_Group target;
    MPI_Group origin;
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, &next, &target);
    MPI_Group_incl(all, 1, &before, &origin);
    char data[BYTES];
    MPI_Win_post(origin, 0, window);
    MPI_Win_start(target, 0, window);
    MPI_Get(data, BYTES / 2, MPI_BYTE, next, 0, BYTES / 2, MPI_BYTE, window);
    MPI_Win_complete(window);
    int ended = 0;
    while (!ended) MPI_Win_test(window, &ended);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    MPI_Group_free(&all);
}

static void locks(MPI_Win window, int next) {
    int one = 1;
    int before = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(next, window);
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(&one, &before, MPI_INT, next, 0, MPI_SUM, window);
    MPI_Win_flush(next, window);
    MPI_Request request;
    MPI_Rput(&one, 1, MPI_INT, next, 1, 1, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int next = (rank + 1) % ranks;
    const int before = (rank + ranks - 1) % ranks;
    char memory[2 * BYTES] = {0};
    MPI_Win created;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    fences(created, next);
    MPI_Win_free(&created);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    int* base;
    MPI_Win allocated;
    MPI_Win_allocate(BYTES, sizeof(int), MPI_INFO_NULL, reversed, &base, &allocated);
    exposures(allocated, (ranks - rank) % ranks, (2 * ranks - rank - 2) % ranks);
    locks(allocated, (ranks - rank) % ranks);
    MPI_Win_free(&allocated);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win shared;
    MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, node, &base, &shared);
    MPI_Win dynamic;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&shared);
    MPI_Comm_free(&node);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
