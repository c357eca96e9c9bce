// Ending early, and keeping what is there: SIGINT, SIGTERM and SIGHUP raise a flag that the loops look at.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace idlewave::probe {

// Alone in its cache line, which nobody writes but the signal's handler: looking at it costs a hit in the first cache.
struct alignas(64) StopFlag {
    std::atomic<int> raised{0};  // not bool: of one byte some processors have no atomic operations
    unsigned patience = 0;       // s, from the signal on; 0: without end
};
static_assert(std::atomic<int>::is_always_lock_free);

inline StopFlag stop_flag;  // a signal's handler has nothing else to write to

inline bool stop_asked() {
    return stop_flag.raised.load(std::memory_order_relaxed) != 0;
}

extern "C" inline void idlewave_raise_stop_flag(int /*signal*/) {
    stop_flag.raised.store(1, std::memory_order_relaxed);
    alarm(stop_flag.patience);
}

constexpr unsigned patience_after_stop = 8;  // s, for other processes to answer; who starts us gives ten and more

// Calls of the system go on. Who has to do with another process says how many seconds that has to answer: it may have
// ended without a word, and then this one ends, too, with what it has written by then.
inline void stop_on_signals(unsigned patience = 0) {
    stop_flag.patience = patience;
    struct sigaction action{};
    action.sa_handler = idlewave_raise_stop_flag;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
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

}  // namespace idlewave::probe
