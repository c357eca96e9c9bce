// The heat equation on a square, by Jacobi's method: a 2-D halo exchange with a residual allreduce.
//
// Every rank owns a square of points, on a process grid that MPI chooses, so more ranks are a larger problem
// (weak scaling). The plate's edge is held at u = x + 2y, which is also the steady state; the interior starts
// from that plus a bump whose decay under this iteration is known exactly, so that the result can be checked
// to rounding.
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { WEST, EAST, SOUTH, NORTH, SIDES };

static const double pi = 3.14159265358979323846;

typedef struct {
    int n;  // points along a side of a rank's square
    int iterations;
    int interval;  // iterations between two residuals
} Options;

typedef struct {
    MPI_Comm comm;
    int rank;
    int extent[2];  // ranks along x and y
    int origin[2];  // global index of the first own point
    int neighbor[SIDES];
} Grid;

// A rank's points with one layer of its neighbours' around them, row by row (y), x fastest.
typedef struct {
    int n;
    double* now;
    double* next;
    double* column[4];  // packed: to west, to east, from west, from east
} Field;

static double* allocate(size_t count) {
    double* memory = calloc(count, sizeof *memory);
    if (!memory) {
        fprintf(stderr, "halo2d: no memory for %zu numbers\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static size_t at(const Field* field, int x, int y) {
    return (size_t)y * (size_t)(field->n + 2) + (size_t)x;
}

static Grid make_grid(int n) {
    Grid grid = {.extent = {0, 0}};
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, grid.extent);
    MPI_Cart_create(MPI_COMM_WORLD, 2, grid.extent, (int[]){0, 0}, 1, &grid.comm);
    MPI_Comm_rank(grid.comm, &grid.rank);
    int position[2];
    MPI_Cart_coords(grid.comm, grid.rank, 2, position);
    for (int d = 0; d < 2; d++) grid.origin[d] = position[d] * n;
    MPI_Cart_shift(grid.comm, 0, 1, &grid.neighbor[WEST], &grid.neighbor[EAST]);
    MPI_Cart_shift(grid.comm, 1, 1, &grid.neighbor[SOUTH], &grid.neighbor[NORTH]);
    return grid;
}

// Coordinates in (0, 1) of the own point (i, j); 0 and n+1 are the halo.
static double x_of(const Grid* grid, int n, int i) {
    return (double)(grid->origin[0] + i) / (grid->extent[0] * n + 1);
}
static double y_of(const Grid* grid, int n, int j) {
    return (double)(grid->origin[1] + j) / (grid->extent[1] * n + 1);
}
static double steady(double x, double y) {
    return x + 2 * y;
}
static double bump(double x, double y) {
    return sin(pi * x) * sin(pi * y);
}

static Field make_field(const Grid* grid, int n) {
    const size_t points = (size_t)(n + 2) * (size_t)(n + 2);
    Field field = {.n = n, .now = allocate(points), .next = allocate(points)};
    for (int i = 0; i < 4; i++) field.column[i] = allocate((size_t)n);
    for (int j = 0; j <= n + 1; j++) {
        for (int i = 0; i <= n + 1; i++) {
            const double x = x_of(grid, n, i);
            const double y = y_of(grid, n, j);
            field.now[at(&field, i, j)] = field.next[at(&field, i, j)] = steady(x, y) + bump(x, y);
        }
    }
    return field;
}

static void free_field(Field* field) {
    free(field->now);
    free(field->next);
    for (int i = 0; i < 4; i++) free(field->column[i]);
}

static void pack(Field* field) {
    for (int j = 1; j <= field->n; j++) {
        field->column[0][j - 1] = field->now[at(field, 1, j)];
        field->column[1][j - 1] = field->now[at(field, field->n, j)];
    }
}

static void unpack(Field* field, const Grid* grid) {
    for (int j = 1; j <= field->n; j++) {
        if (grid->neighbor[WEST] != MPI_PROC_NULL) field->now[at(field, 0, j)] = field->column[2][j - 1];
        if (grid->neighbor[EAST] != MPI_PROC_NULL) field->now[at(field, field->n + 1, j)] = field->column[3][j - 1];
    }
}

// Starts the exchange of all four sides. Rows are contiguous; columns are packed.
static void start_exchange(Field* field, const Grid* grid, MPI_Request requests[2 * SIDES]) {
    const int n = field->n;
    double* receive[SIDES] = {field->column[2], field->column[3], &field->now[at(field, 1, 0)],
                              &field->now[at(field, 1, n + 1)]};
    const double* send[SIDES] = {field->column[0], field->column[1], &field->now[at(field, 1, 1)],
                                 &field->now[at(field, 1, n)]};
    pack(field);
    for (int side = 0; side < SIDES; side++) {
        const int opposite = side ^ 1;
        MPI_Irecv(receive[side], n, MPI_DOUBLE, grid->neighbor[side], opposite, grid->comm, &requests[side]);
    }
    for (int side = 0; side < SIDES; side++) {
        MPI_Isend(send[side], n, MPI_DOUBLE, grid->neighbor[side], side, grid->comm, &requests[SIDES + side]);
    }
}

static void relax(Field* field, int x_first, int x_last, int y_first, int y_last) {
    const size_t row = (size_t)field->n + 2;
    for (int j = y_first; j <= y_last; j++) {
        for (size_t i = at(field, x_first, j); i <= at(field, x_last, j); i++) {
            field->next[i] = 0.25 * (field->now[i - 1] + field->now[i + 1] + field->now[i - row] + field->now[i + row]);
        }
    }
}

// One iteration: what needs no halo is computed while the halo is on its way.
static void iterate(Field* field, const Grid* grid) {
    const int n = field->n;
    MPI_Request requests[2 * SIDES];
    start_exchange(field, grid, requests);
    relax(field, 2, n - 1, 2, n - 1);
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
    unpack(field, grid);
    relax(field, 1, n, 1, 1);
    relax(field, 1, n, n, n);
    relax(field, 1, 1, 2, n - 1);
    relax(field, n, n, 2, n - 1);
    // The edge of the plate is in the halo, and the same in both arrays.
    double* swap = field->now;
    field->now = field->next;
    field->next = swap;
}

// The largest difference between the last two iterations, over all ranks.
static double residual(const Field* field, const Grid* grid) {
    double largest = 0;
    for (int j = 1; j <= field->n; j++) {
        for (size_t i = at(field, 1, j); i <= at(field, field->n, j); i++) {
            largest = fmax(largest, fabs(field->now[i] - field->next[i]));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
    return largest;
}

// sin(pi x) sin(pi y) is an eigenvector of Jacobi's iteration, so after k iterations the solution is known
// exactly: the steady state plus the start's bump times the eigenvalue to the k. What remains is rounding.
static double error(const Field* field, const Grid* grid, int iterations) {
    const double hx = pi / (grid->extent[0] * field->n + 1);
    const double hy = pi / (grid->extent[1] * field->n + 1);
    const double decay = pow(0.5 * (cos(hx) + cos(hy)), iterations);
    double largest = 0;
    for (int j = 1; j <= field->n; j++) {
        for (int i = 1; i <= field->n; i++) {
            const double x = x_of(grid, field->n, i);
            const double y = y_of(grid, field->n, j);
            largest = fmax(largest, fabs(field->now[at(field, i, j)] - steady(x, y) - decay * bump(x, y)));
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, grid->comm);
    return largest;
}

static bool parse(const char* text, int least, int* value) {
    char* end = NULL;
    const long number = strtol(text, &end, 10);
    *value = (int)number;
    return *end == '\0' && end != text && number >= least && number <= 1000000;
}

static bool parse_options(int argc, char** argv, Options* options) {
    int* const values[] = {&options->n, &options->iterations, &options->interval};
    const int least[] = {3, 1, 1};
    if (argc > 4) return false;
    for (int i = 1; i < argc; i++) {
        if (!parse(argv[i], least[i - 1], values[i - 1])) return false;
    }
    return true;
}

static bool solve(const Options* options) {
    Grid grid = make_grid(options->n);
    Field field = make_field(&grid, options->n);
    double change = 0;
    const double begin = MPI_Wtime();
    for (int k = 1; k <= options->iterations; k++) {
        iterate(&field, &grid);
        if (k % options->interval == 0) change = residual(&field, &grid);
    }
    const double seconds = MPI_Wtime() - begin;
    const double wrong = error(&field, &grid, options->iterations);
    // Values are below 4; each iteration rounds by at most one unit in the last place of that.
    const double tolerance = 4e-16 * 4 * (options->iterations + 10);
    const bool correct = wrong <= tolerance;
    if (grid.rank == 0) {
        printf("halo2d: %d x %d ranks of %d x %d points, %d iterations\n", grid.extent[0], grid.extent[1], options->n,
               options->n, options->iterations);
        printf("halo2d: last residual %.6e, largest error %s the tolerance %.1e\n", change,
               correct ? "within" : "ABOVE", tolerance);
        fprintf(stderr, "halo2d: %.3f s\n", seconds);
    }
    free_field(&field);
    MPI_Comm_free(&grid.comm);
    return correct;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Options options = {.n = 640, .iterations = 600, .interval = 10};
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!parse_options(argc, argv, &options)) {
        if (rank == 0) {
            fprintf(stderr,
                    "usage: halo2d [POINTS [ITERATIONS [INTERVAL]]]\n"
                    "  POINTS      points along a side of each rank's square, at least 3 (640)\n"
                    "  ITERATIONS  (600)\n"
                    "  INTERVAL    iterations between two residuals (10)\n");
        }
        MPI_Finalize();
        return 2;
    }
    const bool correct = solve(&options);
    MPI_Finalize();
    return correct ? 0 : 1;
}
