#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <exception>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "pdes/run.hpp"
#include "run_events.hpp"
#include "trials.hpp"

namespace idlewave {
namespace {

using testing::no_poll;

/// A model of windows. Its LPs keep a digest of the order of their events, send events, and set timers. Some payloads
/// have a code, others lie in the payload pool.
class Toy {
  public:
    struct Payload {
        std::uint32_t hops = 0;
    };
    struct State {
        std::uint64_t digest = 1;
        std::uint64_t handled = 0;
        std::vector<Time> planned;  ///< timers; the earliest one last
        Time done = 0;
    };

    class Worker {
      public:
        explicit Worker(Toy& toy) : toy_(toy) {}

        template <class Context>
        Time start(State& state, Time until, Context& context) {
            plan(state, static_cast<Time>(mix(state, context.self(), 0) % 40));
            return run(state, {}, until, context);
        }

        static void prefetch_lp(std::uint32_t /*lp*/) {}
        static void prefetch_state(const State& /*state*/, std::uint32_t /*lp*/) {}
        static void prefetch_for(const State& /*state*/, const pdes::Upcoming<Payload>& /*next*/) {}
        static void prefetch_further(const State& /*state*/, std::uint32_t /*lp*/,
                                     const pdes::Upcoming<Payload>& /*next*/) {}
        [[nodiscard]] static std::size_t fetch_steps() { return 4; }
        [[nodiscard]] std::uint64_t& executed() { return executed_; }

        template <class Context>
        Time run(State& state, std::span<const pdes::Event<Payload>> events, Time until, Context& context) {
            for (const auto& event : events) {
                act(state, event.time, context);
                handle(state, event, context);
            }
            act(state, until, context);
            return next(state);
        }

        template <class Context>
        Time run_one(State& state, const pdes::Event<Payload>& event, Time until, Context& context) {
            return run(state, std::span(&event, 1), until, context);
        }

        template <class Context>
        Time step(State& state, std::span<const pdes::Event<Payload>> events, Time now, Context& context) {
            for (const auto& event : events) {
                handle(state, event, context);
            }
            if (next(state) > now) {
                return next(state);
            }
            act_once(state, context);
            return now;
        }

      private:
        static Time next(const State& state) { return state.planned.empty() ? never : state.planned.back(); }

        /// Executes all timers before `until`.
        template <class Context>
        void act(State& state, Time until, Context& context) {
            while (next(state) < until) {
                act_once(state, context);
            }
        }

        template <class Context>
        void act_once(State& state, Context& context) {
            const Time now = state.planned.back();
            EXPECT_GE(now, state.done) << "the time of an LP never goes back";
            state.planned.pop_back();
            state.done = now;
            const std::uint64_t bits = mix(state, 77, static_cast<std::uint64_t>(now));
            if (now < 3000) {
                tell(context, now, bits, 6);
            }
        }

        template <class Context>
        void handle(State& state, const pdes::Event<Payload>& event, Context& context) {
            ++state.handled;
            ++executed_;
            const std::uint64_t bits = mix(state, event.source, static_cast<std::uint64_t>(event.time));
            if (bits % 3 == 0) {
                plan(state, event.time + static_cast<Time>(bits / 8 % 200));
            }
            if (event.payload->hops > 0) {
                tell(context, event.time, bits, event.payload->hops - 1);
                if (bits % 5 == 0) {
                    tell(context, event.time, bits / 16, event.payload->hops / 2);
                }
            }
        }

        template <class Context>
        void tell(Context& context, Time now, std::uint64_t bits, std::uint32_t hops) const {
            const Time delay = toy_.shortest_ + static_cast<Time>(bits % 4 == 0 ? 0 : bits / 64 % 500);
            const auto destination = static_cast<std::uint32_t>(bits / 4 % toy_.lps_);
            if (hops < toy_.known_.size()) {
                context.send(destination, now + delay, static_cast<std::uint16_t>(hops));
            } else {
                context.send(destination, now + delay, Payload{hops});
            }
        }

        Toy& toy_;
        std::uint64_t executed_ = 0;
    };

    Toy(std::uint32_t lps, Time lookahead, Time shortest) : lps_(lps), lookahead_(lookahead), shortest_(shortest) {}

    [[nodiscard]] std::uint32_t lps() const { return lps_; }
    [[nodiscard]] Time lookahead() const { return lookahead_; }
    [[nodiscard]] const Payload& payload(std::uint16_t code) const { return known_[code]; }

  private:
    static std::uint64_t mix(State& state, std::uint64_t a, std::uint64_t b) {
        state.digest = philox({state.digest, a, b, 0}, {1, 2})[0];
        return state.digest;
    }

    static void plan(State& state, Time time) {
        state.planned.push_back(time);
        std::sort(state.planned.rbegin(), state.planned.rend());
    }

    std::uint32_t lps_;
    Time lookahead_;
    Time shortest_;
    std::array<Payload, 4> known_{Payload{0}, Payload{1}, Payload{2}, Payload{3}};
};

using ToyLps = pdes::Lps<Toy::State>;

const auto no_use = [](auto& /*scheduler*/) {};

void expect_alike(const ToyLps& one, const ToyLps& other, const std::string& which) {
    std::uint64_t handled = 0;
    for (std::uint32_t lp = 0; lp < one.size(); ++lp) {
        ASSERT_EQ(one[lp].state.digest, other[lp].state.digest) << "LP " << lp << " of " << one.size() << which;
        ASSERT_EQ(one[lp].state.handled, other[lp].state.handled);
        ASSERT_EQ(one[lp].state.done, other[lp].state.done);
        ASSERT_TRUE(one[lp].state.planned.empty());
        handled += one[lp].state.handled;
    }
    EXPECT_GT(handled, one.size()) << "the model has handled events";
}

TEST(Kernel, AllSchedulersOnAnyNumberOfThreadsHandleTheEventsOfEveryLpInTheSameOrder) {
    for (const std::uint32_t lps : {1U, 2U, 17U, 400U}) {
        for (const Time lookahead : {1, 2, 7, 100, 5000}) {
            // The threads meet after each lookahead: the shortest ones take nearly all of the time.
            if (lookahead < 7 && lps != 17 && testing::trials(10) < 10) {
                continue;
            }
            Toy toy(lps, lookahead, lookahead);
            const auto one = testing::run_event_list(toy, no_use);
            for (const std::uint32_t threads : {1U, 2U, 3U}) {
                const auto windowed = pdes::run(toy, threads, no_poll, no_use);
                expect_alike(*one, *windowed, ", " + std::to_string(lookahead) + ", " + std::to_string(threads));
            }
        }
    }
}

TEST(Kernel, ReportsAModelThatViolatesItsLookaheadOnAnyThread) {
    for (const std::uint32_t threads : {1U, 2U, 3U}) {
        Toy toy(500, 100, 10);
        try {
            pdes::run(toy, threads, no_poll, no_use);
            FAIL() << "the violation went unnoticed";
        } catch (const LogicError& error) {
            EXPECT_NE(std::string(error.what()).find("violates the lookahead"), std::string::npos) << error.what();
        }
    }
}

TEST(Kernel, ANonPositiveLookaheadIsNoHindrance) {
    Toy toy(3, 0, 1);
    const auto lps = pdes::run(toy, 2, no_poll, no_use);
    EXPECT_GT((*lps)[0].state.handled + (*lps)[1].state.handled + (*lps)[2].state.handled, 0U);
}

TEST(Kernel, APollMayEndTheRun) {
    struct Enough : std::exception {};
    for (const Time lookahead : {0, 50}) {
        for (const std::uint32_t threads : {1U, 2U}) {
            Toy toy(2000, lookahead, 50);
            const std::function<void(Time)> poll = [](Time) { throw Enough{}; };
            EXPECT_THROW(pdes::run(toy, threads, poll, no_use), Enough);
        }
    }
}

}  // namespace
}  // namespace idlewave
