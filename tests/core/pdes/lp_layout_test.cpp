#include "pdes/lp_layout.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pdes/placement.hpp"

namespace idlewave {
namespace {

using pdes::LpLayout;
using pdes::Placement;

constexpr std::uint32_t layout_lps = 101;
constexpr unsigned block_shift = 3;

/// Each LP of the process has a slot of its own in a block that its thread owns, and blocks know how many they have.
void expect_consistent(const Placement& placement, const LpLayout& layout, std::uint32_t first, std::uint32_t threads) {
    std::vector<std::uint32_t> of_block(layout.slots() / (1U << block_shift) + 1);
    std::vector<bool> used(layout.slots());
    for (std::uint32_t lp = 0; lp < layout_lps; ++lp) {
        if (!layout.has(placement.of(lp).partition)) {
            for (std::uint32_t thread = 0; thread < threads; ++thread) {
                EXPECT_FALSE(layout.owns(thread, lp));
            }
            continue;
        }
        const std::uint32_t slot = layout.slot_of(lp);
        ASSERT_LT(slot, layout.slots());
        EXPECT_FALSE(used[slot]) << "LP " << lp;
        used[slot] = true;
        EXPECT_EQ(layout.lp_of(slot), lp);
        const std::uint32_t owner = layout.owner_of(slot >> block_shift);
        EXPECT_LT(owner, threads);
        for (std::uint32_t thread = 0; thread < threads; ++thread) {
            EXPECT_EQ(layout.owns(thread, lp), thread == owner);
        }
        if (!layout.round_robin()) {
            EXPECT_EQ(first + owner, placement.of(lp).partition);
        }
        ++of_block[slot >> block_shift];
    }
    for (std::uint32_t block = 0; block << block_shift < layout.slots(); ++block) {
        EXPECT_EQ(layout.lps_of(block), of_block[block]) << "block " << block;
    }
}

TEST(LpLayout, ThreadsOwnBlocksInTurnOnOneProcess) {
    for (const std::uint32_t threads : {1U, 2U, 5U}) {
        const Placement placement = Placement::block(layout_lps, threads);
        const LpLayout layout(placement, 0, threads, block_shift, true);
        EXPECT_EQ(layout.slots(), layout_lps);
        expect_consistent(placement, layout, 0, threads);
        for (std::uint32_t block = 0; block << block_shift < layout_lps; ++block) {
            EXPECT_EQ(layout.owner_of(block), block % threads);
        }
    }
}

TEST(LpLayout, ThePartitionsOfAProcessLieEachInBlocksOfTheirOwn) {
    for (const std::uint32_t partitions : {1U, 2U, 6U}) {
        for (const Placement& placement :
             {Placement::block(layout_lps, partitions), Placement::cyclic(layout_lps, partitions)}) {
            for (const std::uint32_t threads : {1U, 2U}) {
                for (std::uint32_t first = 0; first + threads <= partitions; first += threads) {
                    expect_consistent(placement, LpLayout(placement, first, threads, block_shift, false), first,
                                      threads);
                }
            }
        }
    }
}

}  // namespace
}  // namespace idlewave
