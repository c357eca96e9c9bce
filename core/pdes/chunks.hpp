#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/huge_memory.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// A piece of a bucket: events one after the other, behind a link to the chunk that was filled before. It is aligned to
/// its size, so an address says where in its chunk it lies.
struct alignas(4096) Chunk {
    static constexpr std::size_t bytes = 4096;
    static constexpr std::size_t capacity = bytes / sizeof(Stored) - 1;

    Chunk* before = nullptr;
    std::uint64_t unused = 0;
    Stored events[capacity];

    [[nodiscard]] static Chunk* of(Stored* last) {
        auto* address = reinterpret_cast<std::byte*>(last);
        return reinterpret_cast<Chunk*>(address - (reinterpret_cast<std::uintptr_t>(address) & (bytes - 1)));
    }
    [[nodiscard]] static bool is_boundary(const Stored* end) {
        return (reinterpret_cast<std::uintptr_t>(end) & (bytes - 1)) == 0;
    }
};
static_assert(sizeof(Chunk) == Chunk::bytes);

/// Where chunks come from, for all threads: slabs of them, and those that one thread had left over.
class ChunkStore {
  public:
    /// Chunks linked by `before`: never none.
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
    static constexpr std::size_t slab_bytes = std::size_t{1} << 21;

    Chunk* new_slab() {
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

/// A thread's chunks.
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

    /// A thread that receives more than it sends passes half of what piles up on to the others.
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
