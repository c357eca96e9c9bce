#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <vector>

#include "base/crc32c.hpp"
#include "base/small_map.hpp"
#include "base/varint.hpp"
#include "base/word_arena.hpp"
#include "dice.hpp"

namespace idlewave {
namespace {

using testing::Dice;

std::uint32_t crc_of(std::string_view text) {
    return crc32c(std::as_bytes(std::span(text)));
}

TEST(Crc32c, IsTheOneOfIscsi) {
    EXPECT_EQ(crc_of(""), 0U);
    EXPECT_EQ(crc_of("123456789"), 0xe3069283U);
    EXPECT_EQ(crc_of(std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32)),
              0x8a9136aaU);  // RFC 3720, B.4
}

TEST(Crc32c, CanBeTakenInPieces) {
    const std::string_view text = "the quick brown fox jumps over the lazy dog";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        EXPECT_EQ(crc32c(std::as_bytes(std::span(text.substr(cut))), crc_of(text.substr(0, cut))), crc_of(text));
    }
}

TEST(Varint, GivesBackWhatWasPut) {
    for (const std::uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 16383ULL, 16384ULL, 0xffffffffULL, 0x7ffffffffULL}) {
        std::vector<std::uint8_t> bytes;
        put_varint(bytes, value);
        const std::uint8_t* at = bytes.data();
        EXPECT_EQ(take_varint(at), value);
        EXPECT_EQ(at, bytes.data() + bytes.size());
        std::uint64_t again = 0;
        at = bytes.data();
        EXPECT_TRUE(take_varint(at, bytes.data() + bytes.size(), again));
        EXPECT_EQ(again, value);
        at = bytes.data();
        EXPECT_FALSE(take_varint(at, bytes.data() + bytes.size() - 1, again)) << "cut off";
    }
    const std::vector<std::uint8_t> endless(20, 0xff);
    const std::uint8_t* at = endless.data();
    std::uint64_t value = 0;
    EXPECT_FALSE(take_varint(at, endless.data() + endless.size(), value));
}

TEST(Varint, WithItsLengthInFrontTakesAByteForSevenBitsAndGivesBackWhatWasPut) {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> values = {0, 1};
    for (unsigned bits = 1; bits < 64; ++bits) {
        values.insert(values.end(), {(std::uint64_t{1} << bits) - 1, std::uint64_t{1} << bits});
    }
    values.push_back(~std::uint64_t{0});
    std::vector<std::size_t> ends;
    for (const std::uint64_t value : values) {
        put_prefix_varint(bytes, value);
        ends.push_back(bytes.size());
    }
    bytes.resize(bytes.size() + prefix_varint_reads, 0xff);
    const std::uint8_t* at = bytes.data();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto before = static_cast<std::size_t>(at - bytes.data());
        ASSERT_EQ(take_prefix_varint(at), values[i]);
        ASSERT_EQ(at - bytes.data(), static_cast<std::ptrdiff_t>(ends[i]));
        const auto bits = std::max<std::size_t>(1, static_cast<std::size_t>(std::bit_width(values[i])));
        ASSERT_EQ(ends[i] - before, bits <= 56 ? (bits + 6) / 7 : 9) << values[i];
    }
}

TEST(Varint, ZigzagKeepsSmallNumbersSmall) {
    for (const std::int64_t value : {0L, -1L, 1L, 63L, -64L, 0xffffffffL, -0xffffffffL}) {
        EXPECT_EQ(unzigzag(zigzag(value)), value);
    }
    EXPECT_EQ(zigzag(-1), 1U);
    EXPECT_EQ(zigzag(1), 2U);
}

TEST(SmallMap, FindsWhatIsInIt) {
    Dice dice(1);
    for (int round = 0; round < 50; ++round) {
        SmallMap<std::uint64_t> map;
        std::map<std::uint32_t, std::uint64_t> expected;
        const std::uint32_t range = 1 + dice.small(300);
        for (int i = 0; i < 1000; ++i) {
            const std::uint32_t key = dice.small(range) * (round % 2 == 0 ? 1 : 0x10001);
            if (expected.erase(key) > 0) {
                map.remove(key);
            } else {
                expected[key] = dice.roll(1000);
                map.add(key, expected[key]);
            }
            const std::uint32_t other = dice.small(range);
            const auto found = expected.find(other);
            const std::uint64_t* value = map.find(other);
            ASSERT_EQ(value != nullptr, found != expected.end());
            if (value != nullptr) {
                ASSERT_EQ(*value, found->second);
            }
        }
        ASSERT_EQ(map.empty(), expected.empty());
    }
}

TEST(WordArena, LeavesPiecesWhereTheyAre) {
    WordArena arena;
    std::vector<std::span<std::uint64_t>> pieces;
    for (std::uint64_t i = 1; i < 2000; ++i) {
        pieces.push_back(arena.take(i % 500 == 0 ? 1'000'000 : i));
        pieces.back().front() = i;
        pieces.back().back() = i;
    }
    for (std::uint64_t i = 1; i < 2000; ++i) {
        ASSERT_EQ(pieces[i - 1].front(), i);
        ASSERT_EQ(pieces[i - 1].back(), i);
    }
}

}  // namespace
}  // namespace idlewave
