#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "behaviour.hpp"
#include "event_runs.hpp"
#include "models/phold.hpp"
#include "pdes/handler_model.hpp"
#include "pdes/placement.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/segmented_run.hpp"
#include "segmented_runs.hpp"

namespace idlewave {
namespace {

using testing::MixedModel;
using testing::phold_of;
using testing::Wordy;

models::MixedPhold mixed(models::PholdParameters parameters, double conservative) {
    parameters.conservative = conservative;
    return models::MixedPhold(parameters);
}

TEST(Mixed, AShareOfLpsIsConservativeAsItIsAskedFor) {
    for (const double share : {0.0, 0.1, 0.5, 1.0}) {
        const models::MixedPhold phold = mixed(phold_of(10'000, 1), share);
        std::uint32_t conservative = 0;
        for (std::uint32_t lp = 0; lp < phold.lps(); ++lp) {
            conservative += phold.conservative(lp) ? 1 : 0;
        }
        EXPECT_NEAR(conservative, share * phold.lps(), 10);
    }
}

TEST(Mixed, ConservativeLpsAmongOptimisticOnesGiveTheSameAndAreNeverRolledBack) {
    const models::Phold phold(phold_of(90, 30'000'000));
    const auto one = testing::one_by_one<false>(phold);
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto partitions = static_cast<std::uint32_t>(1 + seed % 4);
        const auto found = testing::partitioned<false>(
            mixed(phold_of(90, 30'000'000), 0.5), pdes::Placement::block(90, partitions),
            {.cell = phold.lookahead(), .lazy = seed % 2 == 0}, testing::interleaved(seed, partitions));
        for (std::uint32_t lp = 0; lp < 90; ++lp) {
            ASSERT_EQ(found.states[lp].digest, one[lp].digest) << "seed " << seed << ", LP " << lp;
        }
        rolled_back += found.statistics.rolled_back;
    }
    EXPECT_GT(rolled_back, 1000U) << "optimistic LPs run ahead";
}

/// Counts the events that conservative LPs handle, with those rolled back.
struct Strict : Wordy {
    [[nodiscard]] bool conservative(std::uint32_t lp) const override { return lp < 59; }
    void handle(State& state, const Payload& payload, Context& context) const override {
        Wordy::handle(state, payload, context);
        handled += context.self() < 59 ? 1U : 0U;
    }
    mutable std::atomic<std::uint64_t> handled = 0;
};

TEST(Mixed, ConservativeLpsAreNeverAskedToUndo) {
    const Strict strict;
    const auto found =
        testing::partitioned<false>(testing::MixedSavingModel(strict), pdes::Placement::cyclic(Wordy::count, 3),
                                    {.cell = 100}, testing::interleaved(5, 3));
    std::uint64_t committed = 0;
    for (std::uint32_t lp = 0; lp < 59; ++lp) {
        committed += found.states[lp].handled;
    }
    EXPECT_EQ(strict.handled.load(), committed);
}

/// An optimistic speaker runs ahead and sends an event to a conservative listener, whose event queue holds it. Then a
/// straggler from a conservative caller arrives: the speaker is rolled back, its event is cancelled, and it sends
/// another event, or none. The caller also sends so many events to a crowd that a round of GVT begins when only the
/// listener's events are left.
struct Corrected : testing::Behaviour {
    static constexpr Time cell = 64;
    static constexpr std::uint32_t caller = 0;
    static constexpr std::uint32_t speaker = 1;
    static constexpr std::uint32_t listener = 2;
    static constexpr std::uint32_t crowd = 3;
    static constexpr std::uint32_t call = 1;
    static constexpr std::uint32_t enough = 5000;  ///< events after which a round of GVT begins

    explicit Corrected(bool again) : speaks_again(again) {}

    [[nodiscard]] std::uint32_t lps() const override { return 4; }
    [[nodiscard]] Time lookahead() const override { return cell; }
    [[nodiscard]] std::uint64_t seed() const override { return 0; }
    [[nodiscard]] bool conservative(std::uint32_t lp) const override { return lp == caller || lp == listener; }

    void start(State& /*state*/, Context& context) const override {
        if (context.self() == caller) {
            context.send(caller, cell, Payload{});
        } else if (context.self() == speaker) {
            context.send(speaker, 2 * cell + 1, Payload{});
        }
    }

    void handle(State& state, const Payload& payload, Context& context) const override {
        ++state.handled;
        state.digest = philox({state.digest, payload.word, static_cast<std::uint64_t>(context.now()), 0}, {1, 2})[0];
        if (context.self() == caller) {
            context.send(speaker, cell, Payload{.word = call});
            for (std::uint32_t i = 0; i < enough; ++i) {
                context.send(crowd, 2 * cell, Payload{.word = i});
            }
        } else if (context.self() == speaker && payload.word != call && (state.handled == 1 || speaks_again)) {
            context.send(listener, 2 * cell, Payload{.word = static_cast<std::uint32_t>(state.digest)});
        }
    }

    bool speaks_again;
};

TEST(Mixed, AHeldEventIsAnnihilatedByAnAntiMessageInItsBucketWhenItIsReleased) {
    for (const bool speaks_again : {true, false}) {
        for (const bool lazy : {true, false}) {
            const Corrected corrected(speaks_again);
            const auto found =
                testing::partitioned<false>(MixedModel(corrected), pdes::Placement::block(corrected.lps(), 1),
                                            {.cell = Corrected::cell, .lazy = lazy}, testing::on_threads);
            EXPECT_EQ(found.states, testing::one_by_one<false>(testing::CopiedModel(corrected)));
            EXPECT_EQ(found.states[Corrected::listener].handled, speaks_again ? 1U : 0U);
            EXPECT_EQ(found.statistics.cancelled, 1U) << "else the test has no anti-message";
        }
    }
}

TEST(Mixed, ConservativeLpsNeedALookahead) {
    models::PholdParameters parameters = phold_of(10, 1'000'000);
    parameters.lookahead = 0;
    pdes::RunConfiguration way;
    way.scheduler = "timewarp";
    const models::MixedPhold phold = mixed(parameters, 0.5);
    pdes::HandlerModel<models::MixedPhold, true> model(phold);
    const auto begin_run = [&] { pdes::SegmentedRun(model, pdes::Placement::block(10, 1), {}, way); };
    EXPECT_THROW(begin_run(), InputError);
}

}  // namespace
}  // namespace idlewave
