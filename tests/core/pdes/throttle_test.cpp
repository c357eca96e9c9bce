#include "pdes/throttle.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace idlewave {
namespace {

TEST(Throttle, RunsLessFarAheadAfterRollbacksAndFurtherWithoutThem) {
    pdes::Throttle throttle;
    const std::int64_t first = throttle.cells_ahead();
    throttle.adapt(10'000, 5'000);
    EXPECT_EQ(throttle.cells_ahead(), first / 2);
    throttle.adapt(20'000, 6'000);
    EXPECT_EQ(throttle.cells_ahead(), first / 2) << "a tenth of the events was rolled back";
    throttle.adapt(30'000, 6'000);
    EXPECT_EQ(throttle.cells_ahead(), first / 2 + 1);
    for (std::uint64_t executed = 40'000; executed < 10'000'000; executed += 10'000) {
        throttle.adapt(executed, 6'000);
    }
    EXPECT_EQ(throttle.cells_ahead(), pdes::Throttle::furthest);
    for (std::uint64_t undone = 10'000; undone < 200'000; undone += 10'000) {
        throttle.adapt(10'000'000, undone);
    }
    EXPECT_EQ(throttle.cells_ahead(), 1);
}

TEST(Throttle, AFewEventsSayNothing) {
    pdes::Throttle throttle;
    const std::int64_t first = throttle.cells_ahead();
    for (std::uint64_t rolled_back = 0; rolled_back < 1'000; rolled_back += 100) {
        throttle.adapt(0, rolled_back);
        EXPECT_EQ(throttle.cells_ahead(), first);
    }
    throttle.adapt(100, 1'000);
    EXPECT_LT(throttle.cells_ahead(), first) << "together they are enough";
}

TEST(Throttle, LearnsNothingFromEventsBeforeItCounts) {
    pdes::Throttle throttle;
    const std::int64_t first = throttle.cells_ahead();
    throttle.count_from(1'000'000, 500'000);
    throttle.adapt(1'010'000, 501'000);
    EXPECT_EQ(throttle.cells_ahead(), first) << "a tenth of the events was rolled back";
}

TEST(Throttle, RunsLessFarAheadWhereMoreIsRolledBackThanExecuted) {
    pdes::Throttle throttle;
    const std::int64_t first = throttle.cells_ahead();
    throttle.count_from(100'000, 0);
    throttle.adapt(95'000, 8'000);
    EXPECT_EQ(throttle.cells_ahead(), first / 2);
}

}  // namespace
}  // namespace idlewave
