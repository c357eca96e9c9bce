#include "pdes/partition_snapshot.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/conservative_snapshot.hpp"
#include "pdes/delivery.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/placement.hpp"
#include "pdes/process_memory.hpp"
#include "pdes/snapshot.hpp"
#include "small_model.hpp"

namespace idlewave {
namespace {

using testing::Small;
using testing::SmallWindows;
using SavedPartition = pdes::PartitionSnapshot<SmallWindows>;
using pdes::Placement;
using pdes::QueuedEvent;
using pdes::Snapshot;

/// The parts of a partition, without a scheduler.
struct Parts {
    explicit Parts(std::uint32_t count) : lps(count) {}

    template <class Own>
    pdes::PartitionContents<SmallWindows, Own> contents(Own own) {
        return {own, worker, lps, payloads, output, restored};
    }

    Small model;
    SmallWindows windows{model};
    SmallWindows::Worker worker{windows};
    pdes::Lps<SmallWindows::State> lps;
    pdes::PayloadStore<Small::Payload> store;
    pdes::PayloadPool<Small::Payload> payloads{store};
    std::vector<pdes::NothingEmitted> output;
    std::uint32_t restored = 0;
};

/// A snapshot of ten LPs, of which LP i has sent i events, for the partitions of `next`. LP 4 has an event and a timer.
Snapshot snapshot_of(const Placement& next) {
    const auto whole = Placement::block(10, 1);
    Parts parts(10);
    for (std::uint32_t i = 0; i < 10; ++i) {
        parts.lps.make(i).sequence = i;
        parts.lps[i].state.model.value = 100 + i;
    }
    Snapshot snapshot(next.partitions());
    SavedPartition::save_lps(next, snapshot, parts.contents(pdes::PlacedLps{whole, 0}));
    const pdes::Delivery<SmallWindows> delivery(parts.windows, parts.payloads);
    const QueuedEvent event{.offset = 3,
                            .source = 8,
                            .payload_slot = parts.payloads.put(2, Small::Payload{55}),
                            .lp = 4,
                            .code = QueuedEvent::pooled};
    const QueuedEvent timer{.offset = 6, .source = QueuedEvent::timer, .sequence = 0, .lp = 4};
    SavedPartition::save_queued(event, 4, 1000, delivery, snapshot.open(next.of(4).partition));
    SavedPartition::save_queued(timer, 4, 1000, delivery, snapshot.open(next.of(4).partition));
    return snapshot;
}

using Pending = std::vector<std::tuple<std::uint32_t, Time, std::uint32_t>>;  ///< index, time, word; a timer's is 0

template <class Own>
Pending restore(const Snapshot& snapshot, std::uint32_t partition, Parts& parts, Own own) {
    Pending pending;
    SavedPartition::restore(
        snapshot.of(partition), parts.contents(own),
        [&](const pdes::PendingEvent& event) {
            EXPECT_EQ(event.source, 8U);
            EXPECT_EQ(parts.payloads[event.payload_slot].sequence, 2U);
            pending.emplace_back(event.lp, event.time, parts.payloads[event.payload_slot].payload.word);
        },
        [&](std::uint32_t index, Time time) { pending.emplace_back(index, time, 0); });
    return pending;
}

TEST(PartitionSnapshot, EachPartitionOfTheNextSegmentGetsItsLpsWithTheirEvents) {
    const auto next = Placement::cyclic(10, 3);
    const Snapshot snapshot = snapshot_of(next);
    for (std::uint32_t partition = 0; partition < 3; ++partition) {
        Parts parts(next.size(partition));
        const Pending pending = restore(snapshot, partition, parts, pdes::PlacedLps{next, partition});
        EXPECT_NO_THROW(SavedPartition::check(next.size(partition), parts.restored));
        EXPECT_EQ(pending, partition == 1 ? (Pending{{1, 1003, 55}, {1, 1006, 0}}) : Pending{});
        for (std::uint32_t i = 0; i < next.size(partition); ++i) {
            EXPECT_EQ(parts.lps[i].sequence, next.lp_of(partition, i));
            EXPECT_EQ(parts.lps[i].state.model.value, 100 + next.lp_of(partition, i));
        }
    }
}

TEST(PartitionSnapshot, AThreadOfTheConservativeSchedulerFindsItsLpsInTheirSlots) {
    const auto whole = Placement::block(10, 2);
    const Snapshot snapshot = snapshot_of(Placement::block(10, 1));
    const pdes::ProcessMemory<SmallWindows> memory(whole, 10, 0, 2, false);
    for (std::uint32_t thread : {0U, 1U}) {
        Parts parts(memory.layout().slots());
        restore(snapshot, 0, parts, pdes::LpsOfThread<SmallWindows>{memory, thread});
        EXPECT_EQ(parts.restored, 5U);
        memory.each_lp(thread, [&](std::uint32_t slot, std::uint32_t lp) {
            EXPECT_EQ(parts.lps[slot].state.model.value, 100 + lp);
        });
    }
}

TEST(PartitionSnapshot, ASnapshotOfAnotherNumberOfLpsIsRefused) {
    const Snapshot snapshot = snapshot_of(Placement::block(10, 1));
    const auto fewer = Placement::block(9, 1);
    Parts parts(9);
    EXPECT_THROW(restore(snapshot, 0, parts, pdes::PlacedLps{fewer, 0}), InputError);
    EXPECT_THROW(SavedPartition::check(11, 10), InputError);
}

TEST(PartitionSnapshot, ADamagedSectionIsRefused) {
    const auto whole = Placement::block(10, 1);
    Snapshot snapshot = snapshot_of(whole);
    Snapshot::Section& section = snapshot.of(0).front();
    for (const std::size_t bytes : {section.size() - 1, std::size_t{3}}) {
        Parts parts(10);
        section.resize(bytes);
        EXPECT_THROW(restore(snapshot, 0, parts, pdes::PlacedLps{whole, 0}), InputError);
    }
    section.assign(1, std::byte{77});
    Parts parts(10);
    EXPECT_THROW(restore(snapshot, 0, parts, pdes::PlacedLps{whole, 0}), InputError);
}

}  // namespace
}  // namespace idlewave
