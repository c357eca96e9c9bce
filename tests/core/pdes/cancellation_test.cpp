#include "pdes/cancellation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/undo_log.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using pdes::CancelledEvent;
using pdes::QueuedEvent;
using pdes::SentEvent;
using Payload = testing::Small::Payload;
using Cancellation = pdes::Cancellation<Payload>;
using Log = pdes::UndoLog<testing::SmallWindows>;

constexpr std::uint32_t lp = 0;
constexpr std::uint32_t source = 40;  ///< the number of that LP

/// The events that an LP sends in one execution, with their words.
using Sends = std::vector<std::pair<SentEvent, std::uint32_t>>;

SentEvent pooled(Time time, std::uint32_t destination) {
    return {.time = time, .destination = destination, .code = QueuedEvent::pooled};
}

/// Rolls back, the latest first, executions in the cells 1, 2, … that sent these events.
void roll_back(const std::vector<Sends>& executions, Cancellation& cancellation) {
    Log log(1);
    pdes::Lp<testing::SmallWindows::State> state{};
    std::int64_t cell = 0;
    for (const Sends& sends : executions) {
        pdes::UndoRecord* record = log.open(state, lp, ++cell, {});
        for (const auto& [sent, word] : sends) {
            log.execution().sent.push_back(sent);
            log.execution().sent_payloads.push_back({word});
            ++state.sequence;
        }
        log.close(record, 0);
    }
    log.roll_back(lp, 0, [&](pdes::UndoRecord& record) { cancellation.add(record, source); });
}

/// The sequences of the events that are to be cancelled now.
std::vector<std::uint32_t> pending(Cancellation& cancellation) {
    std::vector<std::uint32_t> sequences;
    cancellation.each_pending([&](const CancelledEvent& event) {
        EXPECT_EQ(event.source, source);
        sequences.push_back(event.sequence);
    });
    return sequences;
}

const std::vector<Sends> two_executions = {{{pooled(10, 1), 5}, {pooled(11, 2), 6}}, {{pooled(20, 3), 7}}};

TEST(Cancellation, AggressiveCancelsAllThatWasSentAtOnce) {
    Cancellation cancellation(false);
    roll_back(two_executions, cancellation);
    std::vector<std::uint32_t> sequences = pending(cancellation);
    std::sort(sequences.begin(), sequences.end());
    EXPECT_EQ(sequences, (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_TRUE(pending(cancellation).empty()) << "once";
    EXPECT_EQ(cancellation.queue_of(lp), nullptr);
}

TEST(Cancellation, WhatIsAddedMeanwhileIsCancelledToo) {
    Cancellation cancellation(false);
    roll_back({{{pooled(10, 1), 5}}}, cancellation);
    int cancelled = 0;
    cancellation.each_pending([&](const CancelledEvent& /*event*/) {
        if (++cancelled == 1) {
            roll_back(two_executions, cancellation);
        }
    });
    EXPECT_EQ(cancelled, 4);
}

TEST(Cancellation, LazyCancelsNothingThatIsSentAgain) {
    Cancellation cancellation(true);
    roll_back(two_executions, cancellation);
    EXPECT_TRUE(pending(cancellation).empty());
    EXPECT_EQ(cancellation.queue_of(lp + 1), nullptr);
    auto* queue = cancellation.queue_of(lp);
    ASSERT_NE(queue, nullptr);
    const auto none = [](const CancelledEvent& event) { ADD_FAILURE() << "cancelled: " << event.sequence; };
    std::uint32_t sequence = 0;
    for (const Sends& sends : two_executions) {
        for (const auto& [sent, word] : sends) {
            const Payload payload{word};
            EXPECT_TRUE(queue->matches(sent, sequence++, &payload, none));
        }
    }
    cancellation.finish(*queue, lp, 2, none);
    EXPECT_EQ(cancellation.queue_of(lp), nullptr) << "nothing is left to be sent again";
}

TEST(Cancellation, LazyCancelsWhatDiffersInTimeReceiverOrPayload) {
    for (const auto& [sent, word] :
         {std::pair(pooled(12, 1), 5U), std::pair(pooled(10, 2), 5U), std::pair(pooled(10, 1), 6U)}) {
        Cancellation cancellation(true);
        roll_back(two_executions, cancellation);
        std::vector<std::uint32_t> cancelled;
        const Payload payload{word};
        EXPECT_FALSE(cancellation.queue_of(lp)->matches(
            sent, 0, &payload, [&](const CancelledEvent& event) { cancelled.push_back(event.sequence); }));
        EXPECT_EQ(cancelled, (std::vector<std::uint32_t>{0}));
    }
}

TEST(Cancellation, LazyCancelsWhatWasNotSentOnceTheCellIsExecutedAgain) {
    Cancellation cancellation(true);
    roll_back(two_executions, cancellation);
    std::vector<std::uint32_t> cancelled;
    const auto note = [&](const CancelledEvent& event) { cancelled.push_back(event.sequence); };
    auto* queue = cancellation.queue_of(lp);
    const Payload payload{5};
    EXPECT_TRUE(queue->matches(pooled(10, 1), 0, &payload, note));
    cancellation.finish(*queue, lp, 1, note);
    EXPECT_EQ(cancelled, (std::vector<std::uint32_t>{1}));
    ASSERT_NE(cancellation.queue_of(lp), nullptr) << "the next cell was not executed again yet";
    cancellation.finish(*queue, lp, 2, note);
    EXPECT_EQ(cancelled, (std::vector<std::uint32_t>{1, 2}));
    EXPECT_EQ(cancellation.queue_of(lp), nullptr);
}

}  // namespace
}  // namespace idlewave
