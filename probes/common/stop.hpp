// Ending early, and keeping what is there: SIGINT, SIGTERM and SIGHUP raise a flag that the loops look at.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>

namespace idlewave {

// Alone in its cache line, which nobody writes but the signal's handler: looking at it costs a hit in the first cache.
struct alignas(64) StopFlag {
    std::atomic<bool> raised{false};
};
static_assert(std::atomic<bool>::is_always_lock_free);

inline StopFlag stop_flag;  // a signal's handler has nothing else to write to

inline bool stop_asked() {
    return stop_flag.raised.load(std::memory_order_relaxed);
}

extern "C" inline void idlewave_raise_stop_flag(int /*signal*/) {
    stop_flag.raised.store(true, std::memory_order_relaxed);
}

inline void stop_on_signals() {
    struct sigaction action{};
    action.sa_handler = idlewave_raise_stop_flag;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
    action.sa_handler = SIG_IGN;  // whoever read our output may be gone; what is recorded is still to be written
    sigaction(SIGPIPE, &action, nullptr);
}

// While one of these lives, signals go to other threads.
class SignalsElsewhere {
  public:
    SignalsElsewhere() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsElsewhere() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsElsewhere(const SignalsElsewhere&) = delete;
    SignalsElsewhere& operator=(const SignalsElsewhere&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace idlewave
