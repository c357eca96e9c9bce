#include "pdes/window_agreement.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

namespace idlewave {
namespace {

using pdes::WindowAgreement;
using pdes::WindowCandidate;

TEST(WindowAgreement, OneThreadAgreesWithItself) {
    WindowAgreement agreement(1);
    const WindowCandidate agreed = agreement.agree(0, 0, {.cell = 7, .executed = 5});
    EXPECT_EQ(agreed.cell, 7);
    EXPECT_EQ(agreed.executed, 5U);
    EXPECT_EQ(agreed.busiest, 5U);
    EXPECT_FALSE(agreed.wants_pause);
}

TEST(WindowAgreement, AllThreadsGetTheEarliestCellTheSumTheMostAndEachWishInEachRound) {
    constexpr std::uint32_t threads = 3;
    constexpr std::uint64_t rounds = 200;
    WindowAgreement agreement(threads);
    std::array<std::vector<WindowCandidate>, threads> agreed;
    const auto run = [&](std::uint32_t thread) {
        for (std::uint64_t round = 0; round < rounds; ++round) {
            agreed[thread].push_back(
                agreement.agree(thread, round,
                                {.cell = static_cast<std::int64_t>(10 * round + (thread + round) % threads),
                                 .executed = round + thread,
                                 .wants_pause = round == 150 && thread == 2}));
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::uint32_t thread = 1; thread < threads; ++thread) {
            others.emplace_back(run, thread);
        }
        run(0);
    }
    for (const auto& of_thread : agreed) {
        ASSERT_EQ(of_thread.size(), rounds);
        for (std::uint64_t round = 0; round < rounds; ++round) {
            ASSERT_EQ(of_thread[round].cell, static_cast<std::int64_t>(10 * round));
            ASSERT_EQ(of_thread[round].executed, 3 * round + 3);
            ASSERT_EQ(of_thread[round].busiest, round + 2);
            ASSERT_EQ(of_thread[round].wants_pause, round == 150);
        }
    }
}

TEST(WindowAgreement, AllThreadsLearnThatOneHasFailed) {
    WindowAgreement agreement(2);
    WindowCandidate other;
    {
        const std::jthread failing([&] { other = agreement.agree(1, 0, {.cell = WindowCandidate::failed}); });
        EXPECT_EQ(agreement.agree(0, 0, {.cell = 3}).cell, WindowCandidate::failed);
    }
    EXPECT_EQ(other.cell, WindowCandidate::failed);
}

}  // namespace
}  // namespace idlewave
