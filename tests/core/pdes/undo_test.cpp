#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "behaviour.hpp"
#include "event_runs.hpp"
#include "models/phold.hpp"
#include "pdes/run_model.hpp"
#include "segmented_runs.hpp"

namespace idlewave {
namespace {

using testing::phold_of;
using testing::run;

/// LP 0 sends an event to all other LPs at the beginning, after these have run far ahead.
struct LateWord : testing::Behaviour {
    static constexpr Time step = 100;

    [[nodiscard]] std::uint32_t lps() const override { return 20; }
    [[nodiscard]] Time lookahead() const override { return step; }
    [[nodiscard]] std::uint64_t seed() const override { return 4; }

    void start(State& /*state*/, Context& context) const override {
        context.send(context.self(), context.self() == 0 ? step : 2 * step, Payload{.word = 0});
    }

    void handle(State& state, const Payload& payload, Context& context) const override {
        ++state.handled;
        state.digest = philox({state.digest, payload.word, static_cast<std::uint64_t>(context.now()), 0}, {1, 2})[0];
        if (context.self() == 0) {
            for (std::uint32_t lp = 1; lp < lps(); ++lp) {
                context.send(lp, step, Payload{.word = lp});
            }
        } else if (payload.word == 0 && context.now() < 30 * step) {
            context.send(context.self(), step, Payload{.word = 0});
        }
    }
};

TEST(Undo, AStragglerForTheBeginningRollsAnLpBackToItsStart) {
    const LateWord late_word;
    const testing::CopiedModel model(late_word);
    const auto one = testing::one_by_one<false>(model);
    std::vector<std::uint32_t> table(20, 1);
    table[0] = 0;
    const auto found = testing::partitioned<false>(
        model, pdes::Placement::table(table, 2), {.cell = LateWord::step}, [](auto& partitions) {
            // The second partition runs as far ahead as it may before the first one makes its first step.
            std::uint32_t steps = 0;
            partitions.run_interleaved([&] { return ++steps < 200 ? 1U : steps % 2; });
        });
    for (std::uint32_t lp = 0; lp < 20; ++lp) {
        EXPECT_EQ(found.states[lp].digest, one[lp].digest);
    }
    EXPECT_GE(found.statistics.rolled_back, 19U * 3) << "all that the other LPs had executed";
}

TEST(Gvt, NeverGoesBackAndCommittedEventsGrow) {
    pdes::RunConfiguration way;
    way.scheduler = "timewarp";
    way.threads = 3;
    const pdes::RunResult found = run(models::Phold(phold_of(300, 100'000'000)), way);
    const std::vector<pdes::ProgressSample>& series = found.statistics.series;
    ASSERT_GT(series.size(), 20U);
    for (std::size_t i = 1; i < series.size(); ++i) {
        EXPECT_GE(series[i].gvt, series[i - 1].gvt);
        EXPECT_GE(series[i].seconds, series[i - 1].seconds);
        EXPECT_GE(series[i].committed, series[i - 1].committed);
        EXPECT_GE(series[i].rolled_back, series[i - 1].rolled_back);
    }
    EXPECT_LE(series.back().committed, found.statistics.counts.committed);
}

}  // namespace
}  // namespace idlewave
