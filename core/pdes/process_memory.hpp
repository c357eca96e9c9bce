#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/chunks.hpp"
#include "pdes/lp_layout.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/payload_store.hpp"
#include "pdes/placement.hpp"

namespace idlewave::pdes {

/// What the threads of a process share under the conservative scheduler: the LPs, the slot of each, and the memory of
/// pending events, which each thread writes to a calendar of its own.
template <WindowModel M>
class ProcessMemory {
  public:
    using State = typename M::State;

    /// The partitions of this process are the `threads` ones from `first` on. `round_robin`: the threads may own blocks
    /// of LPs in turn, instead of the LPs that the placement gives them.
    ProcessMemory(const Placement& placement, Time window, std::uint32_t first, std::uint32_t threads, bool round_robin)
        : placement_(placement),
          grid_(window, lps_of(placement, first, threads), threads),
          layout_(placement, first, threads, grid_.block_shift, round_robin),
          lps_(std::make_unique<Lps<State>>(layout_.slots())) {
        grid_.cover(layout_.slots());
    }

    [[nodiscard]] const Placement& placement() const { return placement_; }
    [[nodiscard]] const Grid& grid() const { return grid_; }
    [[nodiscard]] const LpLayout& layout() const { return layout_; }
    [[nodiscard]] Lps<State>& lps() { return *lps_; }
    [[nodiscard]] const Lps<State>& lps() const { return *lps_; }
    [[nodiscard]] std::unique_ptr<Lps<State>> take_lps() { return std::move(lps_); }
    [[nodiscard]] ChunkStore& chunks() { return chunks_; }
    [[nodiscard]] PayloadStore<typename M::Payload>& payloads() { return payloads_; }

    void add(CalendarQueue& calendar) { calendars_.push_back(&calendar); }
    /// The calendars of all threads, by thread.
    [[nodiscard]] std::span<CalendarQueue* const> calendars() const { return calendars_; }

    /// Sets the slot of an LP of this process; returns whether it is one.
    [[gnu::always_inline]] bool find_slot(std::uint32_t lp, std::uint32_t& slot) const {
        const Placement::Position position = placement_.of(lp);
        if (!layout_.has(position.partition)) [[unlikely]] {
            return false;
        }
        slot = layout_.slot_of(position);
        return true;
    }

    /// Calls `use` with the slot and the number of each LP of a thread.
    template <class Use>
    void each_lp(std::uint32_t thread, Use use) const {
        const bool round_robin = layout_.round_robin();
        for (std::uint32_t block = 0; block < grid_.blocks; ++block) {
            if (layout_.owner_of(block) == thread) {
                const std::uint32_t first = block << grid_.block_shift;
                const std::uint32_t end = first + layout_.lps_of(block);
                for (std::uint32_t slot = first; slot < end; ++slot) {
                    use(slot, round_robin ? slot : layout_.lp_of(slot));
                }
            }
        }
    }

    /// Calls `use` with each block that has events in the cells from `first` up to `last`, of one row, in any calendar.
    template <class Use>
    void each_block_with_events(std::int64_t first, std::int64_t last, Use use) const {
        for (std::size_t word = 0; word < calendars_.front()->words(); ++word) {
            for (std::uint64_t blocks = with_events(word, first, last); blocks != 0; blocks &= blocks - 1) {
                use(static_cast<std::uint32_t>(word * 64 + std::countr_zero(blocks)));
            }
        }
    }

    /// The first cell from `from` on that may have an event, in any calendar.
    [[nodiscard]] std::int64_t first_cell(std::int64_t from) const {
        std::int64_t first = CalendarQueue::none;
        for (const CalendarQueue* calendar : calendars_) {
            first = std::min(first, calendar->first(from));
        }
        return first;
    }

  private:
    /// A bit for each of 64 blocks: whether it has events in these cells.
    [[nodiscard]] std::uint64_t with_events(std::size_t word, std::int64_t first, std::int64_t last) const {
        std::uint64_t blocks = 0;
        for (const CalendarQueue* calendar : calendars_) {
            calendar->with_events(first, last).each([&](std::int64_t cell) {
                blocks |= calendar->blocks_of(cell)[word];
            });
        }
        return blocks;
    }

    [[nodiscard]] static std::uint32_t lps_of(const Placement& placement, std::uint32_t first, std::uint32_t threads) {
        std::uint32_t lps = 0;
        for (std::uint32_t i = 0; i < threads; ++i) {
            lps += placement.size(first + i);
        }
        return lps;
    }

    const Placement& placement_;
    Grid grid_;
    LpLayout layout_;
    std::unique_ptr<Lps<State>> lps_;
    ChunkStore chunks_;
    PayloadStore<typename M::Payload> payloads_;
    std::vector<CalendarQueue*> calendars_;
};

}  // namespace idlewave::pdes
