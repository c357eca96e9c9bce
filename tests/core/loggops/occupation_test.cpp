#include "loggops/occupation.hpp"

#include <gtest/gtest.h>

#include "loggops/transmission.hpp"
#include "rank_fixture.hpp"

namespace idlewave::loggops {
namespace {

using testing::RankFixture;
using testing::small_machine;

constexpr MessageEnd eleven_bytes{.kind = MessageKind::data, .peer = 1, .size = 11};

machine::Costs costs_of_eleven_bytes(const machine::Machine& machine) {
    return costs(machine.network, eleven_bytes.size);
}

TEST(Occupation, ATransmissionTakesTheCpuForTheOverheadAndTheNicForTheGap) {
    const machine::Machine machine = small_machine();
    RankFixture ranks(machine, 2);
    Occupation<goal::Graph, NoObserver> occupation(ranks.tables);
    const auto rank = ranks.current(0);
    const auto sent = occupation.transmit(rank, {}, eleven_bytes, costs_of_eleven_bytes(machine), 100);
    EXPECT_EQ(sent.done, 100 + 20 + 10 * 1);
    EXPECT_EQ(sent.arrival, 100 + 20 + 1000);
    EXPECT_EQ(occupation.start_of_calc(rank, 0, 0), 130);
    EXPECT_EQ(occupation.start_of_send(rank, 0, 0, 0), 100 + 50 + 10 * 2) << "the NIC's send side";
    EXPECT_EQ(occupation.start_of_reception(rank, 0, 0, 0), 130) << "the NIC's receive side is free";
    EXPECT_EQ(occupation.messages(), 1U);
}

TEST(Occupation, AMessageIsProcessedWhenTheCpuIsFreeAndItsLastByteHasArrived) {
    const machine::Machine machine = small_machine();
    RankFixture ranks(machine, 2);
    Occupation<goal::Graph, NoObserver> occupation(ranks.tables);
    const auto rank = ranks.current(0);
    EXPECT_EQ(occupation.receive(rank, {}, eleven_bytes, costs_of_eleven_bytes(machine), 100), 100 + 30 + 10 * 2);
    EXPECT_EQ(occupation.start_of_calc(rank, 0, 0), 100 + 30 + 10 * 1);
    EXPECT_EQ(occupation.start_of_reception(rank, 0, 0, 0), 100 + 50 + 10 * 2);
    EXPECT_EQ(occupation.start_of_send(rank, 0, 0, 0), 140) << "the NIC's send side is free";
    EXPECT_EQ(ranks.tables.processed[0], 150);
    EXPECT_EQ(occupation.messages(), 0U);
}

TEST(Occupation, ADetourDelaysTheCpuAndTheMessageButNotTheNic) {
    machine::Machine machine = small_machine();
    machine.noise = machine::NoiseTrace({{110, 500}}, 1'000'000, machine::Phase::given, {0});
    RankFixture ranks(machine, 2);
    Occupation<goal::Graph, NoObserver> occupation(ranks.tables);
    const auto rank = ranks.current(0);
    occupation.begin(rank);
    const auto sent = occupation.transmit(rank, {}, eleven_bytes, costs_of_eleven_bytes(machine), 100);
    EXPECT_EQ(sent.done, 130 + 500);
    EXPECT_EQ(sent.arrival, 120 + 500 + 1000);
    EXPECT_EQ(rank.free_times()[ranks.tables.layout.tx(0)], 170);
}

TEST(Occupation, ASendEndsItsCompletionAfterTheCpuIsFreeAndNoControlMessageDoes) {
    machine::Machine machine = small_machine();
    machine.network.segments[0].parameters.c = 7;
    RankFixture ranks(machine, 2);
    Occupation<goal::Graph, NoObserver> occupation(ranks.tables);
    const auto rank = ranks.current(0);
    occupation.begin(rank);
    const auto sent = occupation.transmit(rank, {}, eleven_bytes, costs_of_eleven_bytes(machine), 100);
    EXPECT_EQ(sent.done, 130 + 7);
    EXPECT_EQ(rank.free_times()[ranks.tables.layout.cpu(0)], 130) << "the CPU is free before the send ends";
    EXPECT_EQ(ranks.tables.processed[0], 137) << "the rank finishes no sooner";
    MessageEnd request = eleven_bytes;
    request.kind = MessageKind::request_to_send;
    EXPECT_EQ(occupation.transmit(rank, {}, request, costs_of_eleven_bytes(machine), 200).done, 230);
}

TEST(Occupation, AReceiveThatTakesTheCpuFreesItAfterItsOverhead) {
    machine::Machine machine = small_machine();
    machine.noise = machine::NoiseTrace({{110, 500}}, 1'000'000, machine::Phase::given, {0});
    RankFixture ranks(machine, 2);
    Occupation<goal::Graph, NoObserver> occupation(ranks.tables);
    const auto rank = ranks.current(0);
    occupation.begin(rank);
    EXPECT_EQ(occupation.post(rank, {}, eleven_bytes, 9, 100), 109);
    EXPECT_EQ(rank.free_times()[ranks.tables.layout.cpu(0)], 109);
    EXPECT_EQ(rank.free_times()[ranks.tables.layout.rx(0)], 0) << "no NIC is needed";
    EXPECT_EQ(occupation.post(rank, {}, eleven_bytes, 9, 109), 109 + 500 + 9) << "with a detour in it";
}

TEST(Occupation, APartThatNoiseDoesNotReachTakesItsPlainTimeAndIsNotInterrupted) {
    machine::Machine machine = small_machine();
    machine.noise = machine::NoiseTrace({{10, 500}}, 1'000'000, machine::Phase::given, {0});
    machine.noise_reach.o_s = false;
    machine::NoiseState state = machine.noise.begin(0, 0);
    const Occupied cpu = occupy(machine, state, 0, {.length = 20, .reached = false}, 30);
    EXPECT_EQ(cpu.overhead, 20) << "a part that noise does not reach";
    EXPECT_EQ(cpu.end, 510 + 30) << "O would begin inside the detour, so it begins at its end";
    machine.noise_reach.O = false;
    EXPECT_EQ(occupy(machine, state, 0, {.length = 20, .reached = false}, 30).end, 50);
}

}  // namespace
}  // namespace idlewave::loggops
