#include "pdes/undo_log.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using testing::Small;
using testing::SmallWindows;
using Log = pdes::UndoLog<SmallWindows>;
using pdes::Lp;
using pdes::QueuedEvent;
using pdes::UndoRecord;

/// Two LPs, whose executions add to their state.
struct Executed {
    Log log{2};
    Small model;
    SmallWindows windows{model};
    SmallWindows::Worker worker{windows};
    std::vector<Lp<SmallWindows::State>> lps = std::vector<Lp<SmallWindows::State>>(2);

    /// An execution of so many events in a cell, each of which sends one.
    void execute(std::uint32_t lp, std::int64_t cell, std::uint32_t events = 1) {
        const std::vector<QueuedEvent> queued(events,
                                              QueuedEvent{.offset = static_cast<std::uint32_t>(cell), .sequence = 0});
        UndoRecord* record = log.open(lps[lp], lp, cell, queued);
        for (std::uint32_t i = 0; i < events; ++i) {
            lps[lp].state.model.value = lps[lp].state.model.value * 10 + static_cast<std::uint64_t>(cell);
            log.execution().sent.push_back({.time = 100 + cell, .destination = lps[lp].sequence++});
        }
        log.close(record, events);
    }
    /// Rolls an LP back; returns the cells of the executions that were undone.
    std::vector<std::int64_t> roll_back(std::uint32_t lp, std::int64_t cell) {
        std::vector<std::int64_t> undone;
        log.roll_back(lp, cell, [&](UndoRecord& record) {
            Log::restore(worker, lps[lp], record, lp);
            undone.push_back(record.cell);
        });
        return undone;
    }
    /// Commits what lies before a cell; returns the number of events.
    std::uint64_t commit_before(std::int64_t cell) {
        std::uint64_t events = 0;
        log.commit_before(cell, [&](UndoRecord& record) { events += record.count; });
        return events;
    }
    [[nodiscard]] std::uint64_t value(std::uint32_t lp) const { return lps[lp].state.model.value; }
};

TEST(UndoLog, RollsAnLpBackToACellTheLatestExecutionFirst) {
    Executed all;
    for (const std::int64_t cell : {1, 2, 4}) {
        all.execute(0, cell);
        all.execute(1, cell);
    }
    EXPECT_TRUE(all.log.is_executed_from(0, 4));
    EXPECT_FALSE(all.log.is_executed_from(0, 5));
    EXPECT_EQ(all.roll_back(0, 2), (std::vector<std::int64_t>{4, 2}));
    EXPECT_EQ(all.value(0), 1U);
    EXPECT_EQ(all.lps[0].sequence, 1U) << "the next event is sent with the same sequence";
    EXPECT_EQ(all.value(1), 124U) << "the other LP stays";
    EXPECT_FALSE(all.log.is_executed_from(0, 2));
    EXPECT_TRUE(all.log.is_executed_from(0, 1));
    EXPECT_TRUE(all.roll_back(0, 2).empty());
}

TEST(UndoLog, ARecordHasTheEventsThatWereExecutedAndSent) {
    Executed all;
    all.execute(1, 3, 2);
    all.log.roll_back(1, 3, [](UndoRecord& record) {
        EXPECT_EQ(record.lp, 1U);
        EXPECT_EQ(record.count, 2U);
        ASSERT_EQ(record.executed().size(), 2U);
        EXPECT_EQ(record.executed()[1].offset, 3U);
        ASSERT_EQ(record.sent().size(), 2U);
        EXPECT_EQ(record.sent()[0], (pdes::SentEvent{.time = 103, .destination = 0}));
        EXPECT_EQ(record.sent()[1], (pdes::SentEvent{.time = 103, .destination = 1}));
    });
}

TEST(UndoLog, CommitsEachExecutionOnceAndNoneThatWasRolledBack) {
    Executed all;
    constexpr int cells = 5000;
    std::uint64_t committed = 0;
    for (int cell = 0; cell < cells; ++cell) {
        all.execute(0, cell);
        all.execute(1, cell, 3);
        if (cell % 100 == 50) {
            EXPECT_EQ(all.roll_back(1, cell).size(), 1U);
        }
        committed += all.commit_before(cell - 10);
    }
    committed += all.commit_before(cells);
    EXPECT_EQ(committed, cells + 3U * (cells - cells / 100));
    EXPECT_TRUE(all.log.empty());
}

TEST(UndoLog, UsesTheMemoryOfCommittedExecutionsAgain) {
    Executed all;
    std::size_t early = 0;
    for (int cell = 0; cell < 20'000; ++cell) {
        all.execute(0, cell, 5);
        all.commit_before(cell - 10);
        early = cell == 5'000 ? all.log.bytes() : early;
    }
    EXPECT_GT(early, 0U);
    EXPECT_EQ(all.log.bytes(), early);
}

TEST(UndoLog, AnExecutionMayBeLargerThanAChunk) {
    Executed all;
    all.execute(0, 1);
    all.execute(0, 2, 100'000);
    all.execute(0, 3);
    EXPECT_EQ(all.roll_back(0, 2), (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(all.value(0), 1U);
    EXPECT_EQ(all.commit_before(4), 1U);
}

}  // namespace
}  // namespace idlewave
