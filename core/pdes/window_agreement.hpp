#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "pdes/barrier.hpp"
#include "pdes/calendar_queue.hpp"
#include "pdes/partition_options.hpp"

namespace idlewave::pdes {

/// What a thread contributes to the choice of the next window, and what all agree upon.
struct WindowCandidate {
    std::int64_t cell = 0;       ///< of its earliest event; `failed` after an error; agreed upon: the earliest of all
    std::uint64_t executed = 0;  ///< events in this segment; agreed upon: the sum
    std::uint64_t busiest = 0;   ///< agreed upon: the most events that one thread executed
    bool wants_pause = false;    ///< agreed upon: whether any does
    bool by_one_thread = false;  ///< agreed upon: whether the first thread executes the LPs of all

    static constexpr std::int64_t failed = -1;

    void add(const WindowCandidate& other) {
        cell = std::min(cell, other.cell);
        executed += other.executed;
        busiest = std::max(busiest, other.executed);
        wants_pause = wants_pause || other.wants_pause;
        by_one_thread = by_one_thread || other.by_one_thread;
    }
};

/// Where the threads of a process agree on the next window, at a barrier.
class WindowAgreement {
  public:
    explicit WindowAgreement(std::uint32_t threads) : barrier_(threads), threads_(threads) {
        for (auto& row : candidates_) {
            row.resize(threads);
        }
    }

    /// Waits for all threads. `round`: a thread's number of the rounds before.
    [[nodiscard]] WindowCandidate agree(std::uint32_t thread, std::uint64_t round, const WindowCandidate& own) {
        WindowCandidate all = own;
        all.busiest = own.executed;
        if (threads_ == 1) {
            return all;
        }
        std::vector<Slot>& row = candidates_[round % 2];
        row[thread].candidate = own;
        barrier_.wait();
        for (std::uint32_t i = 0; i < threads_; ++i) {
            if (i != thread) {
                all.add(row[i].candidate);
            }
        }
        return all;
    }

  private:
    struct alignas(64) Slot {
        WindowCandidate candidate;
    };

    Barrier barrier_;
    /// Two rows: a thread may write for the next round while another one still reads this one's.
    std::array<std::vector<Slot>, 2> candidates_;
    std::uint32_t threads_;
};

}  // namespace idlewave::pdes
