#include "pdes/thread_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace idlewave {
namespace {

const pdes::ThreadTeam::Work no_abort = [](std::uint32_t /*thread*/) { FAIL() << "nothing was thrown"; };

TEST(ThreadTeam, EachThreadWorksOnceAndTheFirstIsTheCallers) {
    for (const bool pin : {false, true}) {
        const pdes::ThreadTeam team(3, 0, pin);
        std::vector<std::thread::id> ids(3);
        team.run([&](std::uint32_t thread) { ids[thread] = std::this_thread::get_id(); }, no_abort);
        EXPECT_EQ(ids[0], std::this_thread::get_id());
        EXPECT_NE(ids[1], ids[2]);
        EXPECT_NE(ids[1], ids[0]);
        EXPECT_NE(ids[1], std::thread::id());
    }
}

TEST(ThreadTeam, AnExceptionOfAnyThreadAbortsTheOthersAndReachesTheCaller) {
    for (const std::uint32_t thrower : {0U, 1U, 2U}) {
        const pdes::ThreadTeam team(3, 0, false);
        std::atomic<bool> aborted{false};
        std::atomic<std::uint32_t> left{0};
        const auto work = [&](std::uint32_t thread) {
            if (thread == thrower) {
                throw std::runtime_error("enough");
            }
            while (!aborted) {
                std::this_thread::yield();
            }
            ++left;
        };
        EXPECT_THROW(team.run(work,
                              [&](std::uint32_t thread) {
                                  EXPECT_EQ(thread, thrower);
                                  aborted = true;
                              }),
                     std::runtime_error);
        EXPECT_EQ(left, 2U);
    }
}

}  // namespace
}  // namespace idlewave
