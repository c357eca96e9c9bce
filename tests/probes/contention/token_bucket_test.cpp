// What a token bucket lets through is the rate times the time, whatever the pieces are and however late the writer is.

#include "contention/token_bucket.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "contention/lines.hpp"
#include "contention/traffic.hpp"

namespace {

using namespace idlewave::probe::contention;

// Bytes in pieces of `chunk` that pass in a second to a writer that looks at the clock each `look_ns`.
double passed_in_a_second(double rate, double chunk, double depth, std::int64_t look_ns) {
    TokenBucket bucket(rate, depth, 0);
    double passed = 0;
    for (std::int64_t now = 0; now <= 1'000'000'000; now += look_ns) {
        while (bucket.has(chunk, now)) {
            bucket.take(chunk);
            passed += chunk;
        }
    }
    return passed;
}

TEST(TokenBucket, PassesTheRateInPiecesOfAnySize) {
    for (const double rate : {1e6, 1e8, 1e10}) {
        for (const double chunk : {64.0, 4096.0, 65536.0}) {
            if (chunk > rate / 100) continue;
            EXPECT_NEAR(passed_in_a_second(rate, chunk, 0.1 * rate, 5000), rate, chunk + 1e-6 * rate);
        }
    }
}

TEST(TokenBucket, LetsALateWriterCatchUpButNotMoreThanItsDepth) {
    EXPECT_NEAR(passed_in_a_second(1e8, 4096, 1e7, 50'000'000), 1e8, 4096 + 1e3);  // late by less than the depth
    EXPECT_NEAR(passed_in_a_second(1e8, 4096, 1e7, 200'000'000), 5e7, 6 * 4096);   // five looks of a tenth each
}

TEST(TokenBucket, KnowsWhenItHasEnough) {
    TokenBucket bucket(1e9, 1e6, 1000);
    EXPECT_FALSE(bucket.has(500, 1000));
    EXPECT_EQ(bucket.time_of(500), 1500);
    EXPECT_FALSE(bucket.has(500, 1499));
    EXPECT_TRUE(bucket.has(500, 1500));
}

TEST(LineOrder, ComesThroughTheWholeBufferInOrder) {
    LineOrder order(Pattern::sequential, 256, 1);
    for (const std::size_t expected : {0, 64, 128, 192, 0, 64}) EXPECT_EQ(order.next(), expected);
}

TEST(LineOrder, StaysWithinTheBufferAndReachesEachOfItsLinesInRandomOrder) {
    constexpr std::size_t lines = 37;
    LineOrder order(Pattern::random, lines * line_bytes + 10, 5);
    std::array<int, lines> met{};
    for (int i = 0; i < 3700; ++i) {
        const std::size_t at = order.next();
        ASSERT_EQ(at % line_bytes, 0u);
        ASSERT_LT(at / line_bytes, lines);
        ++met[at / line_bytes];
    }
    for (const int times : met) EXPECT_GT(times, 40);
}

TEST(Lines, AreWrittenWholeByBothKindsOfStores) {
    for (const Stores stores : {Stores::cached, Stores::nontemporal}) {
        alignas(64) std::array<char, 4 * line_bytes> buffer{};
        LineOrder order(Pattern::sequential, buffer.size(), 1);
        write_lines(buffer.data(), 2 * line_bytes, order, stores, 0x0101010101010101);
        for (std::size_t i = 0; i < buffer.size(); ++i) EXPECT_EQ(buffer[i] != 0, i < 2 * line_bytes) << i;
    }
}

TEST(Chunk, IsWholeLinesOfAFiftyThousandthOfASecondWithinItsBounds) {
    EXPECT_EQ(chunk_of(1000, 2e-5, 65536), 64u);
    EXPECT_EQ(chunk_of(1e9, 2e-5, 65536), 19968u);
    EXPECT_EQ(chunk_of(1e12, 2e-5, 65536), 65536u);
}

}  // namespace
