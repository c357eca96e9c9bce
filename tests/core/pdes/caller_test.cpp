#include "pdes/caller.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <stdexcept>

#include "base/time.hpp"
#include "pdes/first_error.hpp"

namespace idlewave {
namespace {

TEST(Caller, IsCalledAfterManyEventsOrManyWindows) {
    pdes::FirstError error;
    pdes::Caller caller(error);
    int polls = 0;
    bool pause = false;
    const pdes::Caller::Poll poll = [&](Time now) {
        EXPECT_EQ(now, 7);
        ++polls;
    };
    const pdes::Caller::WantsPause wants_pause = [&] { return pause; };
    caller.begin(poll, wants_pause);
    caller.count_events(1 << 13, 7);
    EXPECT_EQ(polls, 0);
    caller.count_events(1 << 13, 7);
    EXPECT_EQ(polls, 1);
    EXPECT_FALSE(caller.wants_pause());
    pause = true;
    for (std::uint64_t window = 1; window <= 200; ++window) {
        caller.count_window(window, 7);
    }
    EXPECT_EQ(polls, 4);
    EXPECT_TRUE(caller.wants_pause());
    const pdes::Caller::Poll no_poll;
    const pdes::Caller::WantsPause no_pause;
    caller.begin(no_poll, no_pause);
    caller.count_events(1 << 20, 7);
    EXPECT_EQ(polls, 4);
    EXPECT_FALSE(caller.wants_pause());
}

TEST(Caller, AnInterruptIsNotLostBehindAnEarlierError) {
    struct Interrupt : std::exception {};
    pdes::FirstError error;
    pdes::Caller caller(error);
    const pdes::Caller::Poll poll = [](Time /*now*/) { throw Interrupt(); };
    const pdes::Caller::WantsPause no_pause;
    caller.begin(poll, no_pause);
    error.record(std::make_exception_ptr(std::runtime_error("earlier")));
    EXPECT_THROW(caller.count_events(1 << 20, 0), Interrupt);
    EXPECT_THROW(error.rethrow(), Interrupt);
}

}  // namespace
}  // namespace idlewave
