#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "loggops/simulate.hpp"
#include "outcome.hpp"
#include "pdes/one_by_one.hpp"
#include "pdes/sequential.hpp"
#include "pdes/windowed.hpp"
#include "random_schedule.hpp"

namespace idlewave {
namespace {

using testing::Dice;
using testing::Outcome;

const std::function<void(Time)> no_poll;

/// LPs that remember the order of all that they are told, tell others, and have things to do by themselves.
class Toy {
  public:
    struct Payload {
        std::uint32_t hops = 0;
    };
    struct State {
        std::uint64_t digest = 1;
        std::uint64_t handled = 0;
        std::vector<Time> planned;  ///< when it does something by itself; the earliest last
        Time done = 0;
    };

    Toy(std::uint32_t lps, Time lookahead, Time shortest) : lps_(lps), lookahead_(lookahead), shortest_(shortest) {}

    [[nodiscard]] std::uint32_t lps() const { return lps_; }
    [[nodiscard]] Time lookahead() const { return lookahead_; }

    template <class Context>
    Time start(State& state, Context& context) {
        plan(state, static_cast<Time>(mix(state, context.self(), 0) % 40));
        return state.planned.back();
    }

    template <class Context>
    void handle(State& state, const pdes::Event<Payload>& event, Context& context) {
        ++state.handled;
        const std::uint64_t bits = mix(state, event.source, static_cast<std::uint64_t>(event.time));
        if (bits % 3 == 0) {
            plan(state, event.time + static_cast<Time>(bits / 8 % 200));
        }
        if (event.payload.hops > 0) {
            tell(context, event.time, bits, event.payload.hops - 1);
            if (bits % 5 == 0) {
                tell(context, event.time, bits / 16, event.payload.hops / 2);
            }
        }
    }

    template <class Context>
    Time settle(State& state, Time now, Context& context) {
        if (!state.planned.empty() && state.planned.back() <= now) {
            EXPECT_EQ(state.planned.back(), now) << "an LP is called when its timer is due, not later";
            state.planned.pop_back();
            state.done = now;
            const std::uint64_t bits = mix(state, 77, static_cast<std::uint64_t>(now));
            if (now < 3000) {
                tell(context, now, bits, 6);
            }
            return now;
        }
        return state.planned.empty() ? never : state.planned.back();
    }

  private:
    static std::uint64_t mix(State& state, std::uint64_t a, std::uint64_t b) {
        state.digest = philox({state.digest, a, b, 0}, {1, 2})[0];
        return state.digest;
    }

    static void plan(State& state, Time time) {
        state.planned.push_back(time);
        std::sort(state.planned.rbegin(), state.planned.rend());
    }

    template <class Context>
    void tell(Context& context, Time now, std::uint64_t bits, std::uint32_t hops) const {
        const Time delay = shortest_ + static_cast<Time>(bits % 4 == 0 ? 0 : bits / 64 % 500);
        context.send(static_cast<std::uint32_t>(bits / 4 % lps_), now + delay, {hops});
    }

    std::uint32_t lps_;
    Time lookahead_;
    Time shortest_;
};

static_assert(pdes::Model<Toy>);

template <template <class> class Scheduler>
std::vector<Toy::State> run_toy(std::uint32_t lps, Time lookahead) {
    Toy toy(lps, lookahead, lookahead);
    std::vector<Toy::State> states(lps);
    Scheduler<Toy>(toy, states, no_poll).run();
    return states;
}

TEST(Kernel, BothSchedulersHandleTheEventsOfEveryLpInTheSameOrder) {
    for (const std::uint32_t lps : {1U, 2U, 17U, 400U}) {
        for (const Time lookahead : {1, 2, 7, 100, 5000}) {
            const auto one = run_toy<pdes::OneByOne>(lps, lookahead);
            const auto windowed = run_toy<pdes::Windowed>(lps, lookahead);
            std::uint64_t handled = 0;
            for (std::uint32_t lp = 0; lp < lps; ++lp) {
                ASSERT_EQ(one[lp].digest, windowed[lp].digest) << "LP " << lp << " of " << lps << ", " << lookahead;
                ASSERT_EQ(one[lp].handled, windowed[lp].handled);
                ASSERT_EQ(one[lp].done, windowed[lp].done);
                ASSERT_TRUE(one[lp].planned.empty());
                handled += one[lp].handled;
            }
            EXPECT_GT(handled, lps) << "the model has done something";
        }
    }
}

TEST(Kernel, ReportsAModelThatViolatesItsLookahead) {
    Toy toy(5, 100, 10);
    std::vector<Toy::State> states(5);
    try {
        pdes::Windowed<Toy>(toy, states, no_poll).run();
        FAIL() << "the violation went unnoticed";
    } catch (const LogicError& error) {
        EXPECT_NE(std::string(error.what()).find("violates the lookahead"), std::string::npos) << error.what();
    }
}

TEST(Kernel, ANonPositiveLookaheadIsNoHindrance) {
    Toy toy(3, 0, 1);
    std::vector<Toy::State> states(3);
    pdes::run_sequential(toy, states, no_poll);
    EXPECT_GT(states[0].handled + states[1].handled + states[2].handled, 0U);
}

TEST(Kernel, APollMayEndTheRun) {
    struct Enough : std::exception {};
    for (const Time lookahead : {0, 50}) {
        Toy toy(400, lookahead, 50);
        std::vector<Toy::State> states(400);
        const std::function<void(Time)> poll = [](Time) { throw Enough{}; };
        EXPECT_THROW(pdes::run_sequential(toy, states, poll), Enough);
    }
}

/// The LogGOPS model under one scheduler.
template <template <class> class Scheduler>
Outcome run_loggops(const Graph& graph, const Machine& machine, std::uint64_t seed) {
    OpLog log;
    using Model = LogGops<Graph, OpLog>;
    Model model(graph, machine, seed, log);
    std::vector<Model::State> ranks(graph.ranks());
    Scheduler<Model>(model, ranks, no_poll).run();
    Outcome outcome{.finish = {}, .messages = model.messages(), .records = std::move(log.records()), .deadlock = {}};
    sort_records(outcome.records);
    std::vector<Waiting> waiting;
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
        outcome.finish.push_back(ranks[r].finish);
        model.unfinished(r, ranks[r], waiting);
    }
    outcome.deadlock = waiting.empty() ? "" : deadlock(waiting).what();
    return outcome;
}

TEST(Kernel, BothSchedulersGiveTheSameTimesForRandomSchedules) {
    int ended = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        Dice dice(seed);
        const Machine machine = testing::random_machine(dice);
        const Graph graph = testing::random_schedule(dice, 1 + dice.small(6), 1 + dice.small(40));
        const Outcome one = run_loggops<pdes::OneByOne>(graph, machine, seed);
        const Outcome windowed = run_loggops<pdes::Windowed>(graph, machine, seed);
        ASSERT_EQ(one, windowed) << "seed " << seed;
        ended += one.deadlock.empty() ? 1 : 0;
    }
    EXPECT_GT(ended, 700) << "most schedules are sound";
}

TEST(Simulate, RecordingChangesNothing) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Dice dice(seed);
        const Machine machine = testing::random_machine(dice);
        const Graph graph = testing::random_schedule(dice, 1 + dice.small(6), 1 + dice.small(40));
        const Outcome recorded = testing::outcome_of(graph, machine);
        if (recorded.deadlock.empty()) {
            ASSERT_EQ(testing::finish_of(graph, machine), recorded.finish) << "seed " << seed;
        } else {
            ASSERT_THROW(testing::finish_of(graph, machine), Deadlock) << "seed " << seed;
        }
    }
}

TEST(Simulate, ADeadlocksMessageShowsTheFirstThingsThatWaitAndItsDataAll) {
    GraphBuilder builder;
    builder.begin_rank();
    for (int i = 0; i < 10; ++i) {
        builder.add({.size = 8, .peer = 0, .tag = 3, .kind = OpKind::recv}, "r" + std::to_string(i));
    }
    const Graph graph = builder.finish();
    try {
        testing::finish_of(graph, Machine{});
        FAIL();
    } catch (const Deadlock& deadlock) {
        const std::string what = deadlock.what();
        EXPECT_TRUE(
            what.starts_with("deadlock: nothing can happen any more, and 10 things are left\n"
                             "  rank 0, r0: waits for a message from rank 0 with tag 3, which nobody sends\n"))
            << what;
        EXPECT_TRUE(what.ends_with("\n  … and 2 more")) << what;
        EXPECT_EQ(deadlock.waiting.size(), 10U);
        EXPECT_EQ(deadlock.waiting[9].op, "r9");
    }
}

}  // namespace
}  // namespace idlewave
