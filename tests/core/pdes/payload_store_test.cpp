#include "pdes/payload_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace idlewave {
namespace {

using Store = pdes::PayloadStore<std::uint64_t>;
using Pool = pdes::PayloadPool<std::uint64_t>;

TEST(PayloadStore, KeepsManyPayloadsWithTheSequencesOfTheirEvents) {
    Store store;
    Pool pool(store);
    constexpr std::uint32_t count = 3 * Store::slab_size;
    std::vector<std::uint32_t> slots;
    for (std::uint32_t i = 0; i < count; ++i) {
        slots.push_back(pool.put(i, std::uint64_t{1'000'000} + i));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(pool[slots[i]].sequence, i);
        ASSERT_EQ(pool[slots[i]].payload, std::uint64_t{1'000'000} + i);
    }
}

TEST(PayloadStore, APayloadDoesNotMoveWhenOthersCome) {
    Store store;
    Pool pool(store);
    const std::uint32_t slot = pool.put(0, std::uint64_t{7});
    const auto* first = &pool[slot];
    for (std::uint32_t i = 0; i < 4 * Store::slab_size; ++i) {
        pool.put(i, std::uint64_t{8});
    }
    EXPECT_EQ(&pool[slot], first);
    EXPECT_EQ(first->payload, 7U);
}

TEST(PayloadStore, SlotsThatTheReceiverFreesAreUsedAgainByTheSender) {
    Store store;
    Pool sender(store);
    Pool receiver(store);
    std::uint32_t highest = 0;
    for (int round = 0; round < 40; ++round) {
        std::vector<std::uint32_t> slots;
        for (std::uint32_t i = 0; i < Store::slab_size; ++i) {
            slots.push_back(sender.put(i, std::uint64_t{i}));
        }
        highest = std::max(highest, *std::max_element(slots.begin(), slots.end()));
        for (const std::uint32_t slot : slots) {
            receiver.remove(slot);
        }
    }
    EXPECT_LT(highest, 8 * Store::slab_size) << "slots were not reused";
}

}  // namespace
}  // namespace idlewave
