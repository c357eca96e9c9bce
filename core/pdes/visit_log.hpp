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
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// An event that an LP has sent, as it has to be known to take it back, or to tell whether another is the same. The
/// first of a visit has the visit's sequence, each other one more.
struct Sent {
    Time time = 0;
    std::uint32_t destination = 0;
    std::uint32_t code = 0;  ///< as Stored

    bool operator==(const Sent&) const = default;
};

/// What it takes to undo what an LP did in one cell: behind it in memory lie the LP's state as it was, what the LP was
/// told, and what it sent.
struct alignas(16) Visit {
    Visit* before = nullptr;        ///< of the same LP; only to be read if its cell is not committed
    std::int64_t cell_before = -1;  ///< the cell of that
    std::int64_t cell = 0;
    std::uint32_t lp = 0;  ///< by its place in the partition
    std::uint32_t events = 0;
    std::uint32_t sends = 0;
    std::uint32_t payload_bytes = 0;  ///< of what it sent, if that is kept
    std::uint32_t journal_bytes = 0;  ///< what a model wrote down instead of its state
    std::uint32_t emitted_bytes = 0;  ///< what is put out when the visit is committed
    std::uint32_t sequence = 0;       ///< the LP's, before
    std::uint32_t timer = 0;
    std::uint32_t counted = 0;  ///< by the worker, while it was made
    std::uint32_t state_bytes = 0;
    bool undone = false;

    [[nodiscard]] std::byte* state() { return reinterpret_cast<std::byte*>(this + 1); }
    [[nodiscard]] std::span<Stored> told() { return {reinterpret_cast<Stored*>(state() + state_bytes), events}; }
    [[nodiscard]] std::span<Sent> sent() {
        return {reinterpret_cast<Sent*>(state() + state_bytes + events * sizeof(Stored)), sends};
    }
    /// The payloads of what it sent, of those that have one.
    [[nodiscard]] std::span<std::byte> payloads() { return {at(fixed_bytes()), payload_bytes}; }
    [[nodiscard]] std::span<std::byte> journal() { return {at(fixed_bytes() + padded(payload_bytes)), journal_bytes}; }
    [[nodiscard]] std::span<std::byte> emitted() {
        return {at(fixed_bytes() + padded(payload_bytes) + padded(journal_bytes)), emitted_bytes};
    }
    [[nodiscard]] std::size_t bytes() const {
        return fixed_bytes() + padded(payload_bytes) + padded(journal_bytes) + padded(emitted_bytes);
    }
    [[nodiscard]] static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

  private:
    [[nodiscard]] std::byte* at(std::size_t offset) { return reinterpret_cast<std::byte*>(this) + offset; }
    [[nodiscard]] std::size_t fixed_bytes() const {
        return sizeof(Visit) + state_bytes + events * sizeof(Stored) + sends * sizeof(Sent);
    }
};
static_assert(sizeof(Visit) % 16 == 0 && sizeof(Stored) == 16 && sizeof(Sent) == 16);

/// A partition's visits in the order in which they were made, in chunks that are used again once all in them is
/// committed.
class VisitLog {
  public:
    /// `chunk_bytes`: of how much memory at least one hears only when all of it can be used again.
    explicit VisitLog(std::size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

    /// Room for a visit of `bytes`, at the end; it is there once it is `closed`.
    Visit* open(std::size_t bytes) {
        if (chunks_.empty() || chunks_.back().capacity - chunks_.back().used < bytes) {
            add_chunk(bytes);
        }
        return reinterpret_cast<Visit*>(chunks_.back().memory.get() + chunks_.back().used);
    }

    /// The same for a visit that turns out to be larger: what is written of it, `written` bytes, moves along.
    Visit* reopen(Visit* visit, std::size_t written, std::size_t bytes) {
        if (chunks_.back().capacity - chunks_.back().used >= bytes) {
            return visit;
        }
        add_chunk(bytes);
        std::byte* memory = chunks_.back().memory.get();
        std::memcpy(memory, visit, written);
        return reinterpret_cast<Visit*>(memory);
    }

    void close(const Visit* visit) {
        Chunk& chunk = chunks_.back();
        chunk.used += visit->bytes();
        chunk.newest = std::max(chunk.newest, visit->cell);
    }

    /// Shows to `commit` all visits before `cell` that lie in chunks of which all are, and forgets them.
    template <class Commit>
    void commit_before(std::int64_t cell, Commit commit) {
        while (!chunks_.empty() && chunks_.front().newest < cell) {
            Chunk& chunk = chunks_.front();
            for (std::size_t at = 0; at < chunk.used;) {
                auto* visit = reinterpret_cast<Visit*>(chunk.memory.get() + at);
                at += visit->bytes();
                if (!visit->undone) {
                    commit(*visit);
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
    /// How much memory holds visits that are not committed.
    [[nodiscard]] std::size_t bytes_in_use() const { return chunks_.size() * chunk_bytes_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
    struct Chunk {
        HugeMemory memory;
        std::size_t capacity = 0;
        std::size_t used = 0;
        std::int64_t newest = -1;  ///< the last cell of a visit in it
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
