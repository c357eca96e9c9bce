#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "base/time.hpp"
#include "behaviour.hpp"
#include "pdes/model.hpp"
#include "pdes/run_configuration.hpp"
#include "segmented_runs.hpp"

namespace idlewave {
namespace {

/// LP 3 sends an event at 1000 ticks that it may not send.
struct Rude : testing::Behaviour {
    Rude(std::uint32_t to, Time after, Time promise) : whom(to), delay(after), promised(promise) {}

    [[nodiscard]] std::uint32_t lps() const override { return 10; }
    [[nodiscard]] Time lookahead() const override { return promised; }
    [[nodiscard]] std::uint64_t seed() const override { return 1; }

    void start(State& /*state*/, Context& context) const override { context.send(context.self(), 1000, {}); }
    void handle(State& state, const Payload& /*payload*/, Context& context) const override {
        if (++state.handled == 1 && context.self() == 3) {
            context.send(whom, delay, {});
        }
    }

    std::uint32_t whom;
    Time delay;
    Time promised;
};

std::string refusal(const Rude& rude, const std::string& scheduler) {
    pdes::RunConfiguration options;
    options.scheduler = scheduler;
    try {
        testing::run(testing::BareEventsModel(rude), options);
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
    static_assert(pdes::needs_lookahead<testing::SavingModel> && !pdes::needs_lookahead<testing::BareEventsModel>);
    EXPECT_THROW(testing::run(testing::SavingModel(Rude(3, 0, 0)), {}), InputError);
}

}  // namespace
}  // namespace idlewave
