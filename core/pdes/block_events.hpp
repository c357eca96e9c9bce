#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/large_vector.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/chunks.hpp"
#include "pdes/event.hpp"
#include "pdes/exchange.hpp"

namespace idlewave::pdes {

/// The events of one block of LPs in one window, LP by LP. The sort depends on how many they are: at least a
/// quarter as many as LPs are sorted by counting, fewer by radix (half of the bits of the LP's index, then the other
/// half), and a few by insertion. The few events of one LP are put in order of time when the LP is executed.
class BlockEvents {
  public:
    explicit BlockEvents(const Grid& grid)
        : grid_(grid), begins_(grid.block_size() + 1), low_bits_(grid.block_shift / 2) {}

    /// Takes the buckets of `block` in the cells from `first` up to `last` out of all `calendars`; their chunks go to
    /// the calendar `own`. Returns how many events come from other calendars.
    std::size_t gather(std::span<CalendarQueue* const> calendars, CalendarQueue& own, std::uint32_t block,
                       std::int64_t first, std::int64_t last) {
        unsorted_.clear();
        std::size_t from_others = 0;
        for (CalendarQueue* const calendar : calendars) {
            calendar->with_events(first, last).each([&](std::int64_t cell) {
                if (calendar->has(cell, block)) {
                    const auto offset = static_cast<std::uint32_t>((cell - first) << grid_.cell_shift);
                    const std::size_t events = drain(calendar->take(cell, block), offset, own.chunks());
                    from_others += calendar == &own ? 0 : events;
                }
            });
        }
        sort();
        return from_others;
    }

    /// Takes the bucket of one cell out of one calendar.
    void gather(CalendarQueue& calendar, std::uint32_t block, std::int64_t cell) {
        unsorted_.clear();
        drain(calendar.take(cell, block), 0, calendar.chunks());
        sort();
    }

    [[nodiscard]] std::size_t size() const { return count_; }

    /// Elements behind the end that may be read: they repeat the last event, so that a loop may fetch ahead.
    static constexpr std::size_t margin = 16;

    /// The events, those of an LP one after the other and in the order in which they came to their calendar. Valid
    /// until the next gather.
    [[nodiscard]] std::span<const QueuedEvent> events() const { return {sorted_.data(), count_}; }

  private:
    static constexpr std::size_t most_to_insert = 24;  ///< events

    /// A chunk of a bucket; `offset` is where its cell begins, in ticks after the beginning of the window.
    struct ChunkSpan {
        const QueuedEvent* events;
        std::uint32_t count;
        std::uint32_t offset;
        Chunk* chunk;
    };

    /// Empties a bucket; returns how many events it had.
    std::size_t drain(QueuedEvent* end, std::uint32_t offset, ChunkPool& pool) {
        pool_ = &pool;
        std::size_t events = 0;
        const std::size_t first = unsorted_.size();
        while (end != nullptr) {
            Chunk* chunk = Chunk::of(end - 1);
            const auto count = static_cast<std::uint32_t>(end - chunk->events);
            events += count;
            unsorted_.push_back({chunk->events, count, offset, chunk});
            end = chunk->before == nullptr ? nullptr : chunk->before->events + Chunk::capacity;
        }
        std::reverse(unsorted_.begin() + static_cast<std::ptrdiff_t>(first), unsorted_.end());
        return events;
    }

    void sort() {
        count_ = 0;
        for (const ChunkSpan& chunk_span : unsorted_) {
            count_ += chunk_span.count;
        }
        if (sorted_.size() < count_ + margin) {
            sorted_.resize(count_ + count_ / 2 + margin);
        }
        if (count_ <= most_to_insert) {
            sort_by_insertion();
        } else if (count_ >= begins_.size() / 4) {
            sort_by_counting();
        } else {
            sort_by_radix();
        }
        if (count_ > 0) {
            std::fill_n(sorted_.begin() + static_cast<std::ptrdiff_t>(count_), margin, sorted_[count_ - 1]);
        }
        for (const ChunkSpan& chunk_span : unsorted_) {
            pool_->give(chunk_span.chunk);
        }
    }

    /// Passes each event to `use`, in the order in which they came.
    template <class Use>
    void each_unsorted(Use use) const {
        for (const ChunkSpan& chunk_span : unsorted_) {
            for (const QueuedEvent& event : std::span(chunk_span.events, chunk_span.count)) {
                use(event, chunk_span.offset);
            }
        }
    }

    static void store(QueuedEvent& target, const QueuedEvent& event, std::uint32_t offset) {
        target = event;
        target.offset += offset;
    }

    /// Counts become where the events of each key begin.
    static void add_up(std::span<std::uint32_t> counts) {
        std::uint32_t sum = 0;
        for (std::uint32_t& count : counts) {
            sum += std::exchange(count, sum);
        }
    }

    void sort_by_counting() {
        std::fill(begins_.begin(), begins_.end(), 0);
        each_unsorted([this](const QueuedEvent& event, std::uint32_t /*offset*/) { ++begins_[event.lp]; });
        add_up(begins_);
        each_unsorted([this](const QueuedEvent& event, std::uint32_t offset) {
            store(sorted_[begins_[event.lp]++], event, offset);
        });
    }

    void sort_by_radix() {
        const std::uint32_t mask = (1U << low_bits_) - 1;
        std::array<std::uint32_t, most_keys> low = {};
        std::array<std::uint32_t, most_keys> high = {};
        each_unsorted([&](const QueuedEvent& event, std::uint32_t /*offset*/) {
            ++low[event.lp & mask];
            ++high[event.lp >> low_bits_];
        });
        add_up(low);
        add_up(high);
        half_sorted_.resize(std::max(half_sorted_.size(), count_));
        each_unsorted([&](const QueuedEvent& event, std::uint32_t offset) {
            store(half_sorted_[low[event.lp & mask]++], event, offset);
        });
        for (const QueuedEvent& event : std::span(half_sorted_).first(count_)) {
            sorted_[high[event.lp >> low_bits_]++] = event;
        }
    }

    void sort_by_insertion() {
        QueuedEvent* const begin = sorted_.data();
        QueuedEvent* end = begin;
        each_unsorted([&](const QueuedEvent& event, std::uint32_t offset) {
            QueuedEvent* target = end++;
            for (; target != begin && event.lp < (target - 1)->lp; --target) {
                *target = *(target - 1);
            }
            store(*target, event, offset);
        });
    }

    static constexpr std::size_t most_keys = std::size_t{1}
                                             << (Grid::largest_block_shift + 1) / 2;  ///< of a radix sort

    const Grid& grid_;
    std::vector<ChunkSpan> unsorted_;
    std::vector<std::uint32_t> begins_;  ///< where the events of each LP begin
    unsigned low_bits_;                  ///< of an LP's index, by which a radix sort sorts first
    LargeVector<QueuedEvent> half_sorted_;
    LargeVector<QueuedEvent> sorted_;
    std::size_t count_ = 0;  ///< events in sorted_
    ChunkPool* pool_ = nullptr;
};

}  // namespace idlewave::pdes
