#pragma once

#include <atomic>
#include <cstdint>

namespace idlewave::pdes {

/// A barrier of threads. A thread spins for a while, since windows are short, and then sleeps.
class Barrier {
  public:
    explicit Barrier(std::uint32_t threads) : threads_(threads) {}

    void wait() {
        const std::uint32_t round = round_.load(std::memory_order_relaxed);
        if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            waiting_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            round_.notify_all();
            return;
        }
        constexpr int spins = 1 << 12;
        for (int i = 0; i < spins; ++i) {
            if (round_.load(std::memory_order_acquire) != round) {
                return;
            }
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        while (round_.load(std::memory_order_acquire) == round) {
            round_.wait(round, std::memory_order_acquire);
        }
    }

  private:
    alignas(64) std::atomic<std::uint32_t> waiting_{0};
    std::uint32_t threads_;
    alignas(64) std::atomic<std::uint32_t> round_{0};
};

}  // namespace idlewave::pdes
