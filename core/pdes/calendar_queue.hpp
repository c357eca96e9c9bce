#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/huge_memory.hpp"
#include "base/time.hpp"
#include "pdes/chunks.hpp"
#include "pdes/event.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/overflow_queue.hpp"

namespace idlewave::pdes {

/// How time is divided into cells and LPs into blocks. All threads of a run use the same grid.
struct Grid {
    static constexpr std::int64_t row = 64;        ///< cells
    static constexpr std::int64_t near = 2 * row;  ///< cells with buckets: the present row and the next
    static constexpr unsigned largest_block_shift = 12;

    unsigned cell_shift = 0;        ///< a cell is 2^cell_shift ticks wide
    std::int64_t window_cells = 1;  ///< cells that the lookahead covers
    unsigned block_shift = 12;      ///< a block is 2^block_shift LPs
    std::uint32_t blocks = 1;
    std::uint32_t cell_mask = 0;   ///< the bits of a time that are its offset in its cell
    std::uint32_t block_mask = 0;  ///< the bits of an LP's number that are its index in its block

    /// The grid of a run with this lookahead > 0, whose LPs `threads` share.
    Grid(Time lookahead, std::uint32_t lps, std::uint32_t threads) {
        // A window has several cells, so that it can begin close to its first event.
        constexpr unsigned cells = 4;
        cell_shift = shift_of(lookahead / cells);
        window_cells = std::min<std::int64_t>(2 * cells, lookahead >> cell_shift);
        // A block fits into the second-level cache, and each thread has several.
        constexpr unsigned smallest = 4;
        const std::uint32_t share = lps / (8 * threads) + 1;
        cut_into_blocks(lps, threads == 1 ? largest_block_shift
                                          : std::clamp(static_cast<unsigned>(std::bit_width(share)), smallest,
                                                       largest_block_shift));
    }

    /// The grid of a partition: cells at most `cell` > 0 long, each of them a window.
    Grid(Time cell, std::uint32_t lps) : cell_shift(shift_of(cell)) {
        cut_into_blocks(lps, std::min(largest_block_shift, static_cast<unsigned>(std::bit_width(lps))));
    }

    /// The same cells and blocks for another number of LPs.
    void cover(std::uint32_t lps) { cut_into_blocks(lps, block_shift); }

    /// The first cell of the row after that of `cell`.
    [[nodiscard]] static std::int64_t end_of_row(std::int64_t cell) { return (cell | (row - 1)) + 1; }
    /// The end of a window that begins with the cell `first`: it does not reach beyond the row.
    [[nodiscard]] std::int64_t end_of_window(std::int64_t first) const {
        return std::min(first + window_cells, end_of_row(first));
    }
    [[nodiscard]] std::uint32_t block_size() const { return 1U << block_shift; }
    [[nodiscard]] std::uint16_t in_block(std::uint32_t lp) const { return static_cast<std::uint16_t>(lp & block_mask); }
    [[nodiscard]] std::int64_t cell_of(Time time) const { return time >> cell_shift; }
    [[nodiscard]] std::uint32_t in_cell(Time time) const { return static_cast<std::uint32_t>(time) & cell_mask; }
    [[nodiscard]] Time begin_of(std::int64_t cell) const {
        return cell > (never >> cell_shift) ? never : cell << cell_shift;
    }

  private:
    /// The largest power of two that is at most `width`, and fits into offsets of 32 bits.
    [[nodiscard]] static unsigned shift_of(Time width) {
        constexpr unsigned widest = 28;
        const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(width)));
        return std::min(widest, bits > 0 ? bits - 1 : 0);
    }

    void cut_into_blocks(std::uint32_t lps, unsigned shift) {
        block_shift = shift;
        blocks = static_cast<std::uint32_t>((std::uint64_t{lps} + block_size() - 1) >> block_shift);
        cell_mask = (1U << cell_shift) - 1;
        block_mask = block_size() - 1;
    }
};

/// Some cells of one row.
class CellSet {
  public:
    /// Those of the cells from `first` up to `last` whose bits are set in `row`, which has a bit for each cell.
    CellSet(std::uint64_t row, std::int64_t first, std::int64_t last)
        : bits_(row & ~std::uint64_t{0} << (first - begin_of_row(first)) &
                ~std::uint64_t{0} >> (begin_of_row(first) + Grid::row - last)),
          begin_(begin_of_row(first)) {}

    [[nodiscard]] bool empty() const { return bits_ == 0; }
    [[nodiscard]] std::int64_t first() const { return begin_ + std::countr_zero(bits_); }
    /// Calls `use` with each cell, in order of time.
    template <class Use>
    void each(Use use) const {
        for (std::uint64_t left = bits_; left != 0; left &= left - 1) {
            use(begin_ + std::countr_zero(left));
        }
    }

  private:
    static_assert(Grid::row == 64, "a row has a word of bits");
    [[nodiscard]] static std::int64_t begin_of_row(std::int64_t cell) { return cell & ~(Grid::row - 1); }

    std::uint64_t bits_;
    std::int64_t begin_;  ///< the first cell of the row
};

/// A calendar queue (R. Brown: Calendar queues, CACM 31(10), 1988) of the events that one thread has sent and nobody
/// has executed. Events of the present row of cells and of the next one lie in buckets, one for each cell and block of
/// LPs; later events lie in an OverflowQueue. One thread writes; any thread may read the buckets of the open window.
class CalendarQueue {
  public:
    CalendarQueue(const Grid& grid, ChunkStore& chunks)
        : grid_(grid),
          words_((grid.blocks + 63) / 64),
          chunks_(chunks),
          ends_(static_cast<std::size_t>(Grid::near) * grid.blocks),
          occupied_(static_cast<std::size_t>(Grid::near) * words_) {}

    [[gnu::always_inline]] void push(Time time, std::uint32_t lp, std::uint32_t source, std::uint32_t sequence_or_slot,
                                     std::uint16_t code) {
        const std::int64_t cell = grid_.cell_of(time);
        if (cell >= near_end_) [[unlikely]] {
            overflow_.push({time, lp, source, {sequence_or_slot}, code}, cell / Grid::row);
            return;
        }
        append(cell, lp >> grid_.block_shift,
               {grid_.in_cell(time), source, {sequence_or_slot}, grid_.in_block(lp), code});
    }

    /// The first cell from `from` on that may have an event; `none` if there are no events. Exact for cells with
    /// buckets; of later ones it is the beginning of a row.
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    [[nodiscard]] std::int64_t first(std::int64_t from) const {
        for (std::int64_t cell = from; cell < near_end_; cell = Grid::end_of_row(cell)) {
            const CellSet cells = with_events(cell, Grid::end_of_row(cell));
            if (!cells.empty()) {
                return cells.first();
            }
        }
        const std::int64_t row = overflow_.first_row();
        return row == OverflowQueue::no_row ? none : row * Grid::row;
    }

    /// The cells from `first` up to `last`, of one row, that have events.
    [[nodiscard]] CellSet with_events(std::int64_t first, std::int64_t last) const {
        const std::uint64_t word = cells_[slot_of(first) / 64].load(std::memory_order_relaxed);
        return CellSet(word, first, last);
    }

    /// Whether the cell has buckets.
    [[nodiscard]] bool is_near(std::int64_t cell) const { return cell < near_end_; }

    /// Moves the present to `cell`, before which no event is left. Its row and the next one get buckets.
    void advance(std::int64_t cell) {
        const std::int64_t last = std::min(cell, near_end_);
        while (present_ < last) {
            const std::int64_t end = std::min(Grid::end_of_row(present_), last);
            with_events(present_, end).each([this](std::int64_t passed) { clear(passed); });
            present_ = end;
        }
        present_ = cell;
        const std::int64_t row = cell / Grid::row;
        if ((row + 2) * Grid::row <= near_end_) {
            return;
        }
        near_end_ = (row + 2) * Grid::row;
        overflow_.take_rows(row + 1, [this](const PendingEvent& event) {
            push(event.time, event.lp, event.source, event.sequence, event.code);
        });
    }

    /// Takes the first block that has events in `cell`, which must have some: the block no longer counts as having
    /// events there.
    std::uint32_t take_block(std::int64_t cell) {
        const std::size_t slot = slot_of(cell);
        std::uint64_t* const words = &occupied_[slot * words_];
        std::size_t word = 0;
        while (words[word] == 0) {
            ++word;
        }
        const auto block = static_cast<std::uint32_t>(word * 64 + std::countr_zero(words[word]));
        words[word] &= words[word] - 1;
        if (std::all_of(words + word, words + words_, [](std::uint64_t blocks) { return blocks == 0; })) {
            mark(slot, false);
        }
        return block;
    }

    /// The first cell without buckets.
    [[nodiscard]] std::int64_t near_end() const { return near_end_; }

    /// A bit for each block: whether it has events in `cell`.
    [[nodiscard]] const std::uint64_t* blocks_of(std::int64_t cell) const { return &occupied_[slot_of(cell) * words_]; }
    [[nodiscard]] bool has(std::int64_t cell) const {
        const std::size_t slot = slot_of(cell);
        return (cells_[slot / 64].load(std::memory_order_relaxed) >> (slot % 64) & 1) != 0;
    }
    /// Whether a block has events in `cell`, which has some.
    [[nodiscard]] bool has(std::int64_t cell, std::uint32_t block) const {
        return (blocks_of(cell)[block / 64] >> (block % 64) & 1) != 0;
    }
    [[nodiscard]] std::size_t words() const { return words_; }

    /// Empties a bucket: returns one past its last event, or null. Its chunks belong to the caller.
    QueuedEvent* take(std::int64_t cell, std::uint32_t block) {
        QueuedEvent*& end = ends_[slot_of(cell) * grid_.blocks + block];
        QueuedEvent* taken = end;
        end = nullptr;
        return taken;
    }

    /// Forgets that a cell has events; its buckets were taken.
    void clear(std::int64_t cell) {
        const std::size_t slot = slot_of(cell);
        if (!has(cell)) {
            return;
        }
        std::fill_n(&occupied_[slot * words_], words_, 0);
        mark(slot, false);
    }

    ChunkPool& chunks() { return chunks_; }

  private:
    /// A cell is not negative; as an unsigned number it needs no division.
    [[nodiscard]] static std::size_t slot_of(std::int64_t cell) {
        return static_cast<std::uint64_t>(cell) % Grid::near;
    }

    [[gnu::always_inline]] void append(std::int64_t cell, std::uint32_t block, const QueuedEvent& event) {
        QueuedEvent*& end = ends_[slot_of(cell) * grid_.blocks + block];
        if (Chunk::is_boundary(end)) [[unlikely]] {
            end = open(cell, block, end);
        }
        *end++ = event;
    }

    [[gnu::noinline]] QueuedEvent* open(std::int64_t cell, std::uint32_t block, QueuedEvent* end) {
        const std::size_t slot = slot_of(cell);
        Chunk* chunk = chunks_.take();
        chunk->before = end == nullptr ? nullptr : Chunk::of(end - 1);
        occupied_[slot * words_ + block / 64] |= std::uint64_t{1} << (block % 64);
        mark(slot, true);
        return chunk->events;
    }

    /// Marks whether a cell has events. Only the owner writes, so load and store need not be one atomic operation.
    void mark(std::size_t slot, bool has_events) {
        const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
        std::atomic<std::uint64_t>& word = cells_[slot / 64];
        const std::uint64_t others = word.load(std::memory_order_relaxed) & ~bit;
        word.store(has_events ? others | bit : others, std::memory_order_relaxed);
    }

    const Grid grid_;    ///< a copy close to the other members: every event reads it
    std::size_t words_;  ///< words with a bit for each block
    ChunkPool chunks_;
    HugeArray<QueuedEvent*> ends_;       ///< one past the last event of each bucket, by cell and block
    HugeArray<std::uint64_t> occupied_;  ///< a bit for each bucket that has events
    /// A bit for each cell that has events. Other threads read the bit of a cell in the open window while the owner may
    /// write another bit of the same word.
    std::array<std::atomic<std::uint64_t>, Grid::near / 64> cells_ = {};
    std::int64_t present_ = 0;            ///< no event is left before this cell
    std::int64_t near_end_ = Grid::near;  ///< the first cell without buckets
    OverflowQueue overflow_;
};

}  // namespace idlewave::pdes
