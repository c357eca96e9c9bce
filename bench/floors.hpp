// What the floors share: the machine, messages under way, and how often a run is repeated.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace floors {

constexpr std::int64_t ps_per_ns = 1'000;
constexpr std::int64_t ps_per_second = 1'000'000'000'000;
constexpr std::int64_t L = 2'500'000;
constexpr std::int64_t o = 1'500'000;
constexpr std::int64_t g = 1'000'000;
constexpr std::int64_t window = o + L;
constexpr std::uint32_t block_size = 4096;

/// Messages under way, by window of the lookahead and block of ranks.
template <class Message, std::size_t windows_ahead>
class Buckets {
  public:
    explicit Buckets(std::uint32_t ranks) : blocks_((ranks + block_size - 1) / block_size) {
        for (auto& row : rows_) {
            row.resize(blocks_);
        }
    }

    [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
    [[nodiscard]] bool empty() const { return count_ == 0; }

    void push(std::int64_t time, const Message& message) {
        const auto row = static_cast<std::uint64_t>(time) / window;
        if (row >= first_ + windows_ahead) [[unlikely]] {
            std::fprintf(stderr, "a message comes more windows ahead than this loop is made for\n");
            std::exit(1);
        }
        auto& bucket = rows_[row % windows_ahead][message.destination / block_size];
        if (bucket.size() == bucket.capacity() && bucket.empty() && !spare_.empty()) [[unlikely]] {
            bucket = std::move(spare_.back());
            spare_.pop_back();
        }
        bucket.push_back(message);
        ++count_;
    }

    /// The messages of the window `row` to a block. Give the list back when they are handled: its memory is used again.
    std::vector<Message> take(std::uint64_t row, std::uint32_t block) {
        first_ = row;
        std::vector<Message> taken = std::exchange(rows_[row % windows_ahead][block], {});
        count_ -= taken.size();
        return taken;
    }
    void give(std::vector<Message>&& taken) {
        taken.clear();
        spare_.push_back(std::move(taken));
    }

  private:
    std::uint32_t blocks_;
    std::array<std::vector<std::vector<Message>>, windows_ahead> rows_;
    std::vector<std::vector<Message>> spare_;
    std::uint64_t first_ = 0;  ///< the window that is being handled
    std::uint64_t count_ = 0;
};

/// Where the messages of each rank of a block begin when all are in the order of ranks; and behind the last rank.
using Begins = std::array<std::uint32_t, block_size + 1>;

template <class Message>
void count(std::span<const Message> messages, Begins& begins) {
    begins.fill(0);
    for (const Message& message : messages) {
        ++begins[message.destination % block_size];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& begin : begins) {
        sum += std::exchange(begin, sum);
    }
}

/// Runs at least so often, and more often if that takes less than fifteen seconds, thirty times at most, as
/// bench/repeat.py runs the simulator. Prints what `run` found, members of a JSON object, and the seconds of each run.
template <class Run>
void several(std::size_t least, Run run) {
    constexpr std::size_t most = 30;
    constexpr double long_enough = 15;
    using Clock = std::chrono::steady_clock;
    const auto since = [](Clock::time_point begin) {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    std::string found;
    std::vector<double> seconds;
    const auto first = Clock::now();
    while (seconds.size() < least || (seconds.size() < most && since(first) < long_enough)) {
        const auto begin = Clock::now();
        found = run();
        seconds.push_back(since(begin));
    }
    std::printf("{%s, \"seconds\": [", found.c_str());
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        std::printf("%s%.6f", i == 0 ? "" : ", ", seconds[i]);
    }
    std::printf("]}\n");
}

}  // namespace floors
