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

/// The events of one block of LPs in one window, LP by LP. Many events are sorted by LP with a counting sort. The few
/// events of one LP are put in order of time when the LP is executed.
class BlockEvents {
  public:
    explicit BlockEvents(const Grid& grid) : grid_(grid), begins_(grid.block_size() + 1) {}

    /// Takes the buckets of `block` in the cells from `first` up to `last` out of all `calendars`, those of cell
    /// `first` first; their chunks go to the calendar `own`. Returns how many events come from other calendars.
    std::size_t gather(std::span<CalendarQueue* const> calendars, std::size_t own, std::uint32_t block,
                       std::int64_t first, std::int64_t last) {
        unsorted_.clear();
        std::size_t from_others = 0;
        ChunkPool& pool = calendars[own]->chunks();
        for (std::int64_t cell = first; cell < last; ++cell) {
            for (std::size_t i = 0; i < calendars.size(); ++i) {
                if (calendars[i]->has(cell)) {
                    const std::size_t events =
                        drain(calendars[i]->take(cell, block),
                              static_cast<std::uint32_t>((cell - first) << grid_.cell_shift), pool);
                    from_others += i == own ? 0 : events;
                }
            }
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

    /// Elements behind the end that may be read: they repeat the last event, so that a loop may look ahead.
    static constexpr std::size_t margin = 16;

    /// The events, those of an LP one after the other and in the order in which they came to their calendar. Valid
    /// until the next gather.
    [[nodiscard]] std::span<const QueuedEvent> events() const { return {sorted_.data(), count_}; }

  private:
    static constexpr std::size_t fewest_to_count = 192;  ///< events; of a small block fewer suffice

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
        if (count_ >= std::min(fewest_to_count, begins_.size() / 4)) {
            sort_by_counting();
        } else {
            sort_by_comparing();
        }
        if (count_ > 0) {
            std::fill_n(sorted_.begin() + static_cast<std::ptrdiff_t>(count_), margin, sorted_[count_ - 1]);
        }
        for (const ChunkSpan& chunk_span : unsorted_) {
            pool_->give(chunk_span.chunk);
        }
    }

    void sort_by_counting() {
        std::fill(begins_.begin(), begins_.end(), 0);
        for (const ChunkSpan& chunk_span : unsorted_) {
            for (const QueuedEvent& event : std::span(chunk_span.events, chunk_span.count)) {
                ++begins_[event.lp];
            }
        }
        std::uint32_t sum = 0;
        for (std::uint32_t& begin : begins_) {
            sum += std::exchange(begin, sum);
        }
        for (const ChunkSpan& chunk_span : unsorted_) {
            for (const QueuedEvent& event : std::span(chunk_span.events, chunk_span.count)) {
                QueuedEvent& target = sorted_[begins_[event.lp]++];
                target = event;
                target.offset += chunk_span.offset;
            }
        }
    }

    void sort_by_comparing() {
        auto target = sorted_.begin();
        for (const ChunkSpan& chunk_span : unsorted_) {
            for (const QueuedEvent& event : std::span(chunk_span.events, chunk_span.count)) {
                *target = event;
                target->offset += chunk_span.offset;
                ++target;
            }
        }
        if (count_ > 1) {
            std::stable_sort(sorted_.begin(), target,
                             [](const QueuedEvent& a, const QueuedEvent& b) { return a.lp < b.lp; });
        }
    }

    const Grid& grid_;
    std::vector<ChunkSpan> unsorted_;
    std::vector<std::uint32_t> begins_;  ///< where the events of each LP begin
    LargeVector<QueuedEvent> sorted_;
    std::size_t count_ = 0;  ///< events in sorted_
    ChunkPool* pool_ = nullptr;
};

}  // namespace idlewave::pdes
