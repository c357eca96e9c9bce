#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives/program_run.hpp"
#include "extrapolation/extrapolate.hpp"
#include "outcome.hpp"
#include "written_out.hpp"
#include "written_program.hpp"

/// Programs that are written for any number of ranks, and continued from a few.
namespace idlewave::extrapolation {

using collectives::Collective;
using collectives::PeerRule;
using collectives::Program;
using collectives::ProgramSource;
using testing::RankWriter;
using testing::written_program;

using Make = std::function<Program(std::uint32_t ranks)>;

inline Extrapolation continued(const Make& make, const std::vector<std::uint32_t>& traced,
                               const ExtrapolationOptions& options) {
    std::vector<Program> programs;
    std::vector<const Program*> runs;
    programs.reserve(traced.size());
    for (const std::uint32_t ranks : traced) {
        programs.push_back(make(ranks));
        runs.push_back(&programs.back());
    }
    return extrapolate(runs, options);
}

inline ProgramSource source_of(Program program) {
    return {std::make_shared<const Program>(std::move(program)), 1};
}

/// The continued program is what the program itself does with so many ranks: its ops, and its simulation.
inline void expect_as_made(const Make& make, const std::vector<std::uint32_t>& traced, std::uint32_t ranks,
                           const std::optional<ProcessGrid>& grid = {}) {
    const ProgramSource found = source_of(continued(make, traced, {.ranks = ranks, .grid = grid}).program);
    const ProgramSource made = source_of(make(ranks));
    ASSERT_EQ(found.ranks(), made.ranks());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto as_tuples = [rank](const ProgramSource& source) {
            std::vector<std::tuple<goal::OpKind, std::uint64_t, std::uint32_t>> ops;
            for (const goal::Op& op : source.rank_schedule(rank).ops) {
                ops.emplace_back(op.kind, op.size, op.peer);
            }
            return ops;
        };
        ASSERT_EQ(as_tuples(found), as_tuples(made)) << "rank " << rank;
    }
    const machine::Machine machine = testing::simple_machine(700, 150, 200, 2, 0.5);
    const testing::Outcome outcome = testing::outcome_of(found, machine);
    EXPECT_EQ(outcome.standstill, "");
    EXPECT_EQ(outcome.finish, testing::outcome_of(made, machine).finish);
    EXPECT_EQ(outcome, testing::outcome_of(testing::written_out(found), machine));
}

inline std::string refusal(const Make& make, const std::vector<std::uint32_t>& traced,
                           const ExtrapolationOptions& options) {
    try {
        continued(make, traced, options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

inline ProcessGrid near_square(std::uint32_t ranks, std::uint32_t dimensions) {
    return {collectives::fitting_dims(ranks, dimensions)};
}

inline RankWriter::Peer neighbour(const ProcessGrid& grid, std::uint32_t rank, std::uint32_t dimension, int by,
                                  bool periodic) {
    PeerRule rule{.kind = PeerRule::Kind::shift};
    rule.shift[dimension] = by;
    rule.periodic[dimension] = periodic;
    return peer_of(rule, grid, rank);
}

/// A halo exchange of a cube of 64 points a side that all ranks share.
inline Program halo(std::uint32_t ranks, std::uint32_t dimensions, bool periodic) {
    const ProcessGrid grid = near_square(ranks, dimensions);
    return written_program(ranks, [&](RankWriter& out, std::uint32_t rank, std::uint32_t) {
        for (int iteration = 0; iteration < 3; ++iteration) {
            for (std::uint32_t d = 0; d < dimensions; ++d) {
                std::uint64_t face = 8;
                for (std::uint32_t e = 0; e < dimensions; ++e) {
                    face *= e == d ? 1 : 64 / grid.extents[e];
                }
                const auto lower = neighbour(grid, rank, d, -1, periodic);
                const auto upper = neighbour(grid, rank, d, 1, periodic);
                out.irecv(lower, face);
                out.irecv(upper, face);
                out.isend(lower, face);
                out.isend(upper, face);
            }
            out.compute(6400 / ranks);
            out.wait();
            out.collective(Collective::allreduce, 0, rank, 8);
        }
    });
}

/// Wavefronts from four corners, in blocks.
inline Program sweep(std::uint32_t ranks) {
    const ProcessGrid grid = near_square(ranks, 2);
    return written_program(ranks, [&](RankWriter& out, std::uint32_t rank, std::uint32_t) {
        for (int corner = 0; corner < 4; ++corner) {
            const int x = (corner & 1) != 0 ? -1 : 1;
            const int y = (corner & 2) != 0 ? -1 : 1;
            for (int block = 0; block < 3; ++block) {
                out.recv(neighbour(grid, rank, 0, -x, false), 512 / grid.extents[1], 1);
                out.recv(neighbour(grid, rank, 1, -y, false), 512 / grid.extents[0], 2);
                out.compute(100);
                out.send(neighbour(grid, rank, 0, x, false), 512 / grid.extents[1], 1);
                out.send(neighbour(grid, rank, 1, y, false), 512 / grid.extents[0], 2);
            }
        }
    });
}

}  // namespace idlewave::extrapolation
