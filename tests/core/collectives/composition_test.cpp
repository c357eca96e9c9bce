#include "collectives/composition.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "collectives/pattern.hpp"
#include "dice.hpp"
#include "goal/graph.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"
#include "trials.hpp"
#include "written_out.hpp"

namespace idlewave::collectives {
namespace {

using testing::Dice;
using testing::written_out;

/// Some operation of a job of `ranks` ranks, by all or by groups.
Stage random_stage(Dice& dice, std::uint32_t ranks, std::uint32_t tag) {
    constexpr std::array names{"barrier", "bcast",  "reduce", "allreduce", "gather", "alltoall",
                               "halo1d",  "halo2d", "halo3d", "sweep",     "compute"};
    Group group;
    std::uint32_t members = ranks;
    if (dice.one_in(2)) {
        // Groups of equal size, so that a root and a grid fit them all.
        std::vector<std::uint32_t> sizes;
        for (std::uint32_t size = 1; size <= ranks; ++size) {
            if (ranks % size == 0) {
                sizes.push_back(size);
            }
        }
        group.size = sizes[dice.roll(sizes.size())];
        group.kind = dice.one_in(2) ? Group::Kind::blocks : Group::Kind::strided;
        members = group.kind == Group::Kind::blocks ? group.size : ranks / group.size;
    }
    PatternCall call{.bytes = dice.roll(3000), .reduction_cost = 0.25, .root = dice.small(members)};
    call.shape.compute_ns = dice.roll(500);
    call.shape.blocks = 1 + dice.small(3);
    call.shape.sweeps = 1 + dice.small(8);
    call.shape.periodic = dice.one_in(2);
    Stage stage = stage_of(names[dice.roll(names.size())], "", members, call);
    stage.group = group;
    stage.times = 1 + dice.small(3);
    stage.rotating_root = dice.one_in(2);
    stage.tag = tag;
    return stage;
}

Job random_job(Dice& dice, std::uint32_t first, std::uint32_t stride) {
    Job job{.ranks = 1 + dice.small(9)};
    job.placement = {.first = first, .stride = stride, .table = {}};
    job.repetitions = 1 + dice.small(3);
    for (std::uint32_t tag = 0; tag < 1 + dice.small(3); ++tag) {
        job.stages.push_back(random_stage(dice, job.ranks, tag));
    }
    return job;
}

TEST(Composition, RunsExactlyAsItsScheduleWrittenOut) {
    for (std::uint64_t seed = 0; seed < testing::trials(400); ++seed) {
        Dice dice(seed);
        std::vector<Job> jobs;
        jobs.push_back(random_job(dice, dice.small(3), 2));
        if (dice.one_in(2)) {
            jobs.push_back(random_job(dice, 30, 1));
        }
        machine::Machine machine = testing::random_machine(dice);
        machine.network.S = dice.one_in(2) ? machine::Level::always_eager : dice.roll(2000);
        const Composition source(jobs);
        ASSERT_EQ(testing::outcome_of(source, machine, seed), testing::outcome_of(written_out(source), machine, seed))
            << "seed " << seed;
    }
}

TEST(Composition, EndsAtTheSameTimesWhetherSomebodyLooksOnOrNot) {
    for (std::uint64_t seed = 0; seed < testing::trials(400); ++seed) {
        Dice dice(seed);
        const Composition source(std::vector<Job>{random_job(dice, 0, 1)});
        const machine::Machine machine = testing::random_machine(dice);
        const std::vector<Time> finish = testing::outcome_of(source, machine, seed).finish;
        for (const std::uint32_t threads : {1U, 2U}) {
            ASSERT_EQ(testing::finish_of(source, machine, seed, threads), finish) << "seed " << seed;
        }
    }
}

TEST(Composition, JobsBesideEachOtherDoNotDisturbEachOther) {
    const machine::Machine machine = testing::simple_machine(700, 150, 200, 2, 0.5);
    const auto job = [](std::uint32_t ranks, const char* name) {
        Job made{.ranks = ranks};
        made.stages.push_back(stage_of(name, "", ranks, {.bytes = 100}));
        return made;
    };
    Job first = job(3, "allreduce");
    first.placement.table = {0, 2, 4};
    Job second = job(2, "alltoall");
    second.placement.table = {1, 3};
    const auto together = testing::finish_of(Composition({first, second}, 6), machine);
    const auto alone = [&](Job one) {
        one.placement = {};
        return testing::finish_of(Composition({std::move(one)}), machine);
    };
    const auto a = alone(first);
    const auto b = alone(second);
    EXPECT_EQ(together, (std::vector<Time>{a[0], b[0], a[1], b[1], a[2], 0}));
}

TEST(Composition, ARotatingRootMovesOnByOneEachTime) {
    Stage stage = stage_of("bcast", "linear", 4, {.bytes = 1, .root = 3});
    stage.times = 3;
    stage.rotating_root = true;
    const Composition source = all_ranks(4, {stage}, 2);
    std::vector<std::uint32_t> roots;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        for (const goal::Op& op : source.rank_schedule(rank).ops) {
            roots.push_back(op.kind == goal::OpKind::send ? rank : 99);
        }
    }
    // Six broadcasts from 3, 0, 1, 2, 3, 0: a root sends three times.
    EXPECT_EQ(std::count(roots.begin(), roots.end(), 0U), 6);
    EXPECT_EQ(std::count(roots.begin(), roots.end(), 1U), 3);
    EXPECT_EQ(std::count(roots.begin(), roots.end(), 2U), 3);
    EXPECT_EQ(std::count(roots.begin(), roots.end(), 3U), 6);
}

TEST(Composition, AnAllToAllMayHaveAMatrixOfParts) {
    const std::vector<std::uint64_t> matrix{0, 10, 20, 30, 40, 50, 60, 70, 80};
    for (const char* name : {"linear", "pairwise"}) {
        const Composition source = all_ranks(3, {stage_of("alltoall", name, 3, {.send_counts = matrix})}, 2);
        for (std::uint32_t rank = 0; rank < 3; ++rank) {
            for (const goal::Op& op : source.rank_schedule(rank).ops) {
                const bool sends = op.kind == goal::OpKind::send;
                EXPECT_EQ(op.size, sends ? matrix[3 * rank + op.peer] : matrix[3 * op.peer + rank]) << name;
            }
        }
        const machine::Machine machine = testing::simple_machine(700, 150, 200, 2, 0.5);
        EXPECT_EQ(testing::outcome_of(source, machine), testing::outcome_of(written_out(source), machine)) << name;
    }
    // A group that is smaller than the others takes the corner of the matrix.
    Stage stage = stage_of("alltoall", "", 2, {.send_counts = {0, 5, 7, 0}});
    stage.group = {.kind = Group::Kind::blocks, .size = 2};
    const Composition source = all_ranks(5, {stage});
    EXPECT_EQ(source.rank_schedule(3).ops[0].size + source.rank_schedule(3).ops[1].size, 12U);
    EXPECT_TRUE(source.rank_schedule(4).ops.empty());
}

std::string refusal(const std::vector<Job>& jobs, std::uint32_t ranks = 0) {
    try {
        const Composition source(jobs, ranks);
        return "";
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(Composition, APlacementThatIsNoneIsRefused) {
    const Job one{.ranks = 2, .placement = {.first = 0, .stride = 1, .table = {}}};
    const Job same{.ranks = 2, .placement = {.first = 1, .stride = 1, .table = {}}};
    EXPECT_EQ(refusal({one, same}), "job 1 wants rank 1 of the machine, which job 0 has");
    EXPECT_EQ(refusal({one}, 1), "the jobs need 2 ranks, and there are 1");
    const Job table{.ranks = 2, .placement = {.first = 0, .stride = 1, .table = {1}}};
    EXPECT_EQ(refusal({table}), "job 0 has 2 ranks, and its placement is a table of 1");
    EXPECT_NE(refusal({}), "");
}

}  // namespace
}  // namespace idlewave::collectives
