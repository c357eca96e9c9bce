// Which points belong to which rank: TY x TZ ranks share the domain.
//
// Before the transforms a rank has whole rows along x: NY / TY rows of each of NZ / TZ planes. The TY ranks that share
// planes are its plane team, and exchange x for y; the TZ ranks with the same rows are its row team, and exchange y for
// z. After the transforms a rank has whole lines along z, for NX / TX of the x's (TX is TY) and NY / TZ of the y's.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "problem.hpp"

namespace ft {

struct Shape {
    int ty = 1;
    int tz = 1;
};

// Why a problem cannot be shared so; empty if it can.
std::string reason_against(const Problem& problem, Shape shape, int ranks);

// The ranks of a team, in the order of the points that they have.
struct Team {
    MPI_Comm ranks = MPI_COMM_NULL;
    int members = 1;
    int self = 0;
};

struct Decomposition {
    int nx = 0;
    int ny = 0;
    int nz = 0;
    int x_columns = 0;  // NX / TY: columns after the first exchange
    int y_rows = 0;     // NY / TY: rows before the first exchange
    int z_planes = 0;   // NZ / TZ: planes before the second exchange
    int y_lines = 0;    // NY / TZ: y's after the second exchange
    int first_x = 0;
    int first_y = 0;  // of y_rows
    int first_z = 0;
    int first_y_line = 0;  // of y_lines
    Team plane;
    Team row;

    int64_t points() const { return int64_t{nx} * y_rows * z_planes; }
};

// Collective over all ranks. `reason_against` must be empty.
Decomposition decompose(const Problem& problem, Shape shape);

void free_teams(Decomposition& cut);

}  // namespace ft
