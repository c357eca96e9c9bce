#include "collectives/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "collectives/program_run.hpp"
#include "outcome.hpp"
#include "random_schedule.hpp"
#include "trials.hpp"
#include "written_out.hpp"

namespace idlewave::collectives {
namespace {

using testing::Dice;
using testing::Outcome;
using testing::written_out;

using Kind = Instruction::Kind;

Instructions instructions(const std::vector<Instruction>& listed) {
    Instructions all;
    std::ranges::for_each(listed, [&all](const Instruction& instruction) { all.push_back(instruction); });
    return all;
}

std::vector<Instruction> list(const Instructions& instructions) {
    std::vector<Instruction> listed;
    instructions.each([&listed](const Instruction& instruction) { listed.push_back(instruction); });
    return listed;
}

/// Programs whose ranks agree on the order of what they do together, so that they end: computation, messages that
/// both sides start and wait for at some later time, and collectives, blocking or not, of all or of some ranks.
class RandomProgram {
  public:
    RandomProgram(Dice& dice, std::uint32_t ranks) : dice_(dice), open_(ranks) {
        program_->ranks.resize(ranks);
        program_->reduction_cost = dice.one_in(2) ? 0.5 : 0;
        add_communicators();
    }

    std::shared_ptr<const Program> make(std::uint32_t events) {
        for (std::uint32_t i = 0; i < events; ++i) {
            switch (dice_.roll(6)) {
                case 0:
                    instruction(any_rank(), {.kind = Kind::calc, .size = dice_.roll(3)});
                    break;
                case 1:
                case 2:
                    message();
                    break;
                case 3:
                    collective();
                    break;
                default:
                    wait(any_rank());
            }
        }
        return program_;
    }

  private:
    std::uint32_t any_rank() { return dice_.small(static_cast<std::uint32_t>(program_->ranks.size())); }

    void add_communicators() {
        std::vector<std::uint32_t> world(program_->ranks.size());
        std::iota(world.begin(), world.end(), 0U);
        std::vector<std::uint32_t> some;
        for (const std::uint32_t r : world) {
            if (dice_.one_in(2)) {
                some.insert(some.begin(), r);
            }
        }
        const std::vector<std::uint32_t> turned(world.rbegin(), world.rend());
        program_->communicators = {world, turned};
        if (!some.empty()) {
            program_->communicators.push_back(some);
        }
    }

    void instruction(std::uint32_t rank, const Instruction& i) { program_->ranks[rank].instructions.push_back(i); }

    std::uint32_t slot(std::uint32_t rank) {
        open_[rank].push_back(program_->ranks[rank].slots);
        return program_->ranks[rank].slots++;
    }

    void message() {
        const std::uint32_t from = any_rank();
        const std::uint32_t to = any_rank();
        const std::uint32_t tag = dice_.small(2);
        const std::uint64_t size = dice_.roll(40);
        const Instruction sent{.kind = Kind::send, .peer = to, .tag = tag, .size = size};
        const Instruction received{.kind = Kind::recv, .peer = from, .tag = tag, .size = size};
        const bool may_block = from != to;
        instruction(from, begun(sent, from, may_block));
        instruction(to, begun(received, to, may_block));
    }

    /// A message that is blocking or has a slot.
    Instruction begun(Instruction message, std::uint32_t rank, bool may_block) {
        message.blocking = may_block && dice_.one_in(3);
        message.slot = message.blocking ? no_slot : slot(rank);
        return message;
    }

    void collective() {
        const auto which = dice_.small(static_cast<std::uint32_t>(program_->communicators.size()));
        const auto& members = program_->communicators[which];
        const Algorithm& chosen = algorithms()[dice_.roll(algorithms().size())];
        const bool blocking = dice_.one_in(2);
        CollectiveSite site{.step = chosen.step,
                            .communicator = which,
                            .rank = 0,
                            .root = dice_.small(static_cast<std::uint32_t>(members.size())),
                            .tag = 1000 + 100 * collectives_++,
                            .counter = which,
                            .bytes = dice_.roll(60),
                            .send_counts = {},
                            .recv_counts = {}};
        for (const std::uint32_t member : members) {
            RankProgram& rank = program_->ranks[member];
            instruction(member, {.kind = Kind::collective,
                                 .slot = blocking ? no_slot : slot(member),
                                 .begin = static_cast<std::uint32_t>(rank.collectives.size())});
            rank.collectives.push_back(site);
            rank.counters = static_cast<std::uint32_t>(program_->communicators.size());
            ++site.rank;
        }
    }

    /// For some of what the rank has started; a slot that was waited for may stand in a list again.
    void wait(std::uint32_t rank) {
        RankProgram& program = program_->ranks[rank];
        Instruction i{.kind = Kind::wait, .begin = static_cast<std::uint32_t>(program.slot_lists.size())};
        for (const std::uint32_t slot : open_[rank]) {
            if (dice_.one_in(2)) {
                program.slot_lists.push_back(slot);
                ++i.count;
            }
        }
        instruction(rank, i);
    }

    Dice& dice_;
    std::shared_ptr<Program> program_ = std::make_shared<Program>();
    std::vector<std::vector<std::uint32_t>> open_;
    std::uint32_t collectives_ = 0;
};

TEST(Program, RunsExactlyAsItsScheduleWrittenOut) {
    for (std::uint64_t seed = 0; seed < testing::trials(500); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        RandomProgram random(dice, 1 + dice.small(5));
        const ProgramSource source(random.make(1 + dice.small(40)), 1 + dice.small(3));
        const Outcome direct = testing::outcome_of(source, machine, seed);
        const goal::Graph written = written_out(source);
        const Outcome graph = testing::outcome_of(written, machine, seed);
        ASSERT_EQ(direct.standstill, "") << "seed " << seed;
        ASSERT_EQ(direct, graph) << "seed " << seed;
        ASSERT_EQ(testing::finish_of(source, machine, seed, 2), direct.finish) << "seed " << seed;
        ASSERT_EQ(testing::finish_of(written, machine, seed, 2), direct.finish) << "seed " << seed;
    }
}

/// Programs of blocking calls in one order of all, so that they end: ranks compute, and pass messages on to each other,
/// some of which come long before they are received.
std::shared_ptr<const Program> random_blocking_program(Dice& dice, std::uint32_t ranks) {
    const auto program = std::make_shared<Program>();
    program->ranks.resize(ranks);
    const std::uint64_t longest_computation = dice.one_in(2) ? 2 : 300;
    const std::uint64_t largest_message = dice.one_in(2) ? 4 : 2000;
    for (std::uint64_t left = 5 + dice.roll(200); left > 0; --left) {
        const std::uint32_t from = dice.small(ranks);
        const std::uint32_t to = (from + 1 + dice.small(ranks - 1)) % ranks;
        const Instruction sent{
            .kind = Kind::send, .blocking = true, .peer = to, .tag = dice.small(2), .size = dice.roll(largest_message)};
        Instruction received = sent;
        received.kind = Kind::recv;
        received.peer = from;
        const std::uint64_t before = dice.roll(longest_computation);
        for (const auto& [rank, call] : {std::pair(from, sent), std::pair(to, received)}) {
            if (dice.one_in(2)) {
                program->ranks[rank].instructions.extend_calc(before);
            }
            program->ranks[rank].instructions.push_back(call);
        }
    }
    for (RankProgram& rank : program->ranks) {
        rank.instructions.fold();
    }
    return program;
}

TEST(Program, OfBlockingCallsRunsExactlyAsItsScheduleWrittenOut) {
    for (std::uint64_t seed = 0; seed < testing::trials(500); ++seed) {
        Dice dice(seed);
        machine::Machine machine = testing::random_machine(dice);
        if (dice.one_in(2)) {
            machine.network.S = ~std::uint64_t{0};  // all messages are eager
        }
        const ProgramSource source(random_blocking_program(dice, 2 + dice.small(6)), 1 + dice.small(3));
        const std::vector<Time> expected = testing::finish_of(written_out(source), machine, seed);
        ASSERT_EQ(testing::finish_of(source, machine, seed), expected) << "seed " << seed;
        ASSERT_EQ(testing::finish_of(source, machine, seed, 2), expected) << "seed " << seed;
    }
}

TEST(Program, EveryPatternRunsExactlyAsItsScheduleWrittenOut) {
    for (const Algorithm& a : algorithms()) {
        for (const std::uint32_t P : {1U, 2U, 5U, 8U, 13U}) {
            const machine::Machine machine = testing::simple_machine(700, 150, 200, 2, 0.5);
            const Composition source = pattern(a, P, 333, 0.25);
            ASSERT_EQ(testing::outcome_of(source, machine), testing::outcome_of(written_out(source), machine))
                << name_of(a.collective) << ' ' << a.name << ", " << P << " ranks";
        }
    }
}

TEST(Program, CopiesKeepMessagesAndCollectivesOfSomeRanksInsideTheCopyAndSpanThemWithCollectivesOfAll) {
    constexpr std::uint32_t base = 4;
    constexpr std::uint32_t copies = 3;
    const auto program = std::make_shared<Program>();
    program->communicators = {{0, 1, 2, 3}, {2, 3}, {1}};
    const StepFunction alltoall = algorithm(Collective::alltoall, "").step;
    for (std::uint32_t r = 0; r < base; ++r) {
        RankProgram rank;
        rank.slots = 2;
        rank.slot_lists = {0, 1};
        rank.counters = static_cast<std::uint32_t>(program->communicators.size());
        rank.instructions =
            instructions({{.kind = Kind::send, .slot = 0, .peer = (r + 1) % base, .tag = 1, .size = 8},
                          {.kind = Kind::recv, .slot = 1, .peer = (r + base - 1) % base, .tag = 1, .size = 8},
                          {.kind = Kind::wait, .begin = 0, .count = 2}});
        const auto call = [&](std::uint32_t communicator, std::uint32_t number, std::uint32_t tag) {
            rank.instructions.push_back(
                {.kind = Kind::collective, .begin = static_cast<std::uint32_t>(rank.collectives.size())});
            rank.collectives.push_back({.step = alltoall,
                                        .communicator = communicator,
                                        .rank = number,
                                        .tag = tag,
                                        .counter = communicator,
                                        .bytes = 16,
                                        .send_counts = {},
                                        .recv_counts = {}});
        };
        call(0, r, 100);
        if (r >= 2) {
            call(1, r - 2, 200);
        }
        if (r == 1) {
            call(2, 0, 300);
        }
        program->ranks.push_back(std::move(rank));
    }
    const ProgramSource source(program, copies);
    ASSERT_EQ(source.ranks(), base * copies);
    for (std::uint32_t r = 0; r < source.ranks(); ++r) {
        std::vector<std::uint32_t> to_all;
        for (const goal::Op& op : source.rank_schedule(r).ops) {
            if (op.tag == 1) {
                EXPECT_EQ(op.peer, r / base * base + (r + (op.kind == goal::OpKind::send ? 1 : base - 1)) % base);
            } else if (op.tag == 200) {
                EXPECT_EQ(op.peer, r ^ 1U);
            } else if (op.kind == goal::OpKind::send) {
                EXPECT_EQ(op.tag, 100U) << "who is alone on a communicator has nothing to send";
                to_all.push_back(op.peer);
            }
        }
        std::sort(to_all.begin(), to_all.end());
        EXPECT_EQ(to_all.size(), source.ranks() - 1);
        EXPECT_EQ(std::unique(to_all.begin(), to_all.end()), to_all.end());
    }
    EXPECT_EQ(testing::outcome_of(source, testing::simple_machine(100, 10, 10, 1, 0)).standstill, "");
}

TEST(Program, SaysWhereARankStandsWhenItCannotGoOn) {
    const auto program = std::make_shared<Program>();
    program->ranks.resize(2);
    program->ranks[0].slots = 1;
    program->ranks[0].slot_lists = {0};
    program->ranks[0].instructions = instructions({{.kind = Kind::recv, .slot = 0, .peer = 1, .tag = 3, .size = 8},
                                                   {.kind = Kind::wait, .begin = 0, .count = 1}});
    const Outcome outcome = testing::outcome_of(ProgramSource(program, 1), machine::Machine{});
    EXPECT_EQ(outcome.standstill,
              "unmatched receive: an op waits for a message that nobody sends\n"
              "  rank 0, op 0: waits for a message from rank 1 with tag 3, which nobody sends\n"
              "in all 2 things are left\n"
              "---\n"
              "0 op 0 waits for a message from rank 1 with tag 3, which nobody sends\n"
              "0 instruction 2 of 2 cannot go on\n"
              "---");
}

/// A program of which a few messages, or collectives, have another tag.
std::shared_ptr<const Program> damaged(const Program& program, Dice& dice) {
    auto copy = std::make_shared<Program>(program);
    for (int n = 0; n < 3; ++n) {
        RankProgram& rank = copy->ranks[dice.small(static_cast<std::uint32_t>(copy->ranks.size()))];
        std::vector<Instruction> listed = list(rank.instructions);
        if (!listed.empty()) {
            Instruction& instruction = listed[dice.roll(listed.size())];
            instruction.tag = instruction.kind == Kind::recv || instruction.kind == Kind::send ? dice.small(4) : 0;
            if (instruction.kind == Kind::collective) {
                rank.collectives[instruction.begin].tag = 5;
            }
            rank.instructions = instructions(listed);
        }
    }
    return copy;
}

TEST(Program, ComesToTheSameStandstillAsItsScheduleWrittenOut) {
    std::uint64_t cycles = 0;
    std::uint64_t others = 0;
    for (std::uint64_t seed = 0; seed < testing::trials(4000); ++seed) {
        Dice dice(seed);
        const machine::Machine machine = testing::random_machine(dice);
        RandomProgram random(dice, 2 + dice.small(4));
        const ProgramSource source(damaged(*random.make(5 + dice.small(40)), dice), 1 + dice.small(2));
        const goal::Graph written = written_out(source);
        try {
            testing::finish_of(source, machine, seed);
            ASSERT_NO_THROW(testing::finish_of(written, machine, seed)) << "seed " << seed;
        } catch (const Standstill& found) {
            try {
                testing::finish_of(written, machine, seed);
                FAIL() << "seed " << seed;
            } catch (const Standstill& expected) {
                ASSERT_EQ(found.kind, expected.kind) << "seed " << seed << '\n' << found.what();
                ASSERT_EQ(found.left_over.cycle_length, expected.left_over.cycle_length) << "seed " << seed;
                ASSERT_EQ(found.left_over.messages.size(), expected.left_over.messages.size()) << "seed " << seed;
                (found.left_over.cycle_length > 0 ? cycles : others) += 1;
            }
        }
    }
    EXPECT_GT(others, testing::trials(200));
    EXPECT_GT(cycles, 0U);
}

TEST(Program, RefusesMoreRanksThanThereCanBe) {
    const auto program = std::make_shared<Program>();
    EXPECT_THROW(ProgramSource(program, 1), InputError);
    program->ranks.resize(65'536);
    EXPECT_THROW(ProgramSource(program, 65'536), InputError);
}

TEST(Program, SaysSoWhenAComputationIsLongerThanTimeLasts) {
    const auto program = std::make_shared<Program>();
    program->ranks.resize(1);
    program->ranks[0].instructions = instructions({{.kind = Kind::calc, .size = 1'000'000'000'000'000'000}});
    EXPECT_THROW(testing::finish_of(ProgramSource(program, 1), machine::Machine{}), TimeOverflow);
}

}  // namespace
}  // namespace idlewave::collectives
