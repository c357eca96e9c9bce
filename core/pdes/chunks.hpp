#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/huge_memory.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// A part of a bucket: a link to the chunk that was filled before, and events. It is aligned to its size, so an
/// event's address gives its chunk.
struct alignas(4096) Chunk {
    static constexpr std::size_t bytes = 4096;
    static constexpr std::size_t capacity = bytes / sizeof(QueuedEvent) - 1;

    Chunk* before = nullptr;
    std::uint64_t unused = 0;
    QueuedEvent events[capacity];

    [[nodiscard]] static Chunk* of(QueuedEvent* last) {
        auto* address = reinterpret_cast<std::byte*>(last);
        return reinterpret_cast<Chunk*>(address - (reinterpret_cast<std::uintptr_t>(address) & (bytes - 1)));
    }
    [[nodiscard]] static bool is_boundary(const QueuedEvent* end) {
        return (reinterpret_cast<std::uintptr_t>(end) & (bytes - 1)) == 0;
    }
};
static_assert(sizeof(Chunk) == Chunk::bytes);

/// The chunks of all threads: slabs of new ones, and lists that threads have returned.
class ChunkStore {
  public:
    /// A list of chunks, linked by `before`; never empty.
    Chunk* take() {
        const std::lock_guard lock(mutex_);
        if (!left_over_.empty()) {
            Chunk* list = left_over_.back();
            left_over_.pop_back();
            return list;
        }
        return new_slab();
    }

    void give(Chunk* list) {
        const std::lock_guard lock(mutex_);
        left_over_.push_back(list);
    }

  private:
    static constexpr std::size_t smallest_slab = std::size_t{1} << 17;
    static constexpr std::size_t largest_slab = std::size_t{1} << 21;

    /// Each slab is twice as large as the one before, up to a huge page: few events do not need a whole one.
    Chunk* new_slab() {
        const std::size_t slab_bytes = std::min(largest_slab, smallest_slab << std::min(slabs_.size(), std::size_t{4}));
        HugeMemory memory = huge_memory(slab_bytes);
        auto* chunks = reinterpret_cast<Chunk*>(memory.get());
        Chunk* list = nullptr;
        for (std::size_t i = slab_bytes / sizeof(Chunk); i-- > 0;) {
            chunks[i].before = list;
            list = &chunks[i];
        }
        slabs_.push_back(std::move(memory));
        return list;
    }

    std::mutex mutex_;
    std::vector<HugeMemory> slabs_;
    std::vector<Chunk*> left_over_;
};

/// The unused chunks of a thread.
class ChunkPool {
  public:
    explicit ChunkPool(ChunkStore& store) : store_(store) {}

    Chunk* take() {
        if (first_ == nullptr) {
            first_ = store_.take();
            count_ = 0;
            for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->before) {
                ++count_;
            }
        }
        Chunk* chunk = first_;
        first_ = chunk->before;
        --count_;
        return chunk;
    }

    void give(Chunk* chunk) {
        chunk->before = first_;
        first_ = chunk;
        if (++count_ >= most) {
            give_away();
        }
    }

  private:
    static constexpr std::size_t most = 4096;

    /// A thread that receives more than it sends collects chunks: it returns half of them to the store.
    void give_away() {
        Chunk* list = first_;
        Chunk* last = list;
        for (std::size_t i = 1; i < most / 2; ++i) {
            last = last->before;
        }
        first_ = last->before;
        last->before = nullptr;
        count_ -= most / 2;
        store_.give(list);
    }

    ChunkStore& store_;
    Chunk* first_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace idlewave::pdes
