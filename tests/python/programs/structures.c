// The communication of programs whose ranks lie on a grid, so that their structure can be continued. The first argument
// names one; the second one is how often it is done (default: 3).
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"

enum { MOST_BYTES = 1 << 16, EDGE = 96 };

static char out[64][MOST_BYTES];
static char in[64][MOST_BYTES];
static int rank, ranks;

static void work(void) {
    compute(20e-6);
}

// A halo exchange in some dimensions: the faces of a block of EDGE^dimensions points that shrinks with the grid.
static void halo(int dimensions, bool periodic, int times) {
    int extents[3] = {0, 0, 0};
    MPI_Dims_create(ranks, dimensions, extents);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, extents, (int[]){periodic, periodic, periodic}, 0, &grid);
    for (int time = 0; time < times; time++) {
        MPI_Request requests[12];
        int count = 0;
        for (int d = 0; d < dimensions; d++) {
            int face = 8;
            for (int e = 0; e < dimensions; e++) face *= e == d ? 1 : EDGE / extents[e];
            int lower, upper;
            MPI_Cart_shift(grid, d, 1, &lower, &upper);
            MPI_Irecv(in[2 * d], face, MPI_CHAR, lower, 1, grid, &requests[count++]);
            MPI_Irecv(in[2 * d + 1], face, MPI_CHAR, upper, 1, grid, &requests[count++]);
            MPI_Isend(out[2 * d], face, MPI_CHAR, lower, 1, grid, &requests[count++]);
            MPI_Isend(out[2 * d + 1], face, MPI_CHAR, upper, 1, grid, &requests[count++]);
        }
        work();
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        double residual = 0;
        MPI_Allreduce(MPI_IN_PLACE, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
}

// Wavefronts from the four corners of a grid, in blocks of planes.
static void sweep(int times) {
    int extents[2] = {0, 0};
    MPI_Dims_create(ranks, 2, extents);
    const int x = rank / extents[1], y = rank % extents[1];
    for (int time = 0; time < times; time++) {
        for (int corner = 0; corner < 4; corner++) {
            const int dx = corner & 1 ? -1 : 1, dy = corner & 2 ? -1 : 1;
            const int from_x = x - dx >= 0 && x - dx < extents[0] ? rank - dx * extents[1] : MPI_PROC_NULL;
            const int to_x = x + dx >= 0 && x + dx < extents[0] ? rank + dx * extents[1] : MPI_PROC_NULL;
            const int from_y = y - dy >= 0 && y - dy < extents[1] ? rank - dy : MPI_PROC_NULL;
            const int to_y = y + dy >= 0 && y + dy < extents[1] ? rank + dy : MPI_PROC_NULL;
            for (int block = 0; block < 3; block++) {
                MPI_Recv(in[0], 8 * EDGE / extents[1], MPI_CHAR, from_x, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Recv(in[1], 8 * EDGE / extents[0], MPI_CHAR, from_y, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                work();
                MPI_Send(out[0], 8 * EDGE / extents[1], MPI_CHAR, to_x, 2, MPI_COMM_WORLD);
                MPI_Send(out[1], 8 * EDGE / extents[0], MPI_CHAR, to_y, 3, MPI_COMM_WORLD);
            }
        }
    }
}

// What NAS CG does with its vector, on a grid of as many columns as rows, or twice as many: sums over a row by halves,
// and the transposed part.
static void cg(int times) {
    int rows = 1, columns = 1;
    while (rows * columns < ranks) {
        if (columns == rows)
            columns *= 2;
        else
            rows *= 2;
    }
    const int row = rank / columns, column = rank % columns, block = columns / rows;
    const int transposed = block * (rank / block % rows * rows + rank / block / rows) + rank % block;
    const int bytes = 8 * 64 * EDGE / rows;
    for (int time = 0; time < times; time++) {
        MPI_Request request;
        for (int bit = 1; bit < columns; bit *= 2) {
            const int peer = row * columns + (column ^ bit);
            MPI_Irecv(in[0], bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
            MPI_Send(out[0], bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Irecv(in[1], bytes / block, MPI_CHAR, transposed, 1, MPI_COMM_WORLD, &request);
        MPI_Send(out[1], bytes / block, MPI_CHAR, transposed, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        work();
        for (int bit = 1; bit < columns; bit *= 2) {
            const int peer = row * columns + (column ^ bit);
            MPI_Irecv(in[2], 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
            MPI_Send(out[2], 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

// The transposes of a Fourier transform: of pencils among the rows and the columns of a grid.
static void ft(int times) {
    int extents[2] = {0, 0};
    MPI_Dims_create(ranks, 2, extents);
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank / extents[1], rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % extents[1], rank, &column);
    const int points = 1 << 14;
    for (int time = 0; time < times; time++) {
        work();
        MPI_Alltoall(out, points / ranks / extents[1], MPI_CHAR, in, points / ranks / extents[1], MPI_CHAR, row);
        work();
        MPI_Alltoall(out, points / ranks / extents[0], MPI_CHAR, in, points / ranks / extents[0], MPI_CHAR, column);
        double checksum[2] = {0, 0};
        MPI_Reduce(rank ? checksum : MPI_IN_PLACE, checksum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
}

// The transpose of slabs: an exchange with each other rank, one after the other or all at once.
static void transpose(bool at_once, int times) {
    const int bytes = (1 << 18) / ranks / ranks;
    for (int time = 0; time < times; time++) {
        if (!at_once) {
            for (int step = 1; step < ranks; step++) {
                MPI_Sendrecv(out[0], bytes, MPI_CHAR, (rank + step) % ranks, 4, in[0], bytes, MPI_CHAR,
                             (rank - step + ranks) % ranks, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            continue;
        }
        MPI_Request requests[2 * 64];
        int count = 0;
        for (int peer = 0; peer < ranks; peer++) {
            if (peer != rank) MPI_Irecv(in[peer], bytes, MPI_CHAR, peer, 4, MPI_COMM_WORLD, &requests[count++]);
        }
        for (int peer = 0; peer < ranks; peer++) {
            if (peer != rank) MPI_Isend(out[peer], bytes, MPI_CHAR, peer, 4, MPI_COMM_WORLD, &requests[count++]);
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
}

static void ring(int times) {
    for (int time = 0; time < times; time++) {
        MPI_Sendrecv(out[0], 1024, MPI_CHAR, (rank + 1) % ranks, 5, in[0], 1024, MPI_CHAR, (rank + ranks - 1) % ranks,
                     5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work();
    }
}

static void hypercube(int times) {
    for (int time = 0; time < times; time++) {
        for (int bit = 1; bit < ranks; bit *= 2) {
            MPI_Sendrecv(out[0], 512, MPI_CHAR, rank ^ bit, 6, in[0], 512, MPI_CHAR, rank ^ bit, 6, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            work();
        }
    }
}

// Up a binary tree and down again.
static void tree(int times) {
    const int parent = rank ? (rank - 1) / 2 : MPI_PROC_NULL;
    const int left = 2 * rank + 1 < ranks ? 2 * rank + 1 : MPI_PROC_NULL;
    const int right = 2 * rank + 2 < ranks ? 2 * rank + 2 : MPI_PROC_NULL;
    for (int time = 0; time < times; time++) {
        MPI_Recv(in[0], 256, MPI_CHAR, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in[1], 256, MPI_CHAR, right, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work();
        MPI_Send(out[0], 256, MPI_CHAR, parent, 7, MPI_COMM_WORLD);
        MPI_Recv(in[2], 128, MPI_CHAR, parent, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out[1], 128, MPI_CHAR, left, 8, MPI_COMM_WORLD);
        MPI_Send(out[1], 128, MPI_CHAR, right, 8, MPI_COMM_WORLD);
    }
}

// Work from rank 0, results to rank 0.
static void star(int times) {
    for (int time = 0; time < times; time++) {
        if (rank == 0) {
            for (int peer = 1; peer < ranks; peer++) MPI_Send(out[0], 64, MPI_CHAR, peer, 9, MPI_COMM_WORLD);
            for (int peer = 1; peer < ranks; peer++)
                MPI_Recv(in[0], 32, MPI_CHAR, peer, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in[0], 64, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work();
            MPI_Send(out[0], 32, MPI_CHAR, 0, 10, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* const name = argc > 1 ? argv[1] : "halo2d";
    const int times = argc > 2 ? atoi(argv[2]) : 3;
    if (strcmp(name, "halo2d") == 0)
        halo(2, false, times);
    else if (strcmp(name, "torus2d") == 0)
        halo(2, true, times);
    else if (strcmp(name, "halo3d") == 0)
        halo(3, false, times);
    else if (strcmp(name, "torus3d") == 0)
        halo(3, true, times);
    else if (strcmp(name, "sweep") == 0)
        sweep(times);
    else if (strcmp(name, "cg") == 0)
        cg(times);
    else if (strcmp(name, "ft") == 0)
        ft(times);
    else if (strcmp(name, "transpose") == 0)
        transpose(false, times);
    else if (strcmp(name, "transpose-at-once") == 0)
        transpose(true, times);
    else if (strcmp(name, "ring") == 0)
        ring(times);
    else if (strcmp(name, "hypercube") == 0)
        hypercube(times);
    else if (strcmp(name, "tree") == 0)
        tree(times);
    else if (strcmp(name, "star") == 0)
        star(times);
    else
        return fprintf(stderr, "no structure %s\n", name), 1;
    MPI_Finalize();
    return 0;
}
