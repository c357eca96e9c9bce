#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "base/huge_memory.hpp"
#include "base/time.hpp"
#include "pdes/chunks.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// What is needed to roll back the execution of an LP in one cell. Behind the record in memory lie the LP's state
/// before, the events that it executed, the events that it sent, their payloads, the model's undo data, and the records
/// that it emitted.
struct alignas(16) UndoRecord {
    UndoRecord* before = nullptr;   ///< of the same LP; may only be read if its cell is not committed
    std::int64_t cell_before = -1;  ///< the cell of `before`
    std::int64_t cell = 0;
    std::uint32_t lp = 0;  ///< index in the partition
    std::uint32_t events = 0;
    std::uint32_t sends = 0;
    std::uint32_t payload_bytes = 0;  ///< of the events that it sent, for lazy cancellation
    std::uint32_t undo_bytes = 0;     ///< written by a model that undoes itself
    std::uint32_t emitted_bytes = 0;  ///< emitted records, which are passed on at commit
    std::uint32_t sequence = 0;       ///< of the LP, before
    std::uint32_t timer = 0;
    std::uint32_t count = 0;  ///< events, as the worker counts them
    std::uint32_t state_bytes = 0;
    bool rolled_back = false;

    [[nodiscard]] std::byte* state() { return reinterpret_cast<std::byte*>(this + 1); }
    [[nodiscard]] std::span<QueuedEvent> executed() {
        return {reinterpret_cast<QueuedEvent*>(state() + state_bytes), events};
    }
    [[nodiscard]] std::span<SentEvent> sent() {
        return {reinterpret_cast<SentEvent*>(state() + state_bytes + events * sizeof(QueuedEvent)), sends};
    }
    /// The payloads of the pooled events that it sent.
    [[nodiscard]] std::span<std::byte> payloads() { return {at(fixed_bytes()), payload_bytes}; }
    [[nodiscard]] std::span<std::byte> undo_data() { return {at(fixed_bytes() + padded(payload_bytes)), undo_bytes}; }
    [[nodiscard]] std::span<std::byte> emitted() {
        return {at(fixed_bytes() + padded(payload_bytes) + padded(undo_bytes)), emitted_bytes};
    }
    [[nodiscard]] std::size_t bytes() const {
        return fixed_bytes() + padded(payload_bytes) + padded(undo_bytes) + padded(emitted_bytes);
    }
    [[nodiscard]] static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

  private:
    [[nodiscard]] std::byte* at(std::size_t offset) { return reinterpret_cast<std::byte*>(this) + offset; }
    [[nodiscard]] std::size_t fixed_bytes() const {
        return sizeof(UndoRecord) + state_bytes + events * sizeof(QueuedEvent) + sends * sizeof(SentEvent);
    }
};
static_assert(sizeof(UndoRecord) % 16 == 0 && sizeof(QueuedEvent) == 16 && sizeof(SentEvent) == 16);

/// The undo records of a partition in the order of execution, in chunks that are reused once all their records are
/// committed (fossil collection).
class UndoRecords {
  public:
    /// `chunk_bytes`: size of a chunk, and so the granularity of fossil collection.
    explicit UndoRecords(std::size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

    /// Room for a record of `bytes` at the end of the log. The record counts once it is closed.
    [[gnu::always_inline]] UndoRecord* open(std::size_t bytes) {
        if (chunks_.empty() || chunks_.back().capacity - chunks_.back().used < bytes) {
            add_chunk(bytes);
        }
        return reinterpret_cast<UndoRecord*>(chunks_.back().memory.get() + chunks_.back().used);
    }

    /// Enlarges the open record to `bytes`; the `written` bytes move along.
    UndoRecord* reopen(UndoRecord* record, std::size_t written, std::size_t bytes) {
        if (chunks_.back().capacity - chunks_.back().used >= bytes) {
            return record;
        }
        add_chunk(bytes);
        std::byte* memory = chunks_.back().memory.get();
        std::memcpy(memory, record, written);
        return reinterpret_cast<UndoRecord*>(memory);
    }

    void close(const UndoRecord* record) {
        Chunk& chunk = chunks_.back();
        chunk.used += record->bytes();
        chunk.newest = std::max(chunk.newest, record->cell);
    }

    /// Fossil collection: passes to `commit` all records of chunks that lie before `cell` as a whole, and frees these
    /// chunks.
    template <class Commit>
    void commit_before(std::int64_t cell, Commit commit) {
        while (!chunks_.empty() && chunks_.front().newest < cell) {
            Chunk& chunk = chunks_.front();
            for (std::size_t at = 0; at < chunk.used;) {
                auto* record = reinterpret_cast<UndoRecord*>(chunk.memory.get() + at);
                at += record->bytes();
                if (!record->rolled_back) {
                    commit(*record);
                }
            }
            chunk.used = 0;
            chunk.newest = -1;
            if (chunk.capacity == chunk_bytes_) {
                spare_.push_back(std::move(chunk));
            } else {
                bytes_ -= chunk.capacity;
            }
            chunks_.pop_front();
        }
    }

    [[nodiscard]] bool empty() const { return chunks_.empty(); }
    /// Memory of records that are not committed.
    [[nodiscard]] std::size_t bytes_in_use() const { return chunks_.size() * chunk_bytes_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
    struct Chunk {
        HugeMemory memory;
        std::size_t capacity = 0;
        std::size_t used = 0;
        std::int64_t newest = -1;  ///< the last cell of its records
    };

    void add_chunk(std::size_t bytes) {
        if (bytes <= chunk_bytes_ && !spare_.empty()) {
            chunks_.push_back(std::move(spare_.back()));
            spare_.pop_back();
            return;
        }
        const std::size_t capacity = std::max(bytes, chunk_bytes_);
        chunks_.push_back({huge_memory(capacity), capacity, 0, -1});
        bytes_ += capacity;
    }

    std::size_t chunk_bytes_;
    std::deque<Chunk> chunks_;
    std::vector<Chunk> spare_;
    std::size_t bytes_ = 0;
};

}  // namespace idlewave::pdes
