#include "pdes/process_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pdes/calendar_queue.hpp"
#include "pdes/placement.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using Memory = pdes::ProcessMemory<testing::SmallWindows>;

TEST(ProcessMemory, EachLpOfTheProcessHasASlotOfItsOwn) {
    for (const auto& placement : {pdes::Placement::block(1000, 4), pdes::Placement::cyclic(1000, 4)}) {
        const Memory memory(placement, 100, 1, 2, false);
        std::vector<bool> taken(memory.layout().slots());
        std::uint32_t lps = 0;
        for (const std::uint32_t thread : {0U, 1U}) {
            memory.each_lp(thread, [&](std::uint32_t slot, std::uint32_t lp) {
                std::uint32_t found = 0;
                ASSERT_TRUE(memory.find_slot(lp, found));
                ASSERT_EQ(found, slot);
                ASSERT_FALSE(taken[slot]);
                ASSERT_EQ(placement.of(lp).partition, 1 + thread);
                taken[slot] = true;
                ++lps;
            });
        }
        EXPECT_EQ(lps, 500U);
        for (const std::uint32_t partition : {0U, 3U}) {
            std::uint32_t slot = 0;
            EXPECT_FALSE(memory.find_slot(placement.lp_of(partition, 0), slot));
        }
    }
}

TEST(ProcessMemory, ThreadsThatOwnBlocksInTurnVisitEachLpOnce) {
    const auto placement = pdes::Placement::block(1000, 3);
    const Memory memory(placement, 100, 0, 3, true);
    std::vector<std::uint32_t> visits(1000);
    for (const std::uint32_t thread : {0U, 1U, 2U}) {
        memory.each_lp(thread, [&](std::uint32_t slot, std::uint32_t lp) {
            ASSERT_LT(lp, 1000U);
            EXPECT_EQ(memory.layout().slot_of(lp), slot);
            EXPECT_TRUE(memory.layout().owns(thread, lp));
            ++visits[lp];
        });
    }
    EXPECT_EQ(visits, std::vector<std::uint32_t>(1000, 1));
}

TEST(ProcessMemory, FindsTheEarliestEventOfAllCalendars) {
    const auto placement = pdes::Placement::block(1000, 2);
    Memory memory(placement, 100, 0, 2, true);
    pdes::CalendarQueue one(memory.grid(), memory.chunks());
    pdes::CalendarQueue other(memory.grid(), memory.chunks());
    memory.add(one);
    memory.add(other);
    EXPECT_EQ(memory.first_cell(0), pdes::CalendarQueue::none);
    one.push(500, 3, 0, 0, 0);
    other.push(300, 999, 0, 0, 0);
    const std::int64_t cell = memory.first_cell(0);
    EXPECT_EQ(cell, memory.grid().cell_of(300));
    std::vector<std::uint32_t> blocks;
    memory.each_block_with_events(cell, cell + 1, [&](std::uint32_t block) { blocks.push_back(block); });
    EXPECT_EQ(blocks, std::vector<std::uint32_t>{999U >> memory.grid().block_shift});
}

}  // namespace
}  // namespace idlewave
