#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <vector>

#include "base/inline_vector.hpp"
#include "base/large_vector.hpp"
#include "base/slab.hpp"
#include "dice.hpp"

namespace idlewave {
namespace {

using testing::Dice;

TEST(InlineVector, HoldsWhatAStandardVectorHolds) {
    Dice dice(1);
    InlineVector<std::uint64_t, 3> ours;
    std::vector<std::uint64_t> theirs;
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t what = dice.roll(10);
        if (what < 5) {
            ours.push_back(dice.roll(1000));
            theirs.push_back(ours.back());
        } else if (what < 7 && !theirs.empty()) {
            const std::uint32_t at = dice.small(ours.size());
            ours.erase(at);
            theirs.erase(theirs.begin() + at);
        } else if (what == 7 && !theirs.empty()) {
            ours.pop_back();
            theirs.pop_back();
        } else if (what == 8 && dice.one_in(20)) {
            const std::uint32_t count = dice.small(12);
            ours.assign(count, 7);
            theirs.assign(count, 7);
        } else if (what == 9 && dice.one_in(40)) {
            ours.clear();
            theirs.clear();
        }
        ASSERT_EQ(std::vector(ours.begin(), ours.end()), theirs);
        ASSERT_EQ(ours.empty(), theirs.empty());
    }
}

TEST(InlineVector, MayBeGivenItsOwnValueWhileItGrows) {
    InlineVector<std::uint64_t, 2> values;
    values.push_back(11);
    for (int i = 0; i < 100; ++i) {
        values.push_back(values[0]);
    }
    for (const std::uint64_t value : values) {
        EXPECT_EQ(value, 11U);
    }
}

TEST(Slab, KeepsEveryValueUnderItsNumberUntilItIsRemoved) {
    Dice dice(2);
    Slab<std::uint64_t> slab;
    std::map<std::uint32_t, std::uint64_t> living;
    std::uint32_t largest = 0;
    for (std::uint64_t i = 0; i < 30'000; ++i) {
        if (living.size() < 700 && !dice.one_in(3)) {
            const std::uint32_t number = slab.add();
            slab[number] = i;
            ASSERT_NE(number, 0U) << "0 is no number";
            ASSERT_TRUE(living.emplace(number, i).second) << "the number " << number << " was still in use";
            largest = std::max(largest, number);
        } else if (!living.empty()) {
            const auto victim = std::next(living.begin(), dice.small(static_cast<std::uint32_t>(living.size())));
            ASSERT_EQ(slab[victim->first], victim->second);
            slab.remove(victim->first);
            living.erase(victim);
        }
        ASSERT_EQ(slab.empty(), living.empty());
    }
    for (const auto& [number, value] : living) {
        ASSERT_EQ(slab[number], value);
    }
    EXPECT_LT(largest, 1024U) << "numbers are used again before new ones are made";
}

TEST(Slab, KeepsItsValuesWhereTheyAreWhileItGrows) {
    Slab<std::uint64_t> slab;
    slab.prefetch(0);
    const std::uint32_t first = slab.add();
    const std::uint64_t* const address = &slab[first];
    for (std::uint64_t i = 1; i < 40'000; ++i) {
        const std::uint32_t number = slab.add();
        ASSERT_EQ(number, first + i);
        slab[number] = i;
        slab.prefetch(number);
    }
    EXPECT_EQ(&slab[first], address);
    for (std::uint32_t i = 1; i < 40'000; ++i) {
        ASSERT_EQ(slab[first + i], i);
    }
}

/// Every growth from small memory to whole huge pages, and back.
TEST(LargeVector, KeepsItsValuesWhereverTheirMemoryComesFrom) {
    constexpr std::uint64_t most = 1'000'000;
    LargeVector<std::uint64_t> values;
    for (std::uint64_t i = 0; i < most; ++i) {
        values.push_back(i * i);
    }
    for (const std::uint64_t size :
         {most, most / 2, smallest_huge_memory / sizeof(std::uint64_t) + 1, std::uint64_t{10}}) {
        values.resize(size);
        values.shrink_to_fit();
        for (std::uint64_t i = 0; i < size; ++i) {
            ASSERT_EQ(values[i], i * i) << "of " << size;
        }
    }
    EXPECT_THROW(values.reserve(std::size_t{1} << 59), std::bad_alloc) << "more than there can be";
}

TEST(HugeMemory, IsZeroAndBeginsAtALineAPageOrAHugePageByItsSize) {
    const auto begins_at = [](std::size_t bytes) -> std::uintptr_t {
        return bytes >= smallest_huge_memory ? std::uintptr_t{1} << 21 : bytes >= 4096 ? 4096 : 64;
    };
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4096}, smallest_huge_memory - 1, smallest_huge_memory, std::size_t{5'000'001}}) {
        for (const Pages pages : {Pages::huge, Pages::small}) {
            const HugeMemory memory = huge_memory(bytes, pages);
            EXPECT_TRUE(std::all_of(memory.get(), memory.get() + bytes, [](std::byte b) { return b == std::byte{0}; }));
            if (pages == Pages::huge) {
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % begins_at(bytes), 0U);
            }
        }
    }
    EXPECT_EQ(huge_memory(0), nullptr);
    EXPECT_THROW(huge_memory(~std::size_t{0}), std::bad_alloc);
}

}  // namespace
}  // namespace idlewave
