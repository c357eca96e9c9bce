#include "base/pinned.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdint>
#include <thread>

namespace idlewave {
namespace {

/// On how many processors the calling thread may run.
std::uint32_t processors() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    EXPECT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    return static_cast<std::uint32_t>(CPU_COUNT(&allowed));
}

TEST(Pinned, AThreadStaysOnOneProcessorAndIsThenAsFreeAsBefore) {
    const std::uint32_t before = processors();
    if (before < 2) {
        GTEST_SKIP() << "there is one processor";
    }
    for (const std::uint32_t number : {0U, 1U, before, 3 * before + 1}) {
        const Pinned pinned(number);
        EXPECT_EQ(processors(), 1U);
        std::uint32_t others = 0;
        std::thread([&others] { others = processors(); }).join();
        EXPECT_EQ(others, 1U) << "a thread that it starts has its processor";
    }
    EXPECT_EQ(processors(), before);
}

TEST(Pinned, ThreadsOfDifferentNumbersHaveDifferentProcessors) {
    if (processors() < 2) {
        GTEST_SKIP() << "there is one processor";
    }
    int first = -1;
    int second = -1;
    {
        const Pinned pinned(0);
        first = ::sched_getcpu();
    }
    {
        const Pinned pinned(1);
        second = ::sched_getcpu();
    }
    EXPECT_NE(first, second);
}

}  // namespace
}  // namespace idlewave
