#include "pdes/reexecution.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace idlewave {
namespace {

TEST(ReexecutedLps, AreThoseOfTheBlockThatIsExecutedNow) {
    pdes::ReexecutedLps lps(8);
    lps.enter_block();
    for (std::uint32_t lp = 0; lp < 8; ++lp) {
        EXPECT_FALSE(lps.is_requeued(lp)) << "none was rolled back yet";
    }
    lps.requeue(3);
    lps.requeue(5);
    EXPECT_TRUE(lps.is_requeued(3));
    EXPECT_FALSE(lps.is_requeued(4));
    EXPECT_TRUE(lps.is_requeued(5));
    lps.enter_block();
    EXPECT_FALSE(lps.is_requeued(3)) << "its events come now";
    lps.requeue(4);
    EXPECT_TRUE(lps.is_requeued(4));
}

}  // namespace
}  // namespace idlewave
