#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "continued_runs.hpp"

/// Programs that are written for any number of ranks, recognised in a few of them, and continued to others.
namespace idlewave::extrapolation {
namespace {

TEST(Extrapolation, HaloExchangesOnGridsOfOneToThreeDimensions) {
    for (const std::uint32_t dimensions : {1U, 2U, 3U}) {
        for (const bool periodic : {false, true}) {
            SCOPED_TRACE(std::to_string(dimensions) + (periodic ? " dimensions, periodic" : " dimensions"));
            const Make make = [&](std::uint32_t ranks) { return halo(ranks, dimensions, periodic); };
            expect_as_made(make, {4, 8, 16}, 64);
            expect_as_made(make, {16, 4, 8}, 32);
        }
    }
}

TEST(Extrapolation, AnExchangeInWhichNoTracedRankHasNeighboursOnBothSidesIsOrderedAsAlongOtherDimensions) {
    const Make make = [](std::uint32_t ranks) { return halo(ranks, 3, false); };
    const Extrapolation found = continued(make, {4, 8, 16}, {.ranks = 64});
    EXPECT_EQ(found.one_sided_dimensions, (std::vector<std::uint8_t>{1, 2}));
    EXPECT_TRUE(continued(make, {8, 27}, {.ranks = 64}).one_sided_dimensions.empty());
}

TEST(Extrapolation, SynchronousSendsStayThat) {
    const Make make = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            out.irecv((rank + all - 1) % all, 4096 / all);
            out.isend((rank + 1) % all, 4096 / all | goal::synchronous_bit);
            out.wait();
            out.irecv((rank + 1) % all, 8);
            out.isend((rank + all - 1) % all, 8);
            out.wait();
        });
    };
    expect_as_made(make, {4, 8}, 16);
}

TEST(Extrapolation, Wavefronts) {
    expect_as_made(sweep, {4, 8, 16}, 64);
    expect_as_made(sweep, {6, 12}, 35);
}

/// The sums over rows and the transposes of NAS CG: on as many columns as rows, or twice as many.
Program conjugate_gradients(std::uint32_t ranks) {
    const std::uint32_t rows = std::uint32_t{1} << (std::bit_width(ranks) - 1) / 2;
    const ProcessGrid grid{{rows, ranks / rows, 1}};
    return written_program(ranks, [&](RankWriter& out, std::uint32_t rank, std::uint32_t) {
        const std::uint64_t bytes = 8192 / rows;
        const auto exchange = [&](std::uint32_t peer, std::uint64_t size) {
            out.irecv(peer, size, 1);
            out.isend(peer, size, 1);
            out.wait();
        };
        for (int iteration = 0; iteration < 2; ++iteration) {
            for (std::uint32_t bit = 1; bit < grid.extents[1]; bit *= 2) {
                exchange(rank ^ bit, bytes);
            }
            exchange(*peer_of({.kind = PeerRule::Kind::transpose}, grid, rank), bytes);
            out.compute(250);
        }
    });
}

TEST(Extrapolation, SumsByHalvesAndTransposes) {
    expect_as_made(conjugate_gradients, {4, 8, 16}, 64);
    expect_as_made(conjugate_gradients, {4, 8, 16}, 128);
    EXPECT_NE(refusal(conjugate_gradients, {4, 8, 16}, {.ranks = 48, .grid = ProcessGrid{{6, 8, 1}}}), "")
        << "a transpose needs as many columns as rows, or twice as many";
}

/// Messages whose sizes halve from partner to partner, the furthest first.
Program recursive_halving(std::uint32_t ranks) {
    return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
        for (std::uint32_t bit = all / 2; bit > 0; bit /= 2) {
            out.irecv(rank ^ bit, std::uint64_t{4096} * bit / all);
            out.isend(rank ^ bit, std::uint64_t{4096} * bit / all);
            out.wait();
        }
    });
}

TEST(Extrapolation, SizesChangeFromPartnerToPartner) {
    expect_as_made(recursive_halving, {4, 8, 16}, 64);
    EXPECT_NE(refusal(recursive_halving, {4, 8, 16}, {.ranks = 48}).find("power of 2"), std::string::npos);
}

/// An exchange with each other rank: one after the other, or all at once.
Program transposed(std::uint32_t ranks, bool at_once) {
    return written_program(ranks, [&](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
        const std::uint64_t bytes = 65'536 / all / all;
        for (std::uint32_t step = 1; step < all; ++step) {
            out.irecv(at_once ? step - (step <= rank ? 1 : 0) : (rank + all - step) % all, bytes);
            if (!at_once) {
                out.isend((rank + step) % all, bytes);
                out.wait();
            }
        }
        for (std::uint32_t step = 1; step < all && at_once; ++step) {
            out.isend(step - (step <= rank ? 1 : 0), bytes);
        }
        out.wait();
    });
}

TEST(Extrapolation, ExchangesWithAllOtherRanks) {
    expect_as_made([](std::uint32_t ranks) { return transposed(ranks, false); }, {4, 8, 16}, 64);
    expect_as_made([](std::uint32_t ranks) { return transposed(ranks, true); }, {4, 8, 16}, 64);
}

/// The transposes of a Fourier transform, by collectives of the rows and the columns of a grid.
Program fourier(std::uint32_t ranks) {
    const ProcessGrid grid = near_square(ranks, 2);
    Program program = written_program(ranks, [&](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
        const std::uint32_t row = grid.coordinate(rank, 0);
        const std::uint32_t column = grid.coordinate(rank, 1);
        out.collective(Collective::barrier, 0, rank, 0);
        out.compute(1'024 / all);
        out.collective(Collective::alltoall, 1 + row, column, 65'536 / all / grid.extents[1]);
        out.collective(Collective::alltoall, 1 + grid.extents[0] + column, row, 65'536 / all / grid.extents[0], true);
        out.wait();
        out.collective(Collective::allreduce, 0, rank, 16);
    });
    for (std::uint32_t row = 0; row < grid.extents[0]; ++row) {
        program.communicators.emplace_back();
        for (std::uint32_t column = 0; column < grid.extents[1]; ++column) {
            program.communicators.back().push_back(row * grid.extents[1] + column);
        }
    }
    for (std::uint32_t column = 0; column < grid.extents[1]; ++column) {
        program.communicators.emplace_back();
        for (std::uint32_t row = 0; row < grid.extents[0]; ++row) {
            program.communicators.back().push_back(row * grid.extents[1] + column);
        }
    }
    return program;
}

TEST(Extrapolation, CollectivesOfRowsAndColumns) {
    expect_as_made(fourier, {4, 8, 16}, 64);
}

Program tree(std::uint32_t ranks) {
    return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
        const auto below = [all](std::uint32_t peer) { return peer < all ? RankWriter::Peer(peer) : std::nullopt; };
        out.recv(below(2 * rank + 1), 64);
        out.recv(below(2 * rank + 2), 64);
        out.compute(10);
        out.send(rank == 0 ? std::nullopt : RankWriter::Peer((rank - 1) / 2), 64);
    });
}

Program star(std::uint32_t ranks) {
    return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
        for (std::uint32_t worker = 1; worker < all && rank == 0; ++worker) {
            out.send(worker, 64);
        }
        for (std::uint32_t worker = 1; worker < all && rank == 0; ++worker) {
            out.recv(worker, 8);
        }
        if (rank > 0) {
            out.recv(0U, 64);
            out.compute(500);
            out.send(0U, 8);
        }
    });
}

TEST(Extrapolation, TreesAndStars) {
    expect_as_made(tree, {4, 8, 16}, 64);
    expect_as_made(tree, {5, 12}, 61);
    expect_as_made(star, {4, 8}, 17);
}

TEST(Extrapolation, RanksThatDoTheSameShareAProgram) {
    const Make make = [](std::uint32_t ranks) { return halo(ranks, 2, false); };
    const Program program = continued(make, {4, 8, 16}, {.ranks = 4096}).program;
    EXPECT_EQ(program.structure->programs.size(), 4096U);
    EXPECT_LE(program.ranks.size(), 16U) << "not more than ranks were traced";
}

TEST(Extrapolation, ComputationFollowsItsLawOrStaysAsInTheLargestRun) {
    const auto total = [](const Extrapolation& found) {
        std::uint64_t ns = 0;
        for (const goal::Op& op : source_of(found.program).rank_schedule(0).ops) {
            ns += op.kind == goal::OpKind::calc ? op.size : 0;
        }
        return ns;
    };
    const Make make = [](std::uint32_t ranks) { return halo(ranks, 2, true); };
    EXPECT_EQ(total(continued(make, {4, 8, 16}, {.ranks = 64})), 300U);
    EXPECT_EQ(total(continued(make, {4, 8, 16}, {.ranks = 64, .fitted_times = false})), 1'200U);
    EXPECT_EQ(total(continued(make, {16}, {.ranks = 64})), 1'200U) << "one run shows no law";
}

TEST(Extrapolation, AMessageAlongADimensionShrinksWithTheSurfaceAcrossItWhereOtherSizesChange) {
    const Make make = [](std::uint32_t ranks) { return halo(ranks, 2, false); };
    expect_as_made(make, {4, 8}, 16);
    const Make same = [](std::uint32_t ranks) {
        return written_program(ranks, [&](RankWriter& out, std::uint32_t rank, std::uint32_t) {
            const ProcessGrid grid = near_square(ranks, 2);
            for (const std::uint32_t d : {0U, 1U}) {
                for (const int side : {-1, 1}) {
                    out.irecv(neighbour(grid, rank, d, -side, false), 64);
                    out.isend(neighbour(grid, rank, d, side, false), 64);
                }
            }
            out.wait();
        });
    };
    expect_as_made(same, {4, 8}, 16);
    EXPECT_TRUE(std::ranges::any_of(continued(same, {4, 8}, {.ranks = 16}).sizes, [](const FoundLaw& law) {
        return law.other.find("fits as well, and would give 32") != std::string::npos;
    })) << "no trace shows what more ranks along the second dimension mean";
}

TEST(Extrapolation, AnotherStructureThatTheTracesMayHaveIsNamed) {
    const Make two_further = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            for (const std::uint32_t distance : {2U, all - 2U}) {
                out.irecv((rank + all - distance) % all, 8);
                out.isend((rank + distance) % all, 8);
            }
            out.wait();
        });
    };
    const std::string other = continued(two_further, {6, 8}, {.ranks = 16}).other_structure;
    EXPECT_NE(other.find("a grid of 8 ranks with messages to "), std::string::npos) << other;
    EXPECT_NE(continued(two_further, {4, 8}, {.ranks = 16}).other_structure, "");
    const Make neighbours = [](std::uint32_t ranks) { return halo(ranks, 2, true); };
    EXPECT_EQ(continued(neighbours, {4, 8, 16}, {.ranks = 64}).other_structure, "");
}

TEST(Extrapolation, ALawThatFitsAsWellIsNamed) {
    const Extrapolation found =
        continued([](std::uint32_t ranks) { return halo(ranks, 3, false); }, {4, 8, 16}, {.ranks = 64});
    EXPECT_TRUE(std::ranges::any_of(found.sizes, [](const FoundLaw& law) { return !law.other.empty(); }))
        << "no trace has more than two ranks along the third dimension";
}

}  // namespace
}  // namespace idlewave::extrapolation
