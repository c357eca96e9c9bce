#include "pdes/horizon.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "pdes/gvt.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/throttle.hpp"

namespace idlewave {
namespace {

struct NoContent {};
using HorizonTransport = pdes::PartitionTransport<NoContent>;
using pdes::Gvt;
using pdes::Horizon;

/// A partition that is alone, which finds a GVT at once.
struct Alone {
    explicit Alone(const pdes::PartitionOptions& options = {}, bool has_lookahead = true)
        : horizon(options, has_lookahead, 0, 1) {}

    void find_gvt(std::int64_t first_pending, std::int64_t executed = 0, bool wants_pause = false) {
        const Gvt::Contribution own{.first_pending = first_pending, .executed = executed, .wants_pause = wants_pause};
        horizon.gvt().begin_round(endpoint, own);
        ASSERT_TRUE(horizon.gvt().poll(endpoint, [&] { return own; }));
        horizon.advance({.committed = committed, .not_rolled_back = not_rolled_back}, now);
    }
    /// The last cell that may be executed.
    [[nodiscard]] std::int64_t limit(std::size_t log_bytes = 0) const {
        std::int64_t cell = -1;
        while (horizon.allows(cell + 1, log_bytes)) {
            ++cell;
        }
        return cell;
    }

    HorizonTransport transport{1};
    HorizonTransport::Endpoint endpoint{transport, 0};
    Horizon horizon;
    std::uint64_t committed = 0;
    std::uint64_t not_rolled_back = 0;
    Horizon::Clock::time_point now;
};

TEST(Horizon, MovesAlongWithGvt) {
    Alone alone;
    const std::int64_t before = alone.limit();
    EXPECT_GT(before, 0);
    alone.find_gvt(10);
    EXPECT_EQ(alone.limit(), before + 10);
    EXPECT_EQ(alone.horizon.safe(), 10)
        << "no event can come for the cell of GVT, which is no longer than the lookahead";
}

TEST(Horizon, WithoutALookaheadNoCellIsSafe) {
    Alone alone({}, false);
    alone.find_gvt(10);
    EXPECT_LT(alone.horizon.safe(), 0);
}

/// Runs a thousand rounds of GVT, each of which commits as many events, and returns in how many the partition ran
/// ahead. A round takes `ahead` or `certain`. Ahead, three times as many events are executed as are committed.
int rounds_ahead(std::chrono::milliseconds ahead, std::chrono::milliseconds certain) {
    Alone alone;
    int count = 0;
    for (int cell = 1; cell <= 1000; ++cell) {
        const bool is_ahead = alone.limit() > alone.horizon.safe();
        count += is_ahead ? 1 : 0;
        alone.now += is_ahead ? ahead : certain;
        alone.committed += 1000;
        alone.not_rolled_back += is_ahead ? 3000 : 1000;
        alone.find_gvt(cell);
    }
    return count;
}

TEST(Horizon, RunsAheadOnlyWhereACommittedEventTakesLessTimeSoAndTriesBothNowAndThen) {
    using std::chrono::milliseconds;
    const int seldom = rounds_ahead(milliseconds(3), milliseconds(2));
    EXPECT_LT(seldom, 100);
    EXPECT_GT(seldom, 3);
    const int mostly = rounds_ahead(milliseconds(2), milliseconds(3));
    EXPECT_GT(mostly, 900);
    EXPECT_LT(mostly, 997);
}

TEST(Horizon, WithAFullLogAllowsOnlyWhatCommitsNext) {
    Alone alone({.log_bytes = 1000});
    alone.find_gvt(10);
    EXPECT_GT(alone.limit(999), 10);
    EXPECT_EQ(alone.limit(1000), 10);
}

TEST(Horizon, AfterARequestForAPauseAllStopAtACellThatNoneHasReached) {
    Alone alone;
    const std::int64_t furthest = 5 + pdes::Throttle::furthest;
    alone.find_gvt(5, 0, true);
    const std::int64_t stop = alone.horizon.stop();
    EXPECT_GT(stop, furthest);
    EXPECT_FALSE(alone.horizon.has_ended());
    alone.find_gvt(stop - 1);
    EXPECT_EQ(alone.limit(), stop - 1);
    EXPECT_FALSE(alone.horizon.has_ended());
    alone.find_gvt(stop);
    EXPECT_TRUE(alone.horizon.has_ended());
    EXPECT_FALSE(alone.horizon.at_end());
    EXPECT_FALSE(alone.horizon.paused_for_migration());
}

TEST(Horizon, EndsWhenNoEventIsLeft) {
    Alone alone;
    alone.find_gvt(Gvt::nothing);
    EXPECT_TRUE(alone.horizon.has_ended());
    EXPECT_TRUE(alone.horizon.at_end());
}

TEST(Horizon, PausesForMigrationOnceEnoughWasExecutedUnevenly) {
    Alone alone({.migrate_after = 100, .imbalance = 0.9});
    alone.find_gvt(1, 99);
    EXPECT_EQ(alone.horizon.stop(), Gvt::nothing);
    alone.find_gvt(2, 100);
    EXPECT_TRUE(alone.horizon.paused_for_migration());
    Alone even({.migrate_after = 100, .imbalance = 1.2});
    even.find_gvt(1, 1000);
    EXPECT_EQ(even.horizon.stop(), Gvt::nothing) << "one partition has no more than its share";
}

TEST(Horizon, ARoundBeginsWhenThePartitionIsIdleOrHasExecutedMuch) {
    Alone alone;
    EXPECT_TRUE(alone.horizon.needs_round(true));
    EXPECT_FALSE(alone.horizon.needs_round(false));
    alone.horizon.count_executed(1 << 20);
    EXPECT_TRUE(alone.horizon.needs_round(false));
    alone.horizon.begin_round();
    EXPECT_FALSE(alone.horizon.needs_round(false));
    EXPECT_EQ(alone.horizon.executed(), 1 << 20);
}

}  // namespace
}  // namespace idlewave
