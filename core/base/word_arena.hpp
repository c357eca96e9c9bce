#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace idlewave {

/// Keeps pieces of memory that stay where they are. It grows by whole chunks, so that nothing is copied and no more
/// than one chunk is unused.
class WordArena {
  public:
    WordArena() = default;
    WordArena(const WordArena&) = delete;
    WordArena& operator=(const WordArena&) = delete;
    WordArena(WordArena&&) = default;
    WordArena& operator=(WordArena&&) = default;
    ~WordArena() = default;

    /// Room for `words` words, uninitialised, which lives as long as the arena.
    std::span<std::uint64_t> take(std::uint64_t words) {
        if (words > left_) {
            left_ = std::max(words, chunk);
            chunks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(left_));
            next_ = chunks_.back().get();
            taken_ += left_;
        }
        const std::span<std::uint64_t> room(next_, words);
        next_ += words;
        left_ -= words;
        return room;
    }

    [[nodiscard]] std::uint64_t bytes() const { return 8 * taken_; }

  private:
    static constexpr std::uint64_t chunk = std::uint64_t{1} << 17;  // 1 MiB

    std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
    std::uint64_t* next_ = nullptr;
    std::uint64_t left_ = 0;
    std::uint64_t taken_ = 0;
};

}  // namespace idlewave
