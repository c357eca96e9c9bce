#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "pdes/block_events.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/delivery.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_snapshot.hpp"
#include "pdes/placement.hpp"
#include "pdes/process_memory.hpp"
#include "pdes/snapshot.hpp"

namespace idlewave::pdes {

/// Which LPs of a run a thread of the conservative scheduler has, as PlacedLps; an LP's index is its slot.
template <WindowModel M>
struct LpsOfThread {
    const ProcessMemory<M>& memory;
    std::uint32_t thread;

    [[nodiscard]] std::uint32_t all() const { return memory.placement().lps(); }
    [[nodiscard]] bool has(std::uint32_t lp) const { return memory.layout().owns(thread, lp); }
    [[nodiscard]] std::uint32_t index_of(std::uint32_t lp) const { return memory.layout().slot_of(lp); }
    template <class Use>
    void each(Use use) const {
        memory.each_lp(thread, use);
    }
};

/// Moves the events of all calendars into the snapshot, sorted by the partitions of `next`; `first`: no event lies
/// before this cell. `block` and `delivery` are those of thread 0.
template <WindowModel M>
void save_calendars(const ProcessMemory<M>& memory, BlockEvents& block, const Delivery<M>& delivery, std::int64_t first,
                    const Placement& next, Snapshot& snapshot) {
    const Grid& grid = memory.grid();
    for (std::int64_t cell = memory.first_cell(first); cell != CalendarQueue::none; cell = memory.first_cell(cell)) {
        if (!memory.calendars().front()->is_near(cell)) {
            for (CalendarQueue* calendar : memory.calendars()) {
                calendar->advance(cell);
            }
            continue;
        }
        for (std::uint32_t number = 0; number < grid.blocks; ++number) {
            block.gather(memory.calendars(), *memory.calendars().front(), number, cell, cell + 1);
            for (const QueuedEvent& event : block.events()) {
                const std::uint32_t lp = memory.layout().lp_of((number << grid.block_shift) + event.lp);
                PartitionSnapshot<M>::save_queued(event, lp, grid.begin_of(cell), delivery,
                                                  snapshot.open(next.of(lp).partition));
            }
        }
        for (CalendarQueue* calendar : memory.calendars()) {
            calendar->clear(cell);
        }
    }
}

}  // namespace idlewave::pdes
