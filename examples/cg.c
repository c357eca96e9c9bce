// Conjugate gradients for Poisson's equation on a cube: a halo of whole planes, and two dot products an
// iteration.
//
// -laplace(u) = f on the unit cube with u = 0 at its surface, by the 7-point stencil; the planes of z are
// divided among the ranks. f is made from u = x(1-x) y(1-y) z(1-z). The stencil is exact for such a
// polynomial (its second derivatives are of degree 2 at most in each direction, and the fourth ones vanish),
// so the discrete solution is u itself: the error is what the solver leaves.
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct {
    int n;           // interior points along a side of the cube
    int iterations;  // at most
    double tolerance;
} Options;

// The planes [first, first + planes) of this rank; vectors have one halo plane on either side.
typedef struct {
    int n;
    int rank;
    int ranks;
    int first;
    int planes;
    int below;  // the neighbours' ranks, or MPI_PROC_NULL
    int above;
} Slab;

typedef struct {
    int iterations;
    double residual;  // |b - Ax| / |b|, computed anew from x
    double error;     // largest |x - u|
} Outcome;

static Slab make_slab(int n) {
    Slab slab = {.n = n};
    MPI_Comm_rank(MPI_COMM_WORLD, &slab.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &slab.ranks);
    const int share = n / slab.ranks;
    const int rest = n % slab.ranks;
    slab.planes = share + (slab.rank < rest);
    slab.first = slab.rank * share + (slab.rank < rest ? slab.rank : rest);
    slab.below = slab.rank > 0 ? slab.rank - 1 : MPI_PROC_NULL;
    slab.above = slab.rank + 1 < slab.ranks ? slab.rank + 1 : MPI_PROC_NULL;
    return slab;
}

static size_t plane(const Slab* slab) {
    return (size_t)slab->n * (size_t)slab->n;
}
static size_t own(const Slab* slab) {
    return plane(slab) * (size_t)slab->planes;
}

static double* make_vector(const Slab* slab) {
    double* vector = calloc(own(slab) + 2 * plane(slab), sizeof *vector);
    if (!vector) {
        fprintf(stderr, "cg: no memory for %zu numbers\n", own(slab) + 2 * plane(slab));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return vector;
}

static double dot(const Slab* slab, const double* a, const double* b) {
    double sum = 0;
    for (size_t i = plane(slab); i < plane(slab) + own(slab); i++) sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void exchange_halo(const Slab* slab, double* v) {
    const int count = (int)plane(slab);
    double* lowest = v + plane(slab);
    double* highest = v + own(slab);
    double* beyond = highest + plane(slab);
    MPI_Sendrecv(highest, count, MPI_DOUBLE, slab->above, 0, v, count, MPI_DOUBLE, slab->below, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(lowest, count, MPI_DOUBLE, slab->below, 1, beyond, count, MPI_DOUBLE, slab->above, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

// out = A v, with A the 7-point stencil times h^2: 6 on the diagonal, -1 for each neighbour.
static void multiply(const Slab* slab, double* v, double* out) {
    exchange_halo(slab, v);
    const int n = slab->n;
    const size_t row = (size_t)n;
    const size_t layer = plane(slab);
    for (int z = 1; z <= slab->planes; z++) {
        for (int y = 0; y < n; y++) {
            const size_t start = (size_t)z * layer + (size_t)y * row;
            for (int x = 0; x < n; x++) {
                const size_t i = start + (size_t)x;
                double sum = 6 * v[i] - v[i - layer] - v[i + layer];
                if (x > 0) sum -= v[i - 1];
                if (x + 1 < n) sum -= v[i + 1];
                if (y > 0) sum -= v[i - row];
                if (y + 1 < n) sum -= v[i + row];
                out[i] = sum;
            }
        }
    }
}

static double arc(double t) {
    return t * (1 - t);
}

// Fills in the solution u and the right-hand side h^2 f.
static void make_problem(const Slab* slab, double* u, double* b) {
    const double h = 1.0 / (slab->n + 1);
    size_t i = plane(slab);
    for (int z = 1; z <= slab->planes; z++) {
        for (int y = 1; y <= slab->n; y++) {
            for (int x = 1; x <= slab->n; x++, i++) {
                const double a = arc(x * h);
                const double c = arc(y * h);
                const double d = arc((slab->first + z) * h);
                u[i] = a * c * d;
                b[i] = 2 * h * h * (a * c + a * d + c * d);
            }
        }
    }
}

static int conjugate_gradients(const Slab* slab, const Options* options, const double* b, double* x) {
    double* r = make_vector(slab);
    double* p = make_vector(slab);
    double* q = make_vector(slab);
    const size_t bytes = (own(slab) + 2 * plane(slab)) * sizeof *b;
    memcpy(r, b, bytes);
    memcpy(p, b, bytes);
    double rho = dot(slab, r, r);
    const double enough = options->tolerance * options->tolerance * rho;
    int k = 0;
    while (k < options->iterations && rho > enough) {
        multiply(slab, p, q);
        const double alpha = rho / dot(slab, p, q);
        for (size_t i = plane(slab); i < plane(slab) + own(slab); i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double next = dot(slab, r, r);
        for (size_t i = plane(slab); i < plane(slab) + own(slab); i++) p[i] = r[i] + next / rho * p[i];
        rho = next;
        k++;
    }
    free(r);
    free(p);
    free(q);
    return k;
}

// The residual is not the solver's recursive one: it is computed from x.
static Outcome check(const Slab* slab, const double* u, const double* b, double* x) {
    double* residual = make_vector(slab);
    multiply(slab, x, residual);
    double error = 0;
    for (size_t i = plane(slab); i < plane(slab) + own(slab); i++) {
        residual[i] = b[i] - residual[i];
        error = fmax(error, fabs(x[i] - u[i]));
    }
    Outcome outcome = {.residual = sqrt(dot(slab, residual, residual) / dot(slab, b, b))};
    MPI_Reduce(&error, &outcome.error, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Bcast(&outcome.error, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(residual);
    return outcome;
}

static bool parse_options(int argc, char** argv, Options* options) {
    if (argc > 3) return false;
    int* const values[] = {&options->n, &options->iterations};
    for (int i = 1; i < argc; i++) {
        char* end = NULL;
        const long number = strtol(argv[i], &end, 10);
        if (end == argv[i] || *end || number < 1 || number > 10000) return false;
        *values[i - 1] = (int)number;
    }
    return true;
}

static const char* verdict(bool within) {
    return within ? "within" : "ABOVE";
}

static bool solve(const Slab* slab, const Options* options) {
    double* u = make_vector(slab);
    double* b = make_vector(slab);
    double* x = make_vector(slab);
    make_problem(slab, u, b);
    const double begin = MPI_Wtime();
    const int iterations = conjugate_gradients(slab, options, b, x);
    const double seconds = MPI_Wtime() - begin;
    const Outcome outcome = check(slab, u, b, x);
    // |x - u| is at most the residual times the condition number, about (2(n+1)/pi)^2; u is at most 1/64.
    const double most_residual = 2 * options->tolerance;
    const double most_error = pow(2 * (options->n + 1) / pi, 2) * options->tolerance;
    const bool solved = outcome.residual <= most_residual;
    const bool accurate = outcome.error <= most_error;
    if (slab->rank == 0) {
        printf("cg: %d^3 points on %d ranks, %d iterations\n", options->n, slab->ranks, iterations);
        printf("cg: relative residual %s %.1e, largest error %s %.1e\n", verdict(solved), most_residual,
               verdict(accurate), most_error);
        fprintf(stderr, "cg: %.3f s, residual %.3e, error %.3e\n", seconds, outcome.residual, outcome.error);
    }
    free(u);
    free(b);
    free(x);
    return solved && accurate;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    Options options = {.n = 96, .iterations = 1000, .tolerance = 1e-9};
    const bool understood = parse_options(argc, argv, &options);
    const Slab slab = make_slab(options.n);
    if (!understood || options.n < slab.ranks) {
        if (slab.rank == 0) {
            fprintf(stderr,
                    "usage: cg [POINTS [ITERATIONS]]\n"
                    "  POINTS      points along a side of the cube, at least one for each rank (96)\n"
                    "  ITERATIONS  at most (1000)\n");
        }
        MPI_Finalize();
        return 2;
    }
    const bool correct = solve(&slab, &options);
    MPI_Finalize();
    return correct ? 0 : 1;
}
