#include "pdes/lps.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace idlewave {
namespace {

TEST(Lp, ATimerIsSetUnlessAnEarlierOneIs) {
    pdes::Lp<int> lp{};
    EXPECT_TRUE(lp.needs_timer(9));
    EXPECT_TRUE(lp.needs_timer(4));
    EXPECT_FALSE(lp.needs_timer(5));
    EXPECT_EQ(lp.timer, 4U);
    lp.clear_timer_before(4);
    EXPECT_FALSE(lp.needs_timer(5));
    lp.clear_timer_before(5);
    EXPECT_TRUE(lp.needs_timer(5)) << "the timer has gone off";
}

TEST(Lps, OnlyThoseThatWereMadeAreDestroyed) {
    static int made = 0;
    struct Counted {
        Counted() { ++made; }
        Counted(const Counted&) = delete;
        Counted& operator=(const Counted&) = delete;
        ~Counted() { --made; }
        std::vector<int> data{1, 2, 3};
    };
    {
        pdes::Lps<Counted> lps(1'000);
        lps.make(3).state.data.push_back(4);
        lps.make(999);
        EXPECT_EQ(made, 2);
        EXPECT_EQ(lps[3].state.data.size(), 4U);
        EXPECT_EQ(lps[3].sequence, 0U);
    }
    EXPECT_EQ(made, 0);
}

}  // namespace
}  // namespace idlewave
