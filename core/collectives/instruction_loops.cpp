#include "collectives/instruction_loops.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace idlewave::collectives {
namespace {

/// Folds words one by one. What is folded so far is a list whose last words may still become part of a loop.
class LoopFolder {
  public:
    void add(std::uint32_t word) {
        append(word, size());
        if (!extend_loop()) {
            fold(word);
        }
    }

    std::vector<std::uint32_t> take() { return std::move(words_); }

  private:
    /// A loop that lies in no other.
    struct OuterLoop {
        std::size_t word = 0;  ///< where the loop's word is
        std::size_t length = 0;
    };

    static constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
    static constexpr std::size_t most_looked_at = 16;         ///< loops that the last words may be another execution of

    [[nodiscard]] std::size_t size() const { return words_.size(); }

    /// `start`: where the outermost loop to which the word belongs begins, or the word itself.
    void append(std::uint32_t word, std::size_t start) {
        words_.push_back(word);
        starts_.push_back(static_cast<std::uint32_t>(start));
        depths_.push_back(0);
        if (powers_.size() == words_.size()) {
            powers_.push_back(powers_.back() * odd);
        }
        hashes_.push_back(hashes_.back() * odd + (word + 1) * odd);
    }

    void shorten(std::size_t to) {
        words_.resize(to);
        starts_.resize(to);
        depths_.resize(to);
        hashes_.resize(to + 1);
        deepest_end_ = std::min(deepest_end_, to);
        while (!loops_.empty() && loops_.back().word >= to) {
            loops_.pop_back();
        }
    }

    /// A hash of `length` words from `first` on.
    [[nodiscard]] std::uint64_t hash(std::size_t first, std::size_t length) const {
        return hashes_[first + length] - hashes_[first] * powers_[length];
    }
    [[nodiscard]] bool equal(std::size_t a, std::size_t b, std::size_t length) const {
        return hash(a, length) == hash(b, length) &&
               std::equal(words_.begin() + static_cast<std::ptrdiff_t>(a),
                          words_.begin() + static_cast<std::ptrdiff_t>(a + length),
                          words_.begin() + static_cast<std::ptrdiff_t>(b));
    }

    /// If the words behind a loop are its body, they are another execution of it.
    bool extend_loop() {
        const std::size_t looked_at = std::min(loops_.size(), most_looked_at);
        for (std::size_t i = 0; i < looked_at; ++i) {
            const OuterLoop loop = loops_[loops_.size() - 1 - i];
            const std::size_t behind = loop.word + 2;
            if (size() - behind == loop.length && words_[loop.word + 1] < loop_bit - 1 &&
                equal(loop.word - loop.length, behind, loop.length)) {
                shorten(behind);
                const std::uint32_t again = words_[loop.word + 1] + 1;
                const std::size_t start = starts_.back();
                const std::uint8_t depth = depths_.back();
                words_.pop_back();
                starts_.pop_back();
                depths_.pop_back();
                hashes_.pop_back();
                append(again, start);
                depths_.back() = depth;
                return true;
            }
        }
        return false;
    }

    /// If the last words are two executions of a body that ends with `word`, they become a loop.
    void fold(std::uint32_t word) {
        const auto [known, is_new] = last_.try_emplace(word, size() - 1);
        const std::size_t before = known->second;
        known->second = size() - 1;
        if (is_new || before + 1 >= size()) {
            return;
        }
        const std::size_t length = size() - 1 - before;
        if (2 * length > size()) {
            return;
        }
        const std::size_t second = size() - length;
        const std::size_t first = second - length;
        if (deepest_end_ > first || length >= loop_bit || starts_[first] < first || starts_[second] < second ||
            !equal(first, second, length)) {
            return;
        }
        const std::uint8_t depth = *std::max_element(depths_.begin() + static_cast<std::ptrdiff_t>(first),
                                                     depths_.begin() + static_cast<std::ptrdiff_t>(second));
        shorten(second);
        while (!loops_.empty() && loops_.back().word >= first) {
            loops_.pop_back();
        }
        known->second = before;
        loops_.push_back({.word = size(), .length = length});
        append(loop_bit | static_cast<std::uint32_t>(length), first);
        append(1, first);
        std::fill(starts_.begin() + static_cast<std::ptrdiff_t>(first), starts_.end(),
                  static_cast<std::uint32_t>(first));
        std::fill(depths_.begin() + static_cast<std::ptrdiff_t>(first), depths_.end(),
                  static_cast<std::uint8_t>(depth + 1));
        if (depth + 1U == deepest_loop) {
            deepest_end_ = size();
        }
    }

    std::vector<std::uint32_t> words_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint8_t> depths_;      ///< by word, of the loops to which it belongs
    std::vector<std::uint64_t> hashes_{0};  ///< of all words before one
    std::vector<std::uint64_t> powers_{1};  ///< of `odd`
    std::size_t deepest_end_ = 0;   ///< words before it belong to no further loop: some have the deepest already
    std::vector<OuterLoop> loops_;  ///< in their order
    std::unordered_map<std::uint32_t, std::size_t> last_;  ///< by word, where it was last
};

}  // namespace

std::uint32_t next_in_loop(std::span<const std::uint32_t> words, std::uint32_t word, LoopPosition& position) {
    const std::uint32_t body = word - (words[word] & ~loop_bit);
    if (position.depth > 0) {
        LoopPosition::Loop& inner = position.loops[position.depth - 1];
        if (inner.word == word) {
            if (inner.left == 0) {
                --position.depth;
                return word + 2;
            }
            --inner.left;
            return body;
        }
    }
    position.loops[position.depth++] = {.word = word, .left = words[word + 1] - 1};
    return body;
}

std::vector<std::uint32_t> fold_loops(std::span<const std::uint32_t> words) {
    LoopFolder folder;
    std::ranges::for_each(words, [&folder](std::uint32_t word) { folder.add(word); });
    return folder.take();
}

}  // namespace idlewave::collectives
