#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_memory.hpp"

namespace idlewave {

/// An arena of 64-bit words. It grows by chunks, each as large as all chunks before it up to a few huge pages: nothing
/// is moved, and little memory is unused.
class WordArena {
  public:
    WordArena() = default;
    WordArena(const WordArena&) = delete;
    WordArena& operator=(const WordArena&) = delete;
    WordArena(WordArena&&) = default;
    WordArena& operator=(WordArena&&) = default;
    ~WordArena() = default;

    /// Memory for `words` words; it lives as long as the arena.
    std::span<std::uint64_t> take(std::uint64_t words) {
        if (words > left_) {
            const std::uint64_t chunk = std::max(words, std::clamp(allocated_, smallest_chunk, largest_chunk));
            chunks_.emplace_back(chunk);
            next_ = chunks_.back().data();
            left_ = chunk;
            allocated_ += chunk;
        }
        const std::span<std::uint64_t> room(next_, words);
        next_ += words;
        left_ -= words;
        taken_ += words;
        return room;
    }

    /// The number of bytes that `take` has returned.
    [[nodiscard]] std::uint64_t bytes() const { return 8 * taken_; }

  private:
    static constexpr std::uint64_t smallest_chunk = std::uint64_t{1} << 12;  // 32 KiB
    static constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 20;   // 8 MiB

    std::vector<HugeArray<std::uint64_t>> chunks_;
    std::uint64_t* next_ = nullptr;
    std::uint64_t left_ = 0;
    std::uint64_t allocated_ = 0;  ///< words in all chunks
    std::uint64_t taken_ = 0;
};

}  // namespace idlewave
