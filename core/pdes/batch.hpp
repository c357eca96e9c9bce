#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/large_vector.hpp"
#include "pdes/calendar.hpp"
#include "pdes/chunks.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// The events of one block of LPs in one window, LP by LP. They are ordered by counting where there are many; the
/// events of one LP are few, and are put in order when their LP's turn comes.
class Batch {
  public:
    explicit Batch(const Grid& grid) : grid_(grid), begins_(grid.block_size() + 1) {}

    /// Takes the buckets of `block` in the cells from `first` to `last` out of all `calendars`; the chunks go to
    /// `pool`.
    void gather(std::span<Calendar* const> calendars, std::uint32_t block, std::int64_t first, std::int64_t last,
                ChunkPool& pool) {
        unsorted_.clear();
        for (std::int64_t cell = first; cell < last; ++cell) {
            for (Calendar* calendar : calendars) {
                if (calendar->has(cell)) {
                    empty(calendar->take(cell, block), static_cast<std::uint32_t>((cell - first) << grid_.cell_shift),
                          pool);
                }
            }
        }
        sort();
    }

    /// The same of one cell and one calendar.
    void gather(Calendar& calendar, std::uint32_t block, std::int64_t cell) {
        unsorted_.clear();
        empty(calendar.take(cell, block), 0, calendar.chunks());
        sort();
    }

    [[nodiscard]] std::size_t size() const { return count_; }

    /// How far behind the end one may look: there the last event is repeated.
    static constexpr std::size_t margin = 16;

    /// The events, those of an LP one after the other, from one calendar in the order in which they came there; valid
    /// until the next gather.
    [[nodiscard]] std::span<const Stored> events() const { return {sorted_.data(), count_}; }

  private:
    static constexpr std::size_t fewest_to_count = 192;  ///< of large blocks

    /// What a bucket held, and where that begins in time.
    struct Piece {
        const Stored* events;
        std::uint32_t count;
        std::uint32_t offset;
        Chunk* chunk;
    };

    void empty(Stored* end, std::uint32_t offset, ChunkPool& pool) {
        pool_ = &pool;
        const std::size_t first = unsorted_.size();
        while (end != nullptr) {
            Chunk* chunk = Chunk::of(end - 1);
            const auto count = static_cast<std::uint32_t>(end - chunk->events);
            unsorted_.push_back({chunk->events, count, offset, chunk});
            end = chunk->before == nullptr ? nullptr : chunk->before->events + Chunk::capacity;
        }
        std::reverse(unsorted_.begin() + static_cast<std::ptrdiff_t>(first), unsorted_.end());
    }

    void sort() {
        count_ = 0;
        for (const Piece& piece : unsorted_) {
            count_ += piece.count;
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
        for (const Piece& piece : unsorted_) {
            pool_->give(piece.chunk);
        }
    }

    void sort_by_counting() {
        std::fill(begins_.begin(), begins_.end(), 0);
        for (const Piece& piece : unsorted_) {
            for (const Stored& event : std::span(piece.events, piece.count)) {
                ++begins_[event.lp];
            }
        }
        std::uint32_t sum = 0;
        for (std::uint32_t& begin : begins_) {
            sum += std::exchange(begin, sum);
        }
        for (const Piece& piece : unsorted_) {
            for (const Stored& event : std::span(piece.events, piece.count)) {
                Stored& place = sorted_[begins_[event.lp]++];
                place = event;
                place.offset += piece.offset;
            }
        }
    }

    void sort_by_comparing() {
        auto place = sorted_.begin();
        for (const Piece& piece : unsorted_) {
            for (const Stored& event : std::span(piece.events, piece.count)) {
                *place = event;
                place->offset += piece.offset;
                ++place;
            }
        }
        if (count_ > 1) {
            std::stable_sort(sorted_.begin(), place, [](const Stored& a, const Stored& b) { return a.lp < b.lp; });
        }
    }

    const Grid& grid_;
    std::vector<Piece> unsorted_;
    std::vector<std::uint32_t> begins_;  ///< where the events of each LP begin
    LargeVector<Stored> sorted_;
    std::size_t count_ = 0;  ///< of events in sorted_
    ChunkPool* pool_ = nullptr;
};

}  // namespace idlewave::pdes
