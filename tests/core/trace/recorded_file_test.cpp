#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "trace/rank_trace.hpp"

extern "C" {
#include "calls.h"
#include "record.h"
}

/// The file of a rank as the tracer records it, read by the core.
namespace idlewave::trace {
namespace {

/// A file that goes when the test ends.
class RecordedFile : public ::testing::Test {
  protected:
    /// Tests run beside each other.
    RecordedFile()
        : path_(std::filesystem::path(::testing::TempDir()) /
                (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".iwtrace")) {
        std::filesystem::remove(path_);
        EXPECT_EQ(record_open(path_.c_str(), 0, 1), 0);
    }
    ~RecordedFile() override { std::filesystem::remove(path_); }

    static ::Call call(std::int64_t begin, std::int64_t end) { return {begin, end, 0, 0}; }

    static void send(std::int64_t begin, std::uint64_t tag) {
        std::uint64_t* words = record_begin(3);
        ASSERT_NE(words, nullptr);
        words[0] = 1;
        words[1] = tag;
        words[2] = 8;
        const ::Call made = call(begin, begin + 10);
        record_commit(&made, CALL_SEND, 0, 3);
    }

    static void poll(std::int64_t begin) {
        const ::Call made = call(begin, begin + 10);
        record_poll(&made);
    }

    /// The calls, in order, with the first word of polls: how many there were.
    [[nodiscard]] std::vector<std::pair<Call, std::uint64_t>> closed() const {
        record_close();
        std::vector<std::pair<Call, std::uint64_t>> found;
        RankTrace::read(path_.string()).each([&found](const TraceRecord& r) {
            found.emplace_back(r.call, r.call == Call::polls ? r.words[0] : 0);
        });
        return found;
    }

    std::filesystem::path path_;
};

using Found = std::vector<std::pair<Call, std::uint64_t>>;

TEST_F(RecordedFile, PollsWithoutAnotherRecordBetweenThemAreOne) {
    send(100, 1);
    for (std::int64_t i = 0; i < 1000; ++i) {
        poll(200 + 1000 * i);
    }
    send(2'000'000, 1);
    poll(3'000'000);
    EXPECT_EQ(closed(), (Found{{Call::send, 0}, {Call::polls, 1000}, {Call::send, 0}, {Call::polls, 1}}));
}

/// A call that completes requests begins a record, by which waits are recorded, and is a poll if it completes none.
TEST_F(RecordedFile, WaitsThatAreRecordedBeforeAPollStay) {
    poll(100);
    record_waits({50, 0, 0});
    EXPECT_NE(record_begin(3), nullptr);
    poll(300);
    send(400, 1);
    EXPECT_EQ(closed(), (Found{{Call::polls, 1}, {Call::core_wait, 0}, {Call::polls, 1}, {Call::send, 0}}));
}

TEST_F(RecordedFile, AFileOfManyChunksHasAllRecordsAndTheTimesOfItsGrowth) {
    constexpr std::int64_t sends = 700'000;
    for (std::int64_t i = 0; i < sends; ++i) {
        send(100 + 20 * i, static_cast<std::uint64_t>(i) << 32);
    }
    std::int64_t sent = 0;
    std::int64_t grown = 0;
    for (const auto& [call, count] : closed()) {
        sent += call == Call::send ? 1 : 0;
        grown += call == Call::tracer ? 1 : 0;
    }
    EXPECT_EQ(sent, sends);
    EXPECT_GE(grown, 1);
}

TEST_F(RecordedFile, RecordsThatWereDiscardedAreNotThere) {
    send(100, 1);
    poll(200);
    record_discard();
    send(50, 2);
    EXPECT_EQ(closed(), (Found{{Call::send, 0}}));
}

}  // namespace
}  // namespace idlewave::trace
