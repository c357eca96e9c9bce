// A wavefront sweep: particles that stream through a grid in eight directions, as in Sweep3D and its descendants.
//
// Every rank owns a column of points, on a 2-D process grid that MPI chooses, so more ranks are a larger problem (weak
// scaling). In each of the eight octants a rank waits for the faces of its upstream neighbours, computes a block of
// planes, and sends its downstream faces on, so that wavefronts run over the ranks from all corners. The source is such
// that the solution is known: flux(x, y, z) = 1 + x + 2y + 3z of the global point.
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { X, Y, OCTANTS = 8 };

typedef struct {
    int n;           // points along x and y of a rank
    int planes;      // along z of a block
    int blocks;      // into which the column is cut along z
    int iterations;  // of all eight octants
} Options;

typedef struct {
    int rank;
    int extent[2];  // ranks along x and y
    int coordinate[2];
    int stride[2];  // between the numbers of two neighbours
} Grid;

// The points of a block with the faces that flow into it, x fastest.
typedef struct {
    double* flux;
    double* face[2];  // into the block along x: n x planes points; along y
    double* top;      // into the block along z: n x n points
} Block;

static double* allocate(size_t count) {
    double* memory = calloc(count, sizeof *memory);
    if (!memory) {
        fprintf(stderr, "sweep: no memory for %zu numbers\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static Grid make_grid(void) {
    Grid grid = {.extent = {0, 0}};
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &grid.rank);
    MPI_Dims_create(ranks, 2, grid.extent);
    grid.stride[X] = grid.extent[Y];
    grid.stride[Y] = 1;
    grid.coordinate[X] = grid.rank / grid.extent[Y];
    grid.coordinate[Y] = grid.rank % grid.extent[Y];
    return grid;
}

// The neighbour along a dimension, `step` up or down.
static int neighbor(const Grid* grid, int dimension, int step) {
    const int to = grid->coordinate[dimension] + step;
    return to < 0 || to >= grid->extent[dimension] ? MPI_PROC_NULL : grid->rank + step * grid->stride[dimension];
}

static double exact(double x, double y, double z) {
    return 1 + x + 2 * y + 3 * z;
}

typedef struct {
    int step[3];  // +1 or -1: in which direction particles stream
} Octant;

static Octant octant_of(int number) {
    return (Octant){{number & 1 ? -1 : 1, number & 2 ? -1 : 1, number & 4 ? -1 : 1}};
}

// The global coordinate of the own point i along a dimension.
static int global(const Grid* grid, const Options* options, int dimension, int i) {
    return grid->coordinate[dimension] * options->n + i;
}

// At the edge of the whole grid the exact solution flows in; else what the upstream neighbour has sent.
static void inflow(Block* block, const Grid* grid, const Options* options, const Octant* octant, int z_first) {
    const int n = options->n;
    for (int dimension = X; dimension <= Y; dimension++) {
        const int from = neighbor(grid, dimension, -octant->step[dimension]);
        if (from != MPI_PROC_NULL) {
            MPI_Recv(block->face[dimension], n * options->planes, MPI_DOUBLE, from, dimension, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            continue;
        }
        const int edge = global(grid, options, dimension, octant->step[dimension] > 0 ? -1 : n);
        for (int k = 0; k < options->planes; k++) {
            for (int i = 0; i < n; i++) {
                const int across = global(grid, options, dimension == X ? Y : X, i);
                block->face[dimension][k * n + i] =
                    dimension == X ? exact(edge, across, z_first + k) : exact(across, edge, z_first + k);
            }
        }
    }
}

static void outflow(const Block* block, const Grid* grid, const Options* options, const Octant* octant) {
    for (int dimension = X; dimension <= Y; dimension++) {
        const int to = neighbor(grid, dimension, octant->step[dimension]);
        MPI_Send(block->face[dimension], options->n * options->planes, MPI_DOUBLE, to, dimension, MPI_COMM_WORLD);
    }
}

// Upwind differences: 4 flux = source + the fluxes from upstream along x, y and z. Returns the largest error.
static double compute(Block* block, const Grid* grid, const Options* options, const Octant* octant, int z_first) {
    const int n = options->n;
    double wrong = 0;
    for (int k_step = 0; k_step < options->planes; k_step++) {
        const int k = octant->step[2] > 0 ? k_step : options->planes - 1 - k_step;
        for (int j_step = 0; j_step < n; j_step++) {
            const int j = octant->step[Y] > 0 ? j_step : n - 1 - j_step;
            for (int i_step = 0; i_step < n; i_step++) {
                const int i = octant->step[X] > 0 ? i_step : n - 1 - i_step;
                const double here = exact(global(grid, options, X, i), global(grid, options, Y, j), z_first + k);
                // What the exact solution needs: each upstream point differs from here by the step's slope.
                const double source = here + octant->step[X] * 1.0 + octant->step[Y] * 2.0 + octant->step[2] * 3.0;
                double* const x = &block->face[X][k * n + j];
                double* const y = &block->face[Y][k * n + i];
                double* const z = &block->top[j * n + i];
                const double flux = 0.25 * (source + *x + *y + *z);
                wrong = fmax(wrong, fabs(flux - here) / fabs(here + 1));
                *x = *y = *z = block->flux[(k * n + j) * n + i] = flux;
            }
        }
    }
    return wrong;
}

// One octant: blocks of planes, one after the other along z.
static double sweep_octant(Block* block, const Grid* grid, const Options* options, const Octant* octant) {
    const int n = options->n;
    const int depth = options->planes * options->blocks;
    double wrong = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            block->top[j * n + i] =
                exact(global(grid, options, X, i), global(grid, options, Y, j), octant->step[2] > 0 ? -1 : depth);
        }
    }
    for (int b = 0; b < options->blocks; b++) {
        const int z_first = options->planes * (octant->step[2] > 0 ? b : options->blocks - 1 - b);
        inflow(block, grid, options, octant, z_first);
        wrong = fmax(wrong, compute(block, grid, options, octant, z_first));
        outflow(block, grid, options, octant);
    }
    return wrong;
}

static bool solve(const Options* options) {
    const Grid grid = make_grid();
    const size_t n = (size_t)options->n;
    const size_t planes = (size_t)options->planes;
    Block block = {
        .flux = allocate(n * n * planes), .face = {allocate(n * planes), allocate(n * planes)}, .top = allocate(n * n)};
    double wrong = 0;
    const double begin = MPI_Wtime();
    for (int iteration = 0; iteration < options->iterations; iteration++) {
        for (int number = 0; number < OCTANTS; number++) {
            const Octant octant = octant_of(number);
            wrong = fmax(wrong, sweep_octant(&block, &grid, options, &octant));
        }
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    const double seconds = MPI_Wtime() - begin;
    // Rounding is damped by the factor 3/4 from point to point, so that it never adds up to more than a few units.
    const double tolerance = 1e-14;
    const bool correct = wrong <= tolerance;
    if (grid.rank == 0) {
        printf("sweep: %d x %d ranks of %d x %d x %d points, %d blocks, %d iterations\n", grid.extent[X],
               grid.extent[Y], options->n, options->n, options->planes * options->blocks, options->blocks,
               options->iterations);
        printf("sweep: largest error %s the tolerance %.1e\n", correct ? "within" : "ABOVE", tolerance);
        fprintf(stderr, "sweep: %.3f s\n", seconds);
    }
    free(block.flux);
    free(block.face[X]);
    free(block.face[Y]);
    free(block.top);
    return correct;
}

static bool parse(const char* text, int* value) {
    char* end = NULL;
    const long number = strtol(text, &end, 10);
    *value = (int)number;
    return *end == '\0' && end != text && number >= 1 && number <= 10000;
}

static bool parse_options(int argc, char** argv, Options* options) {
    int* const values[] = {&options->n, &options->planes, &options->blocks, &options->iterations};
    if (argc > 5) return false;
    for (int i = 1; i < argc; i++) {
        if (!parse(argv[i], values[i - 1])) return false;
    }
    return true;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Options options = {.n = 24, .planes = 8, .blocks = 8, .iterations = 12};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!parse_options(argc, argv, &options)) {
        if (rank == 0) {
            fprintf(stderr,
                    "usage: sweep [POINTS [PLANES [BLOCKS [ITERATIONS]]]]\n"
                    "  POINTS      points along x and y of each rank (24)\n"
                    "  PLANES      points along z of a block (8)\n"
                    "  BLOCKS      blocks of planes of each rank (8)\n"
                    "  ITERATIONS  (12)\n");
        }
        MPI_Finalize();
        return 2;
    }
    const bool correct = solve(&options);
    MPI_Finalize();
    return correct ? 0 : 1;
}
