#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "pdes/run_model.hpp"

namespace idlewave {
namespace {

/// LP 3 sends an event at 1000 ticks that it may not send.
struct Rude {
    struct State {
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;
    };
    struct Payload {
        bool operator==(const Payload&) const = default;
    };

    std::uint32_t whom = 0;
    Time delay = 0;
    Time promised = 0;

    [[nodiscard]] static std::uint32_t lps() { return 10; }
    [[nodiscard]] Time lookahead() const { return promised; }
    [[nodiscard]] static std::uint64_t seed() { return 1; }

    template <class Context>
    static void start(State& /*state*/, Context& context) {
        context.send(context.self(), 1000, {});
    }
    template <class Context>
    void handle(State& state, const Payload& /*payload*/, Context& context) const {
        if (++state.handled == 1 && context.self() == 3) {
            context.send(whom, delay, {});
        }
    }
};

/// One that is refused without a lookahead.
struct Careful : Rude {
    static constexpr bool needs_lookahead = true;
};

std::string refusal(const Rude& rude, const std::string& scheduler) {
    pdes::RunConfiguration options;
    options.scheduler = scheduler;
    try {
        pdes::run_model(rude, options, [](std::uint32_t /*lp*/, const Rude::State& /*state*/) {});
    } catch (const LogicError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Refusals, NameLpAndTimeOfAnInvalidEventOnEveryScheduler) {
    for (const std::string scheduler : {"sequential", "yawns", "timewarp", "check"}) {
        EXPECT_EQ(refusal({5, 99, 100}, scheduler),
                  "LP 3 sends an event to LP 5 at 1099 ticks: that violates the lookahead");
        EXPECT_EQ(refusal({5, -1, 100}, scheduler), "LP 3 sends an event to LP 5 at 999 ticks: that is in the past");
        EXPECT_EQ(refusal({3, -1, 100}, scheduler), "LP 3 sends an event to LP 3 at 999 ticks: that is in the past");
        EXPECT_EQ(refusal({10, 500, 100}, scheduler),
                  "LP 3 sends an event to LP 10 at 1500 ticks: there are LPs below 10");
        EXPECT_EQ(refusal({5, 100, 100}, scheduler), "no error");
        EXPECT_EQ(refusal({3, 0, 100}, scheduler), "no error");
        if (scheduler != "yawns") {
            EXPECT_EQ(refusal({5, -1, 0}, scheduler), "LP 3 sends an event to LP 5 at 999 ticks: that is in the past");
            EXPECT_EQ(refusal({3, -1, 0}, scheduler), "LP 3 sends an event to LP 3 at 999 ticks: that is in the past");
            EXPECT_EQ(refusal({10, 5, 0}, scheduler),
                      "LP 3 sends an event to LP 10 at 1005 ticks: there are LPs below 10");
            EXPECT_EQ(refusal({5, 0, 0}, scheduler), "no error");
        }
    }
}

TEST(Refusals, AModelThatNeedsALookaheadDoesNotRunWithoutOne) {
    EXPECT_THROW(pdes::run_model(Careful{{3, 0, 0}}, {}, [](std::uint32_t /*lp*/, const Rude::State& /*state*/) {}),
                 InputError);
}

}  // namespace
}  // namespace idlewave
