#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

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

/// Holds threads back until all of them were started, or one could not be.
class StartingGate {
  public:
    void open(bool go) {
        state_.store(go ? State::go : State::abort, std::memory_order_release);
        state_.notify_all();
    }
    /// Returns whether to go on.
    [[nodiscard]] bool wait() const {
        state_.wait(State::closed, std::memory_order_acquire);
        return state_.load(std::memory_order_acquire) == State::go;
    }

  private:
    enum class State : std::uint8_t { closed, go, abort };
    std::atomic<State> state_{State::closed};
};

/// The C++ library allocates a thread's part of exception handling at its first use. When memory has run out that ends
/// the process, so each thread asks for it at its beginning.
inline void be_ready_for_exceptions() {
    (void)std::uncaught_exceptions();
}

/// Keeps the first exception of several threads.
class FirstError {
  public:
    void record(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) {
            error_ = std::move(error);
        }
    }
    /// Keeps this one even if there is one already: for an interrupt, which must not be lost.
    void prefer(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        error_ = std::move(error);
    }
    void rethrow() {
        if (error_) {
            std::rethrow_exception(error_);
        }
    }

  private:
    std::mutex mutex_;
    std::exception_ptr error_;
};

}  // namespace idlewave::pdes
