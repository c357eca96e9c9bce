#include "decomposition.hpp"

namespace ft {
namespace {

Team make_team(int color, int key) {
    Team team;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &team.ranks);
    MPI_Comm_size(team.ranks, &team.members);
    MPI_Comm_rank(team.ranks, &team.self);
    return team;
}

std::string undivided(const char* team, int ranks, const char* dimension, int length) {
    if (length % ranks == 0) return {};
    return std::string(team) + " = " + std::to_string(ranks) + " does not divide " + dimension + " = " +
           std::to_string(length);
}

}  // namespace

std::string reason_against(const Problem& problem, Shape shape, int ranks) {
    if (int64_t{shape.ty} * shape.tz != ranks) {
        return "a grid of " + std::to_string(shape.ty) + " x " + std::to_string(shape.tz) + " needs " +
               std::to_string(int64_t{shape.ty} * shape.tz) + " ranks, but there are " + std::to_string(ranks);
    }
    for (const std::string& reason :
         {undivided("TY", shape.ty, "NX", problem.nx), undivided("TY", shape.ty, "NY", problem.ny),
          undivided("TZ", shape.tz, "NY", problem.ny), undivided("TZ", shape.tz, "NZ", problem.nz)}) {
        if (!reason.empty()) return "class " + std::string(1, problem.name) + ": " + reason;
    }
    return {};
}

Decomposition decompose(const Problem& problem, Shape shape) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int in_plane = rank % shape.ty;
    const int in_row = rank / shape.ty;
    Decomposition cut;
    cut.nx = problem.nx;
    cut.ny = problem.ny;
    cut.nz = problem.nz;
    cut.x_columns = problem.nx / shape.ty;
    cut.y_rows = problem.ny / shape.ty;
    cut.z_planes = problem.nz / shape.tz;
    cut.y_lines = problem.ny / shape.tz;
    cut.first_x = in_plane * cut.x_columns;
    cut.first_y = in_plane * cut.y_rows;
    cut.first_z = in_row * cut.z_planes;
    cut.first_y_line = in_row * cut.y_lines;
    cut.plane = make_team(in_row, in_plane);
    cut.row = make_team(in_plane, in_row);
    return cut;
}

void free_teams(Decomposition& cut) {
    MPI_Comm_free(&cut.plane.ranks);
    MPI_Comm_free(&cut.row.ranks);
}

}  // namespace ft
