#include "extrapolation/extrapolate.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>
#include <tuple>

#include "base/error.hpp"
#include "collectives/program_run.hpp"
#include "outcome.hpp"
#include "written_out.hpp"
#include "written_program.hpp"

/// Programs that are written for any number of ranks, recognised in a few of them, and continued to others.
namespace idlewave::extrapolation {
namespace {

using collectives::Collective;
using collectives::PeerRule;
using collectives::Program;
using collectives::ProgramSource;
using testing::RankWriter;
using testing::written_program;

using Make = std::function<Program(std::uint32_t ranks)>;

Extrapolation continued(const Make& make, const std::vector<std::uint32_t>& traced,
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

ProgramSource source_of(Program program) {
    return {std::make_shared<const Program>(std::move(program)), 1};
}

/// The continued program is what the program itself does with so many ranks: its ops, and its simulation.
void expect_as_made(const Make& make, const std::vector<std::uint32_t>& traced, std::uint32_t ranks,
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

std::string refusal(const Make& make, const std::vector<std::uint32_t>& traced, const ExtrapolationOptions& options) {
    try {
        continued(make, traced, options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

ProcessGrid near_square(std::uint32_t ranks, std::uint32_t dimensions) {
    return {collectives::fitting_dims(ranks, dimensions)};
}

RankWriter::Peer neighbour(const ProcessGrid& grid, std::uint32_t rank, std::uint32_t dimension, int by,
                           bool periodic) {
    PeerRule rule{.kind = PeerRule::Kind::shift};
    rule.shift[dimension] = by;
    rule.periodic[dimension] = periodic;
    return peer_of(rule, grid, rank);
}

/// A halo exchange of a cube of 64 points a side that all ranks share.
Program halo(std::uint32_t ranks, std::uint32_t dimensions, bool periodic) {
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

/// Wavefronts from four corners, in blocks.
Program sweep(std::uint32_t ranks) {
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

TEST(ExtrapolationRefuses, WhatItDoesNotRecognise) {
    const Make random = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            if (rank == 1) {
                out.send(3U % all, 8);
            }
            if (rank == 3 % all) {
                out.recv(1U, 8);
            }
        });
    };
    EXPECT_NE(refusal(random, {8}, {.ranks = 16}).find("structure was not recognised"), std::string::npos);
    const Make in_no_order = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            for (std::uint32_t i = 1; i < all && rank == 0; ++i) {
                out.recv(1 + 5 * i % (all - 1), 8);
            }
            if (rank > 0) {
                out.send(0U, 8);
            }
        });
    };
    EXPECT_NE(refusal(in_no_order, {8}, {.ranks = 16}), "") << "workers beyond the traced ones would have no order";
}

/// Halos across walls along the first dimension, and around the others: a channel.
Program channel(std::uint32_t ranks) {
    const ProcessGrid grid = near_square(ranks, 3);
    return written_program(ranks, [&](RankWriter& out, std::uint32_t rank, std::uint32_t) {
        for (std::uint32_t d = 0; d < 3; ++d) {
            for (const int side : {-1, 1}) {
                out.irecv(neighbour(grid, rank, d, -side, d > 0), 64, side > 0 ? 1 : 2);
                out.isend(neighbour(grid, rank, d, side, d > 0), 64, side > 0 ? 1 : 2);
                out.wait();
            }
        }
    });
}

TEST(ExtrapolationRefuses, DimensionsOfTwoRanksThatMayBePeriodic) {
    EXPECT_NE(refusal(channel, {4, 8, 16}, {.ranks = 64}).find("trace three ranks or more along it"), std::string::npos)
        << refusal(channel, {4, 8, 16}, {.ranks = 64});
    expect_as_made(channel, {27}, 64);
    const Make ring = [](std::uint32_t ranks) { return halo(ranks, 1, true); };
    EXPECT_NE(refusal(ring, {2}, {.ranks = 8}).find("two ranks"), std::string::npos)
        << refusal(ring, {2}, {.ranks = 8});
}

/// Sums from all lower ranks, by distances 1, 2, 4, … below the number of ranks.
Program prefix_sum(std::uint32_t ranks) {
    return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
        for (std::uint32_t distance = 1; distance < all; distance *= 2) {
            out.isend(rank + distance < all ? RankWriter::Peer(rank + distance) : std::nullopt, 8);
            out.irecv(rank >= distance ? RankWriter::Peer(rank - distance) : std::nullopt, 8);
            out.wait();
        }
    });
}

TEST(ExtrapolationRefuses, DistancesThatMayGrowWithTheGrid) {
    EXPECT_NE(refusal(prefix_sum, {4, 8, 16}, {.ranks = 32}), "");
    const Make stencil = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            for (const std::uint32_t distance : {1U, 2U}) {
                out.irecv((rank + all - distance) % all, 8);
                out.isend((rank + distance) % all, 8);
            }
            out.wait();
        });
    };
    expect_as_made(stencil, {8, 16}, 32);
    const Make both_ways = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            for (const std::uint32_t distance : {1U, 2U, all - 1U, all - 2U}) {
                out.irecv((rank + all - distance) % all, 8);
                out.isend((rank + distance) % all, 8);
            }
            out.wait();
        });
    };
    expect_as_made(both_ways, {8, 16}, 32);
    EXPECT_NE(refusal(both_ways, {4, 8}, {.ranks = 32}).find("no two traces of different extents show"),
              std::string::npos)
        << "not the sheared grid of two dimensions that fits as well";
    EXPECT_NE(refusal(stencil, {16}, {.ranks = 32}), "") << "one trace does not show that the distance is 2";
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

TEST(ExtrapolationRefuses, AMirroredRankOnGridsOfTwoRanksADimension) {
    const Make make = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            out.irecv(all - 1 - rank, 8);
            out.isend(all - 1 - rank, 8);
            out.wait();
        });
    };
    for (const std::vector<std::uint32_t>& traced : {std::vector{2U, 4U, 8U}, std::vector{2U, 4U}}) {
        EXPECT_NE(refusal(make, traced, {.ranks = 16}).find("the program's structure was not recognised"),
                  std::string::npos)
            << refusal(make, traced, {.ranks = 16});
    }
}

/// A grid of the smaller run that no rule fits must not leave the search with a rule to drop, which would never end.
TEST(ExtrapolationRefuses, ExchangesWithTheRankHalfwayAround) {
    const Make make = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            out.irecv((rank + all / 2) % all, 8);
            out.isend((rank + all / 2) % all, 8);
            out.wait();
        });
    };
    EXPECT_NE(refusal(make, {4, 8}, {.ranks = 16}).find("no two traces of different extents show"), std::string::npos)
        << refusal(make, {4, 8}, {.ranks = 16});
    EXPECT_NE(refusal(make, {3, 4}, {.ranks = 11}), "") << "two ranks on are two ranks back, or one";
    EXPECT_NE(refusal(make, {4, 5}, {.ranks = 16}), "");
}

TEST(ExtrapolationRefuses, ARootThatTheNewGridLacks) {
    const Make make = [](std::uint32_t ranks) {
        Program program = written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t) {
            out.collective(Collective::bcast, 0, rank, 8);
        });
        for (collectives::RankProgram& rank : program.ranks) {
            rank.collectives[0].root = 3;
        }
        return program;
    };
    EXPECT_EQ(refusal(make, {8, 16}, {.ranks = 32}), "");
    EXPECT_NE(refusal(make, {8, 16}, {.ranks = 2}).find("has the root 3"), std::string::npos);
}

TEST(ExtrapolationRefuses, AProgramThatWasContinued) {
    const Program once = continued(sweep, {4, 8, 16}, {.ranks = 64}).program;
    EXPECT_NE(refusal([&](std::uint32_t) { return once; }, {64}, {.ranks = 128}).find("cannot be continued again"),
              std::string::npos);
}

TEST(Extrapolation, ALawThatFitsAsWellIsNamed) {
    const Extrapolation found =
        continued([](std::uint32_t ranks) { return halo(ranks, 3, false); }, {4, 8, 16}, {.ranks = 64});
    EXPECT_TRUE(std::ranges::any_of(found.sizes, [](const FoundLaw& law) { return !law.other.empty(); }))
        << "no trace has more than two ranks along the third dimension";
}

TEST(ExtrapolationRefuses, ASmallerRunThatTheStructureDoesNotGive) {
    const Make make = [](std::uint32_t ranks) { return ranks == 16 ? sweep(ranks) : halo(ranks, 2, false); };
    EXPECT_NE(refusal(make, {8, 16}, {.ranks = 64}).find("rank 0 of 8, call 1: "), std::string::npos)
        << refusal(make, {8, 16}, {.ranks = 64});
}

TEST(ExtrapolationRefuses, SizesAndTimesThatFollowNoLaw) {
    const auto ring = [](std::uint32_t ranks, std::uint64_t bytes, std::uint64_t ns) {
        return written_program(ranks, [=](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            for (int i = 0; i < 3; ++i) {
                out.irecv((rank + all - 1) % all, bytes);
                out.isend((rank + 1) % all, bytes);
                out.compute(ns);
                out.wait();
            }
        });
    };
    const std::map<std::uint32_t, std::uint64_t> odd{{4, 100}, {8, 931}, {16, 17}};
    EXPECT_NE(refusal([&](std::uint32_t ranks) { return ring(ranks, odd.at(ranks), 5); }, {4, 8, 16}, {.ranks = 64})
                  .find("follow no law: 100 on 4, 931 on 8, 17 on 16 ranks"),
              std::string::npos);
    const Make times = [&](std::uint32_t ranks) { return ring(ranks, 8, 100 * odd.at(ranks)); };
    EXPECT_NE(refusal(times, {4, 8, 16}, {.ranks = 64}).find("follows no law: 10000 ns on 4"), std::string::npos);
    EXPECT_EQ(refusal(times, {4, 8, 16}, {.ranks = 64, .fitted_times = false}), "");
}

TEST(ExtrapolationRefuses, SizesThatDifferBetweenRanks) {
    const Make make = [](std::uint32_t ranks) {
        return written_program(ranks, [](RankWriter& out, std::uint32_t rank, std::uint32_t all) {
            out.irecv((rank + all - 1) % all, rank % 2 == 0 ? 16 : 8);
            out.isend((rank + 1) % all, rank % 2 == 0 ? 8 : 16);
            out.wait();
        });
    };
    EXPECT_NE(refusal(make, {4, 8}, {.ranks = 16}).find("differ by 67 % between ranks: 12 on 4, 12 on 8 ranks"),
              std::string::npos);
}

TEST(ExtrapolationRefuses, RunsAndGridsThatAreNone) {
    const Make make = [](std::uint32_t ranks) { return halo(ranks, 2, false); };
    EXPECT_NE(refusal(make, {8, 8}, {.ranks = 16}).find("found two with 8"), std::string::npos);
    EXPECT_NE(refusal(make, {4, 8}, {.ranks = 16, .grid = ProcessGrid{{3, 5, 1}}}).find("found one of 15"),
              std::string::npos);
}

}  // namespace
}  // namespace idlewave::extrapolation
