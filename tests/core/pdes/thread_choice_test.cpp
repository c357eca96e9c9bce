#include "pdes/thread_choice.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

namespace idlewave::pdes {
namespace {

using std::chrono::microseconds;

/// Windows of ten events, each of which takes so long by all threads and by one.
class Windows {
  public:
    void run(int count, microseconds by_all, microseconds by_one) {
        for (int i = 0; i < count; ++i) {
            const bool one = choice_.chosen() == WindowThreads::one;
            now_ += one ? by_one : by_all;
            (one ? by_one_ : by_all_) += 1;
            executed_ += 10;
            choice_.count(executed_, now_);
        }
    }
    [[nodiscard]] bool next_is_by_one() const { return choice_.chosen() == WindowThreads::one; }
    [[nodiscard]] double share_by_one() const { return static_cast<double>(by_one_) / (by_one_ + by_all_); }
    void forget() { by_one_ = by_all_ = 0; }

  private:
    ThreadChoice choice_;
    ThreadChoice::Clock::time_point now_;
    std::uint64_t executed_ = 0;
    int by_one_ = 0;
    int by_all_ = 0;
};

TEST(ThreadChoice, AllThreadsExecuteNearlyAllWindowsWhereTheyAreFaster) {
    Windows windows;
    windows.run(10'000, microseconds(100), microseconds(160));
    EXPECT_GT(windows.share_by_one(), 0) << "it was tried";
    EXPECT_LT(windows.share_by_one(), 0.06);
}

TEST(ThreadChoice, OneThreadExecutesNearlyAllWindowsWhereThreadsWaitForACore) {
    Windows windows;
    windows.run(10'000, microseconds(4000), microseconds(100));
    EXPECT_GT(windows.share_by_one(), 0.98);
    EXPECT_LT(windows.share_by_one(), 1);
}

TEST(ThreadChoice, TrialsBecomeRarerWhileTheyConfirmWhatIsKnown) {
    Windows windows;
    windows.run(2'000, microseconds(4000), microseconds(100));
    const double first = 1 - windows.share_by_one();
    windows.forget();
    windows.run(20'000, microseconds(4000), microseconds(100));
    EXPECT_LT(1 - windows.share_by_one(), first / 2);
}

TEST(ThreadChoice, ChangesSoonAfterTheOtherHasBecomeFaster) {
    Windows windows;
    windows.run(1000, microseconds(100), microseconds(160));
    windows.forget();
    windows.run(1000, microseconds(4000), microseconds(160));
    EXPECT_GT(windows.share_by_one(), 0.95);
    windows.forget();
    windows.run(10'000, microseconds(100), microseconds(160));
    EXPECT_LT(windows.share_by_one(), 0.2);
}

TEST(ThreadChoice, ATrialTakesAMillisecond) {
    Windows windows;
    windows.run(11, microseconds(100), microseconds(160));  // the first window begins the time of all
    EXPECT_TRUE(windows.next_is_by_one());
    windows.run(8, microseconds(100), microseconds(160));
    EXPECT_FALSE(windows.next_is_by_one());
}

TEST(ThreadChoice, ATrialThatTheOtherWinsIsAcceptedAtOnce) {
    Windows windows;
    windows.run(11, microseconds(100), microseconds(50));
    ASSERT_TRUE(windows.next_is_by_one()) << "the trial begins";
    windows.forget();
    windows.run(500, microseconds(100), microseconds(50));
    EXPECT_EQ(windows.share_by_one(), 1);
}

TEST(ThreadChoice, AnInterruptedWindowDoesNotEndTheUseOfAllThreads) {
    Windows windows;
    windows.run(1000, microseconds(100), microseconds(160));
    windows.forget();
    for (int i = 0; i < 10; ++i) {
        windows.run(1, microseconds(5000), microseconds(5000));  // the system ran another program on a thread's core
        windows.run(200, microseconds(100), microseconds(160));
    }
    EXPECT_LT(windows.share_by_one(), 0.1);
}

TEST(ThreadChoice, OneThreadExecutesWindowsWhereAnotherProgramTakesACoreAgainAndAgain) {
    for (const int between : {15, 20, 30}) {
        Windows windows;
        for (int i = 0; i < 1000; ++i) {
            windows.run(1, microseconds(5000), microseconds(160));  // a time slice of the other program
            windows.run(between, microseconds(100), microseconds(160));
        }
        EXPECT_GT(windows.share_by_one(), 0.9) << between << " windows between two slices";
    }
}

TEST(ThreadChoice, AnInterruptedFirstWindowCostsLittle) {
    Windows windows;
    windows.run(5, microseconds(100), microseconds(160));
    windows.run(1, microseconds(5000), microseconds(160));
    windows.run(4000, microseconds(100), microseconds(160));
    EXPECT_LT(windows.share_by_one(), 0.2);
}

TEST(ThreadChoice, AShortRunIsExecutedByAllThreads) {
    Windows windows;
    windows.run(9, microseconds(100), microseconds(10));
    EXPECT_EQ(windows.share_by_one(), 0);
}

}  // namespace
}  // namespace idlewave::pdes
