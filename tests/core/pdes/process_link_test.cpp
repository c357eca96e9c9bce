#include "pdes/process_link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/inbox.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/window_agreement.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using testing::Small;
using testing::SmallWindows;
using LinkTransport = pdes::PartitionTransport<Small::Payload>;
using Link = pdes::ProcessLink<SmallWindows>;
using pdes::WindowCandidate;

/// A thread with its link.
struct Linked {
    Linked(LinkTransport& transport, std::uint32_t number) : endpoint(transport, number), link(2, endpoint, 0) {}

    /// Agrees with the other thread; events that arrive in the meantime lie in the cell of their time.
    WindowCandidate agree(const WindowCandidate& own) {
        return link.agree(own, [this] {
            std::int64_t earliest = pdes::Gvt::nothing;
            pdes::receive_batches<SmallWindows>(endpoint, link.gvt(), worker, payloads,
                                                [&](const pdes::PendingEvent& event) {
                                                    received.push_back(event);
                                                    earliest = std::min(earliest, event.time);
                                                });
            return earliest;
        });
    }

    LinkTransport::Endpoint endpoint;
    Link link;
    Small model;
    SmallWindows windows{model};
    SmallWindows::Worker worker{windows};
    pdes::PayloadStore<Small::Payload> store;
    pdes::PayloadPool<Small::Payload> payloads{store};
    std::vector<pdes::PendingEvent> received;
};

struct LinkedProcesses {
    LinkTransport transport{2};
    std::array<Linked, 2> linked{Linked{transport, 0}, Linked{transport, 1}};

    /// Both agree, each on a thread.
    std::array<WindowCandidate, 2> agree(const WindowCandidate& first, const WindowCandidate& second) {
        std::array<WindowCandidate, 2> agreed;
        std::thread other([&] { agreed[1] = linked[1].agree(second); });
        agreed[0] = linked[0].agree(first);
        other.join();
        return agreed;
    }
};

TEST(ProcessLink, BothAgreeOnTheEarliestCellAndTheSumOfEvents) {
    LinkedProcesses processes;
    for (const WindowCandidate& agreed : processes.agree({.cell = 9, .executed = 10}, {.cell = 7, .executed = 4})) {
        EXPECT_EQ(agreed.cell, 7);
        EXPECT_EQ(agreed.executed, 14U);
        EXPECT_EQ(agreed.busiest, 10U);
        EXPECT_FALSE(agreed.wants_pause);
    }
    for (const WindowCandidate& agreed : processes.agree({.cell = 8}, {.cell = 8, .wants_pause = true})) {
        EXPECT_TRUE(agreed.wants_pause);
    }
}

TEST(ProcessLink, AllEventsHaveArrivedWhenTheyAgree) {
    LinkedProcesses processes;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        processes.linked[0].link.send({.partition = 1, .local = i},
                                      {.time = 5 + i, .sequence = i, .code = pdes::QueuedEvent::pooled}, 5 + i, {i});
    }
    const auto agreed = processes.agree({.cell = 50}, {.cell = pdes::Gvt::nothing});
    EXPECT_EQ(agreed[0].cell, 5);
    EXPECT_EQ(agreed[1].cell, 5);
    ASSERT_EQ(processes.linked[1].received.size(), 10'000U);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        const pdes::PendingEvent& event = processes.linked[1].received[i];
        EXPECT_EQ(event.lp, i) << "the receiver's index in its partition";
        EXPECT_EQ(processes.linked[1].payloads[event.payload_slot].payload.word, i);
    }
    EXPECT_EQ(processes.linked[0].link.events(), 10'000U);
    EXPECT_LT(processes.linked[0].link.batches(), 10U);
}

TEST(ProcessLink, AFailureEndsTheAgreementOfAll) {
    LinkedProcesses processes;
    const auto agreed = processes.agree({.cell = WindowCandidate::failed}, {.cell = 3});
    EXPECT_EQ(agreed[0].cell, WindowCandidate::failed);
    EXPECT_EQ(agreed[1].cell, WindowCandidate::failed);
}

TEST(WindowAgreement, ThreadsAgreeRoundForRound) {
    constexpr std::uint32_t threads = 3;
    constexpr std::int64_t rounds = 200;
    pdes::WindowAgreement agreement(threads);
    std::array<std::vector<WindowCandidate>, threads> agreed;
    const auto work = [&](std::uint32_t thread) {
        for (std::int64_t round = 0; round < rounds; ++round) {
            agreed[thread].push_back(agreement.agree(thread, static_cast<std::uint64_t>(round),
                                                     {.cell = round + (round + thread) % threads,
                                                      .executed = thread + 1U,
                                                      .wants_pause = round == 100 && thread == 1}));
        }
    };
    std::thread second(work, 1);
    std::thread third(work, 2);
    work(0);
    second.join();
    third.join();
    for (const auto& own : agreed) {
        for (std::int64_t round = 0; round < rounds; ++round) {
            const WindowCandidate& found = own[static_cast<std::size_t>(round)];
            ASSERT_EQ(found.cell, round);
            ASSERT_EQ(found.executed, 6U);
            ASSERT_EQ(found.busiest, 3U);
            ASSERT_EQ(found.wants_pause, round == 100);
        }
    }
}

}  // namespace
}  // namespace idlewave
