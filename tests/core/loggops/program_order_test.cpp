#include "loggops/program_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "collectives/program.hpp"
#include "collectives/program_run.hpp"
#include "loggops/dispatcher.hpp"
#include "scheduled_rank.hpp"

namespace idlewave::loggops {
namespace {

using Kind = collectives::Instruction::Kind;

/// Rank 0 receives from rank 1, computes for `ns`, and sends to it, by blocking calls.
collectives::ProgramSource receive_compute_send(std::uint64_t ns = 2) {
    const auto program = std::make_shared<collectives::Program>();
    program->ranks.resize(2);
    collectives::Instructions& calls = program->ranks[0].instructions;
    calls.push_back({.kind = Kind::recv, .blocking = true, .peer = 1, .size = 1});
    calls.push_back({.kind = Kind::calc, .size = ns});
    calls.push_back({.kind = Kind::send, .blocking = true, .peer = 1, .size = 1});
    calls.fold();
    return {program, 1};
}

machine::Machine with_small_gap() {
    machine::Machine machine = testing::small_machine();
    machine.network.segments[0].parameters.g = 10;
    return machine;
}

/// Rank 0 has posted its receive. Its machine has o_s = 20, o_r = 30, g = 10 and L = 1000 ps.
struct ProgramRank : testing::ScheduledRank<Dispatcher, collectives::ProgramSource> {
    explicit ProgramRank(const collectives::ProgramSource& source) : ScheduledRank(source, with_small_gap()) {
        EXPECT_EQ(part.start(100, context), never) << "it waits for a message";
    }

    using Event = pdes::Event<Message>;
    [[nodiscard]] Event arrival(Time at, std::uint32_t sequence) const { return {at, 1, sequence, &message}; }
    [[nodiscard]] bool is_paused() const { return collectives::ProgramSource::is_paused(state.source); }

    Message message{.size = 1, .tag = 0};
};

TEST(ProgramOrder, ARankPausesWhereAnArrivalMayComeFirstAndMakesNoRequest) {
    const collectives::ProgramSource source = receive_compute_send();
    ProgramRank rank(source);
    EXPECT_EQ(rank.part.run_one(rank.arrival(500, 0), 600, rank.context), 500 + 30 + 2000) << "its send is ready then";
    EXPECT_TRUE(rank.is_paused());
    EXPECT_TRUE(rank.parts().agenda.idle());
    EXPECT_EQ(rank.part.run({}, 2531, rank.context), never);
    EXPECT_FALSE(rank.is_paused());
    ASSERT_EQ(rank.context.messages.size(), 1U);
    EXPECT_EQ(rank.context.messages[0].time, 2530 + 20 + 1000);
}

TEST(ProgramOrder, BeforeAComputationItPausesUntilTheComputationWouldEnd) {
    const collectives::ProgramSource source = receive_compute_send();
    ProgramRank rank(source);
    EXPECT_EQ(rank.part.run_one(rank.arrival(500, 0), 510, rank.context), 530 + 2000) << "no rank sees it begin";
    EXPECT_EQ(rank.cpu_free(), 530) << "what arrives at 520 may still precede it";
    EXPECT_EQ(rank.part.run_one(rank.arrival(520, 1), 560, rank.context), 560 + 2000) << "and does, from 530 to 560";
    EXPECT_EQ(rank.parts().matching.unexpected_messages(rank.state.match), 1U);
    EXPECT_EQ(rank.part.run({}, 2561, rank.context), never);
    ASSERT_EQ(rank.context.messages.size(), 1U);
    EXPECT_EQ(rank.context.messages[0].time, 2560 + 20 + 1000);
}

TEST(ProgramOrder, AComputationBeyondTheRangeOfTimesIsAnErrorOnceItStarts) {
    constexpr std::uint64_t most_ns =
        9'223'372'036'854'775;  // from time 0 they end before `never`, from 1030 ps they do not
    for (const std::uint64_t ns : {most_ns, most_ns + 1, std::numeric_limits<std::uint64_t>::max()}) {
        const collectives::ProgramSource source = receive_compute_send(ns);
        ProgramRank rank(source);
        EXPECT_EQ(rank.part.run_one(rank.arrival(1000, 0), 1010, rank.context), 1030) << "it pauses up to its start";
        EXPECT_THROW(rank.part.run({}, never, rank.context), TimeOverflow);
    }
}

TEST(ProgramOrder, MessagesThatArriveInAPauseAtOneTimeAreReceivedBeforeTheNextOp) {
    const collectives::ProgramSource source = receive_compute_send();
    ProgramRank rank(source);
    ASSERT_EQ(rank.part.run_one(rank.arrival(500, 0), 600, rank.context), 2530);
    const std::array events = {rank.arrival(2000, 1), rank.arrival(2000, 2)};
    EXPECT_EQ(rank.part.run(std::span(events), 2100, rank.context), 2530 + 2 * 30);
    EXPECT_FALSE(rank.is_paused());
    EXPECT_TRUE(rank.parts().agenda.one()) << "the next op has become a request among them";
    EXPECT_EQ(rank.parts().matching.unexpected_messages(rank.state.match), 2U);
    EXPECT_EQ(rank.part.run({}, never, rank.context), never);
    ASSERT_EQ(rank.context.messages.size(), 1U);
    EXPECT_EQ(rank.context.messages[0].time, 2530 + 2 * 30 + 20 + 1000);
}

TEST(ProgramOrder, ARequestToSendThatArrivesInAPauseIsReceivedBeforeTheNextOp) {
    const collectives::ProgramSource source = receive_compute_send();
    ProgramRank rank(source);
    ASSERT_EQ(rank.part.run_one(rank.arrival(500, 0), 600, rank.context), 2530);
    const Message request{.size = 1, .tag = 0, .kind = MessageKind::request_to_send};
    EXPECT_EQ(rank.part.run_one({2000, 1, 1, &request}, 2100, rank.context), 2530 + 30);
    EXPECT_FALSE(rank.is_paused());
    EXPECT_EQ(rank.part.run({}, never, rank.context), never);
    ASSERT_EQ(rank.context.messages.size(), 1U);
    EXPECT_EQ(rank.context.messages[0].time, 2530 + 30 + 20 + 1000);
}

}  // namespace
}  // namespace idlewave::loggops
