#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trace/rank_trace.hpp"
#include "trace_bytes.hpp"

extern "C" {
#include "packing.h"
}

namespace idlewave::trace {
namespace {

using testing::TraceBytes;

struct Recorded {
    Call call;
    std::uint16_t info;
    std::int64_t begin;
    std::int64_t end;
    std::vector<std::uint64_t> words;

    friend bool operator==(const Recorded&, const Recorded&) = default;
};

/// The file of a rank as the tracer writes it.
TraceBytes packed(std::span<const Recorded> records) {
    TraceBytes file(0, 1);
    file.put<std::uint32_t>(8, 2);
    packing_start();
    std::int64_t last = 0;
    for (const Recorded& record : records) {
        const std::uint64_t none = 0;
        const ::Content content{static_cast<unsigned>(record.call), record.info, record.words.size(),
                                record.words.empty() ? &none : record.words.data()};
        std::vector<char> room(packing_room(record.words.size()));
        const std::size_t size = packing_write(room.data(), content, record.begin - last, record.end - record.begin);
        const auto* bytes = reinterpret_cast<const std::byte*>(room.data());
        file.bytes().insert(file.bytes().end(), bytes, bytes + size);
        last = record.end;
    }
    return file;
}

std::vector<Recorded> records_of(const TraceBytes& file) {
    std::vector<Recorded> found;
    file.read().each([&found](const TraceRecord& record) {
        found.push_back(
            {record.call, record.info, record.begin, record.end, {record.words.begin(), record.words.end()}});
    });
    return found;
}

std::string packed_refusal(const TraceBytes& file) {
    try {
        return "read " + std::to_string(file.read().size());
    } catch (const InputError& error) {
        return error.what();
    }
}

/// Loops of calls with the same and with other arguments, as programs have them, and calls that overlap.
std::vector<Recorded> repeating_calls(unsigned seed, std::size_t calls) {
    std::mt19937_64 random(seed);
    const auto below = [&random](std::uint64_t bound) { return random() % bound; };
    std::vector<Recorded> body(1 + below(12));
    for (Recorded& record : body) {
        constexpr Call some[] = {Call::send, Call::isend, Call::recv, Call::waitall, Call::polls, Call::core_wait};
        record.call = some[below(std::size(some))];
        record.info = static_cast<std::uint16_t>(below(4));
        record.words.resize(7 + (below(4) == 0 ? below(3000) : below(6)));
        for (std::uint64_t& word : record.words) {
            word = random() >> below(64);
        }
    }
    std::vector<Recorded> all;
    std::int64_t time = 0;
    while (all.size() < calls) {
        Recorded next = body[all.size() % body.size()];
        if (below(3) == 0) {
            next.words[below(next.words.size())] += below(1000);
        }
        const std::int64_t early = std::min<std::int64_t>(time, static_cast<std::int64_t>(below(200)));
        next.begin = time + static_cast<std::int64_t>(random() >> (20 + below(44)) >> 4) - early;
        next.end = std::max(next.begin + static_cast<std::int64_t>(random() >> (24 + below(40))), time);
        if (next.end > latest) {
            break;
        }
        time = next.end;
        all.push_back(next);
    }
    return all;
}

TEST(PackedRecords, AreReadAsTheyWereRecorded) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const std::vector<Recorded> recorded = repeating_calls(seed, 500);
        EXPECT_EQ(records_of(packed(recorded)), recorded) << "seed " << seed;
    }
}

TEST(PackedRecords, OfMoreKindsThanAreStoredAreReadAsTheyWereRecorded) {
    std::vector<Recorded> recorded;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const auto time = static_cast<std::int64_t>(10 * i);
        recorded.push_back({Call::send, 0, time, time + 5, {1, i * i % 9001, i % 7}});
    }
    EXPECT_EQ(records_of(packed(recorded)), recorded);
}

TEST(PackedRecords, OfALoopTakeFiveBytesEachForCallsOfMicroseconds) {
    std::vector<Recorded> recorded;
    constexpr int iterations = 1000;
    for (int i = 0; i < iterations; ++i) {
        const std::int64_t time = 100'000 + i * std::int64_t{30'000};
        recorded.push_back({Call::irecv, 0, time, time + 300, {1, 7, 8192, 0x5581'0000'1000}});
        recorded.push_back({Call::isend, 0, time + 700, time + 1000, {1, 7, 8192, 0x5581'0000'2000}});
        recorded.push_back(
            {Call::waitall, 0, time + 1500, time + 9000, {0x5581'0000'1000, 7, 8192, 0x5581'0000'2000, 0, 0}});
    }
    const std::size_t first = packed(std::span(recorded).first(6)).bytes().size();
    EXPECT_LE(packed(recorded).bytes().size() - first, 5 * 3 * (iterations - 2));
}

TEST(PackedRecords, OfATagThatCountsUpTakeLessThanTheirWords) {
    std::vector<Recorded> recorded;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto time = static_cast<std::int64_t>(1000 * i);
        recorded.push_back({Call::send, 0, time, time + 200, {0x9E37'79B9'7F4A'7C15, 3 | i << 32, 8192}});
    }
    EXPECT_LE(packed(recorded).bytes().size(), 256 + 21 * recorded.size() + 20);
}

TEST(PackedRecords, OfAKilledRankEndWhereZeroesBegin) {
    const std::vector<Recorded> recorded = repeating_calls(1, 50);
    TraceBytes file = packed(recorded);
    file.bytes().resize(file.bytes().size() + 4096);
    EXPECT_EQ(records_of(file), recorded);
}

TEST(PackedRecords, ThatTheFileCutsAreRefused) {
    const std::vector<Recorded> recorded = repeating_calls(2, 12);
    const TraceBytes whole = packed(recorded);
    std::size_t complete = 0;
    for (std::size_t size = 256; size < TraceBytes(whole).bytes().size(); ++size) {
        TraceBytes file = whole;
        file.bytes().resize(size);
        const std::string found = packed_refusal(file);
        const bool refused = found.ends_with("the file ends in the middle of a record");
        EXPECT_TRUE(refused || found == "read " + std::to_string(complete)) << found;
        complete += refused ? 0 : 1;
    }
    EXPECT_EQ(complete, recorded.size());
}

TEST(PackedRecords, ThatCannotBeAreRefused) {
    const auto with = [](std::initializer_list<unsigned> bytes) {
        TraceBytes file(0, 1);
        file.put<std::uint32_t>(8, 2);
        for (const unsigned byte : bytes) {
            file.bytes().push_back(static_cast<std::byte>(byte));
        }
        return packed_refusal(file);
    };
    EXPECT_EQ(with({4, 0, 0, 0}), "rank0: byte 256: expected a record, found one of no kind");
    EXPECT_EQ(with({1, 0, 0}), "rank0: byte 256: expected a record that has followed the one before it, and none has");
    EXPECT_EQ(with({2, 0, 0, 5, 0}), "rank0: byte 256: expected a record in slot 5, and there is none");
    EXPECT_EQ(with({3, 0, 0, 1, 0, 99, 0, 0, 0, 0, 0}), "rank0: byte 256: no call has the number 99");
    EXPECT_EQ(with({3, 0, 0, 1, 0, 16, 0, 2, 0, 0, 0, 0}),
              "rank0: byte 256: expected at least 3 words for MPI_Send, found 2");
    EXPECT_EQ(with({3, 0, 0, 1, 0, 16, 0, 3, 0, 0, 0, 0x09, 0}), "rank0: byte 256: expected words of 8 bytes at most");
    EXPECT_EQ(with({3, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0}),
              "rank0: byte 257: MPI_Init from -1 to -1 ns: expected times that do not decrease");
    EXPECT_EQ(with({3, 0, 0, 1, 0, 16, 0, 0xff, 0xff, 0xff, 0xff}),
              "rank0: byte 256: the file ends in the middle of a record");
}

/// A record of `words` words of no byte each, behind `records` others, of a rank among `ranks`.
std::string with_empty_words(std::uint32_t words, std::size_t records, std::uint32_t ranks) {
    TraceBytes file(0, ranks);
    file.put<std::uint32_t>(8, 2);
    const auto append = [&file](std::initializer_list<unsigned> bytes) {
        for (const unsigned byte : bytes) {
            file.bytes().push_back(static_cast<std::byte>(byte));
        }
    };
    for (std::size_t i = 0; i < records; ++i) {
        append({3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
    }
    append({3, 0, 0, 0, 0, 49, 0, words & 0xff, words >> 8 & 0xff, words >> 16 & 0xff, words >> 24});
    file.bytes().resize(file.bytes().size() + (words + 1) / 2);
    return packed_refusal(file);
}

TEST(PackedRecords, OfMoreWordsThanTheRankCanHaveAreRefusedHoweverLargeTheFile) {
    EXPECT_EQ(with_empty_words(1 << 26, 0, 1), "rank0: byte 256: expected 65556 words at most, found 67108864")
        << "a file of 32 MiB would take 512 MiB of memory";
    EXPECT_EQ(with_empty_words(65556, 0, 1), "read 1");
    EXPECT_EQ(with_empty_words(65557 + 16 * 999, 0, 1000),
              "rank0: byte 256: expected 81540 words at most, found 81541");
    EXPECT_EQ(with_empty_words(65556 + 16 * 999, 0, 1000), "read 1") << "lists have counts for each rank";
    EXPECT_EQ(with_empty_words(65556 + 4 * 100, 100, 1), "read 101") << "a wait ends what many calls started";
}

TEST(PackedRecords, WithAnyByteChangedAreReadOrRefused) {
    const TraceBytes whole = packed(repeating_calls(3, 40));
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        TraceBytes file = whole;
        std::vector<std::byte>& bytes = file.bytes();
        for (int changed = 0; changed < 3; ++changed) {
            bytes[256 + random() % (bytes.size() - 256)] = static_cast<std::byte>(random());
        }
        EXPECT_FALSE(packed_refusal(file).empty());
    }
}

}  // namespace
}  // namespace idlewave::trace
