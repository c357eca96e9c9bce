// When samples wait for cores that nothing else uses, and for how long.
#include "network/shared_cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace idlewave::probe {
namespace {

constexpr std::int64_t unshared_ns = 670;
constexpr std::int64_t shared_ns = 1100;
constexpr double hour_ns = 3.6e12;

// Waits on cores whose reference computations take these times, and the last one from then on.
struct Wait {
    SharedCores& cores;
    double deadline_ns = hour_ns;
    bool agrees = true;  // whatever rank 0 says
    std::vector<bool> wanted = {};

    bool operator()(std::vector<std::int64_t> times_ns) {
        std::size_t next = 0;
        return cores.await_unshared(
            deadline_ns, [&] { return times_ns[std::min(next++, times_ns.size() - 1)]; },
            [&](bool wish) {
                wanted.push_back(wish);
                return agrees;
            });
    }
};

TEST(SharedCoresTest, AnUnsharedCoreIsNotAwaited) {
    SharedCores cores(nanoseconds(CLOCK_MONOTONIC));
    Wait wait{cores};
    EXPECT_TRUE(wait({unshared_ns}));
    EXPECT_TRUE(wait.wanted.empty());
}

TEST(SharedCoresTest, ASharedCoreIsAwaitedUntilItIsNot) {
    SharedCores cores(nanoseconds(CLOCK_MONOTONIC));
    Wait wait{cores};
    wait({unshared_ns});
    EXPECT_TRUE(wait({shared_ns, shared_ns, unshared_ns}));
    EXPECT_EQ(wait.wanted.size(), 2);
}

TEST(SharedCoresTest, ARankStopsWaitingWhenRankZeroSaysSo) {
    SharedCores cores(nanoseconds(CLOCK_MONOTONIC));
    Wait wait{.cores = cores, .agrees = false};
    wait({unshared_ns});
    EXPECT_FALSE(wait({shared_ns}));
    EXPECT_EQ(wait.wanted.size(), 1);
}

TEST(SharedCoresTest, RankZeroWaitsNoLongerThanTheItemsShareOfTheTime) {
    SharedCores cores(nanoseconds(CLOCK_MONOTONIC));
    Wait wait{.cores = cores, .agrees = false};
    wait({unshared_ns});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    wait({shared_ns});
    wait.deadline_ns = 1;
    wait({shared_ns});
    EXPECT_EQ(wait.wanted, (std::vector{true, false}));
}

TEST(SharedCoresTest, ATimeInWhichSomethingElseWasMeasuredDoesNotCount) {
    const std::int64_t second = 1'000'000'000;
    SharedCores cores(nanoseconds(CLOCK_MONOTONIC) - 10 * second);
    Wait wait{.cores = cores, .deadline_ns = 5e9, .agrees = false};
    wait({unshared_ns});
    wait({shared_ns});
    cores.leave_out(8 * second);
    wait({shared_ns});
    EXPECT_EQ(wait.wanted, (std::vector{false, true}));
}

TEST(SharedCoresTest, AllWaitsTakeNoMoreThanFourFifthsOfTheTimeSoFar) {
    SharedCores cores(nanoseconds(CLOCK_MONOTONIC) - std::int64_t{20'000'000});
    cores.shared(unshared_ns);
    const auto slow = [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return shared_ns;
    };
    std::vector<int> agreed;
    for (int wait = 0; wait < 20; ++wait) {
        agreed.push_back(0);
        cores.await_unshared(hour_ns, slow, [&](bool wish) { return wish && ++agreed.back() > 0; });
    }
    EXPECT_GE(agreed.front(), 2);  // 20 ms were no waits
    EXPECT_EQ(agreed.back(), 0);   // 80 ms and more were
}

TEST(SharedCoresTest, AWaitEndsAfterTwentyMilliseconds) {
    const std::int64_t now = nanoseconds(CLOCK_MONOTONIC);
    SharedCores cores(now - std::int64_t{1'000'000'000});  // there is time enough for longer waits
    cores.shared(unshared_ns);
    EXPECT_FALSE(cores.await_unshared(hour_ns, [] { return shared_ns; }, [](bool wish) { return wish; }));
    const std::int64_t waited = nanoseconds(CLOCK_MONOTONIC) - now;
    EXPECT_GE(waited, 20'000'000);
    EXPECT_LT(waited, 700'000'000);  // four fifths of the time
}

TEST(SharedCoresTest, ACoreIsSharedWhereTheComputationTookAnEighthLongerThanEver) {
    SharedCores cores(nanoseconds(CLOCK_MONOTONIC));
    EXPECT_FALSE(cores.shared({1000, 1120}));
    EXPECT_TRUE(cores.shared({1000, 1121}));
    EXPECT_TRUE(cores.shared({1121, 1000}));
    EXPECT_TRUE(cores.shared({1120, 990}));
}

TEST(SharedCoresTest, InTheFirstRoundEachItemHasItsShareOfTheTime) {
    EXPECT_EQ(deadline_ns(true, 0, 4, 800), 200);
    EXPECT_EQ(deadline_ns(true, 3, 4, 800), 800);
    EXPECT_EQ(deadline_ns(false, 0, 4, 800), 800);
}

}  // namespace
}  // namespace idlewave::probe
