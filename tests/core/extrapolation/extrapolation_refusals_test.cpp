#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "continued_runs.hpp"

/// Runs that show no structure, or not enough of one, are refused with what does not fit.
namespace idlewave::extrapolation {
namespace {

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
