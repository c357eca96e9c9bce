#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "behaviour.hpp"
#include "event_runs.hpp"
#include "models/phold.hpp"
#include "trials.hpp"

namespace idlewave {
namespace {

using testing::Behaviour;
using testing::CopiedModel;
using testing::interleaved;
using testing::MixedModel;
using testing::on_threads;
using testing::ReversibleModel;
using testing::SavingModel;

/// The digests of all LPs, and the number of events handled.
struct Outcome {
    std::vector<std::uint64_t> digests;
    std::uint64_t handled = 0;

    bool operator==(const Outcome&) const = default;
};

/// LPs that send events for few different times, so that most events are ties. Delays are whole steps of the lookahead
/// (of 10 ps without a lookahead): at least one step, or none without a lookahead or to the LP itself, and at most
/// `longest` more.
class Ties : public Behaviour {
  public:
    Ties(std::uint32_t lps, Time lookahead, std::uint64_t seed, std::uint32_t longest)
        : lps_(lps), lookahead_(lookahead), seed_(seed), longest_(longest) {}

    [[nodiscard]] std::uint32_t lps() const override { return lps_; }
    [[nodiscard]] Time lookahead() const override { return lookahead_; }
    [[nodiscard]] std::uint64_t seed() const override { return seed_; }

    void start(State& /*state*/, Context& context) const override { tell(context, 12); }

    void handle(State& state, const Payload& payload, Context& context) const override {
        ++state.handled;
        state.digest =
            philox({state.digest, static_cast<std::uint64_t>(context.now()), payload.word, payload.hops}, {1, 2})[0];
        if (payload.hops > 0) {
            tell(context, payload.hops - 1);
            if (state.digest % 4 == 0) {
                tell(context, payload.hops / 2);
            }
        }
    }

  private:
    void tell(Context& context, std::uint32_t hops) const {
        const Philox bits = context.random_bits();
        const auto destination = static_cast<std::uint32_t>(below(lps_, bits[0]));
        const Time step = lookahead_ > 0 ? lookahead_ : 10;
        const bool itself = destination == context.self();
        const auto steps = static_cast<Time>(below(longest_ + 1, bits[1])) + (lookahead_ > 0 && !itself ? 1 : 0);
        context.send(destination, steps * step, Payload{hops, static_cast<std::uint32_t>(bits[2])});
    }

    std::uint32_t lps_;
    Time lookahead_;
    std::uint64_t seed_;
    std::uint32_t longest_;
};

template <class State>
Outcome outcome_of(const std::vector<State>& states) {
    Outcome outcome;
    for (const State& state : states) {
        outcome.digests.push_back(state.digest);
        outcome.handled += state.handled;
    }
    return outcome;
}

template <bool deep, class M>
Outcome outcome_one_by_one(const M& written) {
    return outcome_of(testing::one_by_one<deep>(written));
}

template <class M>
Outcome outcome_in_windows(const M& written, std::uint32_t threads) {
    return outcome_of(testing::windowed(written, threads));
}

/// The outcome and the statistics of a run: of the conservative scheduler, and of optimistic partitions.
struct Found {
    Outcome outcome;
    pdes::Statistics statistics;
};

template <class M>
Found found_in_windows(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
                       const testing::RunAll& run) {
    const auto found = testing::conservative(written, placement, options, run);
    return {outcome_of(found.states), found.statistics};
}

template <bool deep, class M>
Found found_by(const M& written, const pdes::Placement& placement, const pdes::PartitionOptions& options,
               const testing::RunAll& run) {
    const auto found = testing::partitioned<deep>(written, placement, options, run);
    return {outcome_of(found.states), found.statistics};
}

models::PholdParameters small_phold(std::uint32_t lps, std::uint64_t seed, double remote) {
    models::PholdParameters parameters;
    parameters.lps = lps;
    parameters.seed = seed;
    parameters.remote = remote;
    parameters.start_events = 4;
    return parameters;
}

TEST(TimeWarp, GivesTheSameAsAllSchedulersOnAnyNumberOfThreads) {
    for (const std::uint32_t lps : {1U, 2U, 17U, 300U, 1500U}) {
        for (const double remote : {0.0, 0.1, 1.0}) {
            const models::Phold phold(small_phold(lps, lps, remote));
            const Outcome one = outcome_one_by_one<false>(phold);
            ASSERT_GT(one.handled, 20U * lps);
            for (const std::uint32_t threads : {1U, 2U, 3U}) {
                const pdes::PartitionOptions options{.cell = phold.lookahead()};
                const auto placement = pdes::Placement::block(lps, threads);
                ASSERT_EQ(one, outcome_in_windows(phold, threads));
                for (const Found& found : {found_in_windows(phold, placement, options, on_threads),
                                           found_by<false>(phold, placement, options, on_threads)}) {
                    ASSERT_EQ(one, found.outcome) << lps << " LPs, " << remote << ", " << threads << " threads";
                    ASSERT_EQ(found.statistics.committed, one.handled);
                }
            }
        }
    }
}

TEST(TimeWarp, GivesTheSameWhenPartitionsRunFarAheadOfEachOther) {
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto partitions = static_cast<std::uint32_t>(2 + seed % 4);
        const models::Phold phold(small_phold(static_cast<std::uint32_t>(3 + seed * 7 % 90), seed, 0.5));
        const Found found =
            found_by<false>(phold, pdes::Placement::block(phold.lps(), partitions),
                            {.cell = phold.lookahead(), .lazy = seed % 2 == 0}, interleaved(seed, partitions));
        ASSERT_EQ(outcome_one_by_one<false>(phold), found.outcome) << "seed " << seed;
        ASSERT_EQ(found.statistics.committed, found.outcome.handled) << "seed " << seed;
        rolled_back += found.statistics.rolled_back;
    }
    EXPECT_GT(rolled_back, 1000U) << "else the test has no rollbacks";
}

TEST(TimeWarp, GivesTheSameWithoutRollbacksWhenOnlyWhatIsCertainIsExecuted) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto partitions = static_cast<std::uint32_t>(2 + seed % 4);
        const models::Phold phold(small_phold(static_cast<std::uint32_t>(3 + seed * 7 % 90), seed, 0.5));
        const Found found =
            found_by<false>(phold, pdes::Placement::block(phold.lps(), partitions),
                            {.cell = phold.lookahead(), .lazy = seed % 2 == 0, .speculation = pdes::Speculation::none},
                            interleaved(seed, partitions));
        ASSERT_EQ(outcome_one_by_one<false>(phold), found.outcome) << "seed " << seed;
        ASSERT_EQ(found.statistics.committed, found.outcome.handled) << "seed " << seed;
        ASSERT_EQ(found.statistics.rolled_back, 0U) << "seed " << seed;
    }
}

TEST(TimeWarp, HandlesEventsOfOneTimeInTheSameOrderWhateverArrivedFirst) {
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const Ties ties(static_cast<std::uint32_t>(2 + seed % 23), 1 + static_cast<Time>(seed % 3) * 50, seed, 2);
        const Outcome one = outcome_one_by_one<false>(CopiedModel(ties));
        ASSERT_EQ(one, outcome_in_windows(CopiedModel(ties), 1)) << "seed " << seed;
        const auto partitions = static_cast<std::uint32_t>(1 + seed % 5);
        const Found found =
            found_by<false>(CopiedModel(ties), pdes::Placement::cyclic(ties.lps(), partitions),
                            {.cell = ties.lookahead(), .lazy = seed % 2 == 0}, interleaved(seed, partitions));
        ASSERT_EQ(one, found.outcome) << "seed " << seed;
        rolled_back += found.statistics.rolled_back;
    }
    EXPECT_GT(rolled_back, 1000U);
}

/// Every third LP is conservative.
class MixedTies : public Ties {
  public:
    using Ties::Ties;
    [[nodiscard]] bool conservative(std::uint32_t lp) const override { return lp % 3 == 0; }
};

TEST(TimeWarp, HeldEventsAreCancelledWheneverGvtIsFound) {
    std::uint64_t cancelled = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const MixedTies ties(static_cast<std::uint32_t>(3 + seed % 23), 50, seed,
                             static_cast<std::uint32_t>(2 + seed % 5));
        const auto partitions = static_cast<std::uint32_t>(1 + seed % 4);
        const pdes::PartitionOptions options{.cell = ties.lookahead(), .lazy = seed % 2 == 0, .log_bytes = 1};
        const Found found = found_by<false>(MixedModel(ties), pdes::Placement::cyclic(ties.lps(), partitions), options,
                                            interleaved(seed, partitions));
        ASSERT_EQ(outcome_one_by_one<false>(CopiedModel(ties)), found.outcome) << "seed " << seed;
        cancelled += found.statistics.cancelled;
    }
    EXPECT_GT(cancelled, 200U);
}

TEST(TimeWarp, NeedsNoLookahead) {
    std::uint64_t rolled_back = 0;
    for (std::uint64_t seed = 0; seed < 120; seed += testing::stride(5)) {
        const Ties ties(static_cast<std::uint32_t>(2 + seed % 23), 0, seed, static_cast<std::uint32_t>(seed % 3));
        const Outcome one = outcome_one_by_one<true>(CopiedModel(ties));
        const auto partitions = static_cast<std::uint32_t>(1 + seed % 4);
        for (const Time cell : {1, 8, 64}) {
            const Found found = found_by<true>(CopiedModel(ties), pdes::Placement::block(ties.lps(), partitions),
                                               {.cell = cell}, interleaved(seed, partitions));
            ASSERT_EQ(one, found.outcome) << "seed " << seed << ", cells of " << cell << " ps";
            rolled_back += found.statistics.rolled_back;
        }
    }
    EXPECT_GT(rolled_back, 1000 / testing::stride(5));
}

TEST(TimeWarp, NeedsNoLookaheadOnThreads) {
    for (std::uint64_t seed = 0; seed < 20; seed += testing::stride(4)) {
        const Ties ties(400, 0, seed, 2);
        const Outcome one = outcome_one_by_one<true>(CopiedModel(ties));
        for (const std::uint32_t threads : {1U, 2U, 3U}) {
            ASSERT_EQ(one,
                      found_by<true>(CopiedModel(ties), pdes::Placement::block(400, threads), {.cell = 4}, on_threads)
                          .outcome)
                << "seed " << seed << ", " << threads << " threads";
        }
    }
}

TEST(TimeWarp, APlacementChangesNothing) {
    const models::Phold phold(small_phold(101, 5, 0.5));
    const Outcome one = outcome_one_by_one<false>(phold);
    std::vector<std::uint32_t> table;
    for (std::uint32_t lp = 0; lp < 101; ++lp) {
        table.push_back(lp * lp % 3);
    }
    for (const auto& placement : {pdes::Placement::block(101, 3), pdes::Placement::cyclic(101, 3),
                                  pdes::Placement::table(table, 3), pdes::Placement::block(101, 200)}) {
        std::uint32_t placed = 0;
        for (std::uint32_t p = 0; p < placement.partitions(); ++p) {
            for (std::uint32_t i = 0; i < placement.size(p); ++i, ++placed) {
                const auto place = placement.of(placement.lp_of(p, i));
                ASSERT_EQ(place.partition, p);
                ASSERT_EQ(place.local, i);
            }
        }
        ASSERT_EQ(placed, 101U);
        ASSERT_EQ(one,
                  found_by<false>(phold, placement, {.cell = phold.lookahead()}, interleaved(3, placement.partitions()))
                      .outcome);
    }
}

/// Events that walk from LP to LP, in a model that can be undone in each of the three ways. An LP sums up its random
/// bits; a SavingWalk keeps the sum outside of the state.
struct Walk : Behaviour {
    static constexpr std::uint32_t count = 40;

    [[nodiscard]] std::uint32_t lps() const override { return count; }
    [[nodiscard]] Time lookahead() const override { return 100; }
    [[nodiscard]] std::uint64_t seed() const override { return 9; }

    void start(State& /*state*/, Context& context) const override {
        const Philox bits = context.random_bits();
        context.send(context.self(), static_cast<Time>(below(300, bits[0])), Payload{.hops = 300});
    }

    void handle(State& state, const Payload& payload, Context& context) const override {
        const Philox bits = context.random_bits();
        ++state.handled;
        state.digest += bits[0] ^ static_cast<std::uint64_t>(context.now());
        pass_on(payload.hops, bits, context);
    }

  protected:
    static void pass_on(std::uint32_t hops, const Philox& bits, Context& context) {
        if (bits[3] % 16 == 0) {
            context.emit(Record{bits[3]});
        }
        if (hops > 0) {
            const bool itself = bits[2] % 2 == 0;
            context.send(itself ? context.self() : static_cast<std::uint32_t>(below(count, bits[0])),
                         static_cast<Time>(below(200, bits[1])) + (itself ? 0 : 100), Payload{.hops = hops - 1});
        }
    }
};

struct SavingWalk : Walk {
    void handle(State& state, const Payload& payload, Context& context) const override {
        const Philox bits = context.random_bits();
        context.save(state.handled);
        context.save(sums[context.self()]);
        ++state.handled;
        sums[context.self()] += bits[0] ^ static_cast<std::uint64_t>(context.now());
        context.save(state.digest);
        state.digest = sums[context.self()];
        pass_on(payload.hops, bits, context);
    }
    [[nodiscard]] std::uint64_t* kept_outside(std::uint32_t lp) const override { return &sums[lp]; }

    mutable std::vector<std::uint64_t> sums = std::vector<std::uint64_t>(count);
};

struct ReversibleWalk : Walk {
    void reverse(State& state, const Payload& /*payload*/, ReverseContext& context) const override {
        const Philox bits = context.random_bits();
        --state.handled;
        state.digest -= bits[0] ^ static_cast<std::uint64_t>(context.now());
    }
};

/// The outcome of a walk, and its records in the order of time and LPs.
using Walked = std::pair<Outcome, std::vector<std::tuple<Time, std::uint32_t, std::uint64_t>>>;

template <class M>
Walked walked_of(const testing::Partitioned<M>& found) {
    Walked walked{outcome_of(found.states), {}};
    for (const auto& emitted : found.emitted) {
        walked.second.emplace_back(emitted.time, emitted.lp, emitted.record.word);
    }
    std::sort(walked.second.begin(), walked.second.end());
    return walked;
}

/// A walk in `n` partitions that run ahead of each other.
template <class M>
Walked walked(const M& walk, std::uint32_t n, std::uint64_t seed, std::uint64_t& rolled_back) {
    const auto found =
        testing::partitioned<false>(walk, pdes::Placement::block(Walk::count, n), {.cell = 100}, interleaved(seed, n));
    rolled_back += found.statistics.rolled_back;
    return walked_of(found);
}

/// A walk that the conservative scheduler runs.
Walked walked_in_windows() {
    return walked_of(
        testing::conservative(CopiedModel(Walk{}), pdes::Placement::block(Walk::count, 1), {.cell = 100}, on_threads));
}

/// A walk with a check of each execution.
template <class M>
Walked checked_walk(const M& walk) {
    return walked_of(testing::partitioned<false>(walk, pdes::Placement::block(Walk::count, 1),
                                                 {.cell = 100, .check = true}, on_threads));
}

TEST(TimeWarp, UndoesByCopyBySavedFieldsAndByReverseHandlersAlike) {
    std::uint64_t rolled_back = 0;
    const Walked certain = walked_in_windows();
    ASSERT_GT(certain.second.size(), 500U);
    for (std::uint64_t seed = 0; seed < 25; seed += testing::stride(3)) {
        const auto partitions = static_cast<std::uint32_t>(2 + seed % 4);
        ASSERT_EQ(certain, walked(CopiedModel(Walk{}), partitions, seed, rolled_back)) << "seed " << seed;
        ASSERT_EQ(certain, walked(SavingModel(SavingWalk{}), partitions, seed, rolled_back)) << "seed " << seed;
        ASSERT_EQ(certain, walked(ReversibleModel(ReversibleWalk{}), partitions, seed, rolled_back)) << "seed " << seed;
    }
    EXPECT_GT(rolled_back, 3000 / testing::stride(3));
}

TEST(TimeWarp, ACheckedRunFindsNoErrorInModelsThatUndoAllAndAreReproducible) {
    const Walked certain = walked_in_windows();
    EXPECT_EQ(certain, checked_walk(CopiedModel(Walk{})));
    EXPECT_EQ(certain, checked_walk(SavingModel(SavingWalk{})));
    EXPECT_EQ(certain, checked_walk(ReversibleModel(ReversibleWalk{})));
}

struct ForgetfulWalk : Walk {
    void reverse(State& state, const Payload& /*payload*/, ReverseContext& /*context*/) const override {
        --state.handled;
    }
};

struct FickleWalk : Walk {
    void handle(State& state, const Payload& /*payload*/, Context& /*context*/) const override {
        state.digest += ++calls;
    }

    mutable std::uint64_t calls = 0;
};

TEST(TimeWarp, ACheckedRunRefusesAReverseHandlerThatForgetsAField) {
    try {
        checked_walk(ReversibleModel(ForgetfulWalk{}));
        FAIL() << "the error went unnoticed";
    } catch (const LogicError& error) {
        EXPECT_NE(std::string(error.what()).find("does not lead back to the state before"), std::string::npos)
            << error.what();
    }
}

TEST(TimeWarp, ACheckedRunRefusesAModelThatIsNotReproducible) {
    EXPECT_THROW(checked_walk(CopiedModel(FickleWalk{})), LogicError);
}

TEST(TimeWarp, ReportsAModelThatViolatesItsLookahead) {
    /// Declares a lookahead ten times the least delay of its events.
    class Liar : public Ties {
      public:
        explicit Liar(Time lookahead) : Ties(50, lookahead / 10, 1, 2), promised_(lookahead) {}
        [[nodiscard]] Time lookahead() const override { return promised_; }

      private:
        Time promised_;
    };
    const auto expect_report = [](auto run) {
        try {
            run(CopiedModel(Liar(1000)), pdes::Placement::block(50, 2), pdes::PartitionOptions{.cell = 1000});
            FAIL() << "the violation went unnoticed";
        } catch (const LogicError& error) {
            EXPECT_NE(std::string(error.what()).find("violates the lookahead"), std::string::npos) << error.what();
        }
    };
    expect_report([](const auto&... arguments) { found_in_windows(arguments..., on_threads); });
    expect_report([](const auto&... arguments) { found_by<false>(arguments..., on_threads); });
}

TEST(TimeWarp, WithAFullUndoLogItWaitsForGvtAndTheLogGrowsOnlyIfItMust) {
    models::PholdParameters parameters = small_phold(3000, 1, 0.5);
    const models::Phold phold(parameters);
    const Outcome one = outcome_one_by_one<false>(phold);
    const auto placement = pdes::Placement::block(phold.lps(), 3);
    const auto found = [&](std::size_t log_bytes) {
        return found_by<false>(phold, placement, {.cell = phold.lookahead(), .log_bytes = log_bytes},
                               interleaved(1, 3));
    };
    const Found roomy = found(std::size_t{1} << 30);
    const Found starved = found(1);
    ASSERT_EQ(one, roomy.outcome);
    ASSERT_EQ(one, starved.outcome);
    EXPECT_GT(roomy.statistics.log_bytes, 4 * starved.statistics.log_bytes);
}

TEST(TimeWarp, APollMayEndTheRun) {
    struct Enough : std::exception {};
    models::PholdParameters parameters = small_phold(500, 1, 0.1);
    parameters.end = 1'000'000'000;
    for (const std::uint32_t threads : {1U, 3U}) {
        EXPECT_THROW(found_by<false>(models::Phold(parameters), pdes::Placement::block(500, threads),
                                     {.cell = parameters.lookahead},
                                     [](auto& partitions) { partitions.run([](Time) { throw Enough{}; }); }),
                     Enough);
    }
}

}  // namespace
}  // namespace idlewave
