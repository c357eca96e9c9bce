#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "collective_run.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "outcome.hpp"

namespace idlewave::collectives {
namespace {

using testing::CollectiveRun;
using testing::Protocol;
using testing::rank_counts;
using testing::roots_of;

class EveryAlgorithm : public ::testing::TestWithParam<std::size_t> {
  protected:
    [[nodiscard]] static const Algorithm& tested() { return algorithms()[GetParam()]; }

    [[nodiscard]] static std::vector<std::uint32_t> roots(std::uint32_t ranks) {
        const Collective c = tested().collective;
        const bool rooted = is_pipelined() || c == Collective::gather || c == Collective::scatter;
        return rooted ? roots_of(ranks) : std::vector<std::uint32_t>{0};
    }
    [[nodiscard]] static std::vector<std::uint64_t> segments() {
        return is_pipelined() ? std::vector<std::uint64_t>{0, 1, 64, 300} : std::vector<std::uint64_t>{64};
    }

  private:
    [[nodiscard]] static bool is_pipelined() {
        return tested().collective == Collective::bcast || tested().collective == Collective::reduce;
    }
};

INSTANTIATE_TEST_SUITE_P(Collectives, EveryAlgorithm, ::testing::Range(std::size_t{0}, algorithms().size()),
                         [](const auto& test) {
                             const Algorithm& a = algorithms()[test.param];
                             return std::string(name_of(a.collective)) + "_" + std::string(a.name);
                         });

TEST(Exchange, IsSaidInOneStepWhereBothWaysHaveAsManyBytes) {
    const std::vector<std::uint64_t> counts{10, 20};
    CollectiveCall call = testing::call_of(0, 4, 0, 100);
    EXPECT_TRUE(algorithm(Collective::barrier, "dissemination").step(call, 0).exchange);
    EXPECT_TRUE(algorithm(Collective::alltoall, "pairwise").step(call, 0).exchange);
    call.recv_counts = counts;
    const Step uneven = algorithm(Collective::alltoall, "pairwise").step(call, 0);
    EXPECT_FALSE(uneven.exchange);
    EXPECT_EQ(uneven.next, 1U);
}

/// Whoever asks for the first step of an exchange does without the second.
TEST_P(EveryAlgorithm, SaysOfAnExchangeInItsFirstStepAllThatItsSecondSays) {
    for (const std::uint32_t P : rank_counts) {
        for (std::uint32_t rank = 0; rank < P; ++rank) {
            const CollectiveCall call = testing::call_of(rank, P, 0, 100);
            StepNumber number = 0;
            for (Step step = tested().step(call, 0); step.kind != Step::Kind::done;
                 step = tested().step(call, number)) {
                const StepNumber first = number;
                number = step.after(number);
                if (!step.exchange) {
                    continue;
                }
                const Step second = tested().step(call, number);
                ASSERT_EQ(step.op_kind, goal::OpKind::recv) << P << " ranks, rank " << rank << ", step " << first;
                ASSERT_EQ(number, first + 1);
                ASSERT_EQ(second.kind, Step::Kind::op);
                ASSERT_EQ(second.op_kind, goal::OpKind::send) << P << " ranks, rank " << rank << ", step " << first;
                ASSERT_TRUE(second.joins);
                ASSERT_EQ(second.peer, step.next);
                ASSERT_EQ(second.size, step.size);
                ASSERT_EQ(second.next, first + 2);
            }
        }
    }
}

TEST_P(EveryAlgorithm, EndsWithEveryMessageReceivedEagerOrByRendezvous) {
    for (const std::uint32_t P : rank_counts) {
        for (const std::uint32_t root : roots(P)) {
            for (const std::uint64_t bytes : {0, 1, 7, 1000}) {
                for (const std::uint64_t segment : segments()) {
                    for (const Protocol protocol : {Protocol::eager, Protocol::rendezvous}) {
                        const auto call = [&](std::uint32_t rank) {
                            CollectiveCall c = testing::call_of(rank, P, root, bytes);
                            c.segment = bytes == 1000 && segment == 1 ? 900 : segment;
                            return c;
                        };
                        const CollectiveRun run(tested().step, P, call, protocol);
                        ASSERT_EQ(run.wrong(), "")
                            << P << " ranks, root " << root << ", " << bytes << " bytes, segment " << segment
                            << (protocol == Protocol::eager ? ", eager" : ", rendezvous");
                    }
                }
            }
        }
    }
}

TEST_P(EveryAlgorithm, EndsInASimulationEagerOrByRendezvous) {
    for (const std::uint32_t P : {1U, 2U, 5U, 8U, 13U, 33U}) {
        for (const std::uint64_t S : {machine::Level::always_eager, std::uint64_t{0}}) {
            machine::Machine machine = testing::simple_machine(1000, 200, 300, 1, 0.5);
            machine.network.S = S;
            const Composition source = pattern(tested(), P, 1000, 0.1);
            ASSERT_NO_THROW(testing::finish_of(source, machine)) << P << " ranks, S = " << S;
        }
    }
}

TEST_P(EveryAlgorithm, SendsNothingWhereThereIsOneRank) {
    const CollectiveRun run(tested().step, 1, testing::calls(1, 0, 1000));
    EXPECT_EQ(run.wrong(), "");
    EXPECT_TRUE(run.messages().empty());
}

TEST_P(EveryAlgorithm, ComputesNothingWhereReductionsAreFree) {
    const auto call = [](std::uint32_t rank) {
        CollectiveCall c = testing::call_of(rank, 12, 0, 1000);
        c.reduction_cost = 0;
        return c;
    };
    const CollectiveRun run(tested().step, 12, call);
    for (std::uint32_t r = 0; r < 12; ++r) {
        EXPECT_EQ(run.computed(r), 0);
    }
}

TEST(Algorithms, OfEachCollectiveTheFirstIsTheDefault) {
    EXPECT_EQ(algorithm(Collective::gather, "").name, "linear");
    EXPECT_EQ(algorithm(Collective::scatter, "").name, "linear");
    EXPECT_EQ(algorithm(Collective::barrier, "").name, "dissemination");
    for (const Algorithm& a : algorithms()) {
        EXPECT_NO_THROW(algorithm(a.collective, ""));
        EXPECT_EQ(collective(name_of(a.collective)), a.collective);
        EXPECT_EQ(algorithm(a.collective, a.name).step, a.step);
        EXPECT_FALSE(a.source.empty());
    }
}

TEST(Algorithms, TheDefaultCanCarryTheVVariantsOfItsCollective) {
    for (const Algorithm& a : algorithms()) {
        EXPECT_EQ(algorithm(a.collective, "").vector_counts, VectorCounts::as_in_mpi) << name_of(a.collective);
    }
}

TEST(Algorithms, AnUnknownNameIsAnErrorThatListsTheNames) {
    try {
        algorithm(Collective::gather, "magic");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "no algorithm for gather is called 'magic'; there are linear, binomial");
    }
    EXPECT_THROW(collective("magic"), InputError);
}

}  // namespace
}  // namespace idlewave::collectives
