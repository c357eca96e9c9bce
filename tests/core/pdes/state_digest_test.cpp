#include "pdes/state_digest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "base/random.hpp"
#include "base/time.hpp"
#include "behaviour.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/run_model.hpp"
#include "pdes/schedulers.hpp"
#include "segmented_runs.hpp"

namespace idlewave {
namespace {

/// A model with what a model must have, and nothing else. LPs pass events on, and remember the last one.
struct Bare {
    struct State {
        Time last = 0;
        std::uint32_t events = 0;
        std::uint32_t hops = 0;
    };
    struct Payload {
        std::uint32_t hops = 0;
    };

    std::uint32_t first_hops = 40;

    static constexpr bool needs_lookahead = true;
    [[nodiscard]] static std::uint32_t lps() { return 50; }
    [[nodiscard]] static Time lookahead() { return 10; }
    [[nodiscard]] static std::uint64_t seed() { return 2; }

    template <class Context>
    void start(State& /*state*/, Context& context) const {
        context.send(context.self(), 0, {first_hops});
    }
    template <class Context>
    static void handle(State& state, const Payload& payload, Context& context) {
        state = {context.now(), state.events + 1, payload.hops};
        const Philox bits = context.random_bits();
        if (payload.hops > 0) {
            context.send(static_cast<std::uint32_t>(below(lps(), bits[0])), 10 + static_cast<Time>(bits[1] % 30),
                         {payload.hops - 1});
        }
    }
};

/// LPs pass events on. Each adds the number of its events to the digest.
struct Counted : testing::Behaviour {
    [[nodiscard]] std::uint32_t lps() const override { return 50; }
    [[nodiscard]] Time lookahead() const override { return 10; }
    [[nodiscard]] std::uint64_t seed() const override { return 2; }

    void start(State& /*state*/, Context& context) const override {
        context.send(context.self(), 0, Payload{.hops = 40});
    }
    void handle(State& state, const Payload& payload, Context& context) const override {
        context.save(state);
        ++state.handled;
        const Philox bits = context.random_bits();
        if (payload.hops > 0) {
            context.send(static_cast<std::uint32_t>(below(lps(), bits[0])), 10 + static_cast<Time>(bits[1] % 30),
                         Payload{.hops = payload.hops - 1});
        }
    }
    [[nodiscard]] std::uint64_t digest(std::uint32_t /*lp*/, const State& state) const override {
        return state.handled;
    }
};

static_assert(pdes::Model<Bare> && !pdes::has_digest<Bare> && pdes::has_digest<testing::CommittingModel>);

std::uint64_t digest_of(const Bare& bare, const pdes::RunConfiguration& way) {
    return pdes::run_model(bare, way, [](std::uint32_t /*lp*/, const Bare::State& /*state*/) {}).digest;
}

std::uint64_t digest_of(std::uint32_t lp, std::span<const std::uint8_t> bytes) {
    return pdes::digest_of_bytes(lp, std::as_bytes(bytes));
}

TEST(StateDigest, OfAModelWithoutAHookIsEqualByEachScheduler) {
    const std::uint64_t digest = digest_of(Bare{}, {});
    pdes::each_scheduler([&](const auto& line) {
        for (const std::uint32_t threads : {1U, 2U}) {
            if (threads == 1 || !line.traits.one_thread) {
                EXPECT_EQ(digest_of(Bare{}, {.scheduler = std::string(line.name), .threads = threads}), digest)
                    << line.name << " on " << threads;
            }
        }
    });
    EXPECT_NE(digest_of(Bare{.first_hops = 41}, {}), digest);
}

TEST(StateDigest, OfAModelWithAHookIsTheSumOfWhatItComputes) {
    const pdes::RunResult run = testing::run(testing::CommittingModel(Counted{}), {});
    EXPECT_EQ(run.digest, run.statistics.counts.committed);
    EXPECT_EQ(run.digest, 50U * 41);
}

TEST(StateDigest, DependsOnTheLpOnEachByteAndOnTheirNumber) {
    std::array<std::uint8_t, 60> bytes = {};
    std::set<std::uint64_t> digests;
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        digests.insert(digest_of(0, std::span(bytes).first(size)));
        digests.insert(digest_of(1, std::span(bytes).first(size)));
    }
    for (std::uint8_t& byte : bytes) {
        byte = 1;
        digests.insert(digest_of(0, bytes));
        byte = 0;
    }
    EXPECT_EQ(digests.size(), 61U * 2 + 60);
}

struct Stateless : Bare {
    struct State {};
    template <class Context>
    static void start(State& /*state*/, Context& /*context*/) {}
    template <class Context>
    static void handle(State& /*state*/, const Payload& /*payload*/, Context& /*context*/) {}
};

TEST(StateDigest, OfAnEmptyStateIsThatOfTheLp) {
    EXPECT_EQ(pdes::digest_of(Stateless{}, 3, {}), pdes::digest_of_bytes(3, {}));
    EXPECT_NE(pdes::digest_of(Stateless{}, 3, {}), pdes::digest_of(Stateless{}, 4, {}));
}

}  // namespace
}  // namespace idlewave
