// An early end that loses no data: SIGINT, SIGTERM and SIGHUP raise a flag that the loops check.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace idlewave::probe {

// The flag is alone in its cache line, which only the signal handler writes: a check is a hit in the first-level cache.
struct alignas(64) StopFlag {
    std::atomic<int> raised{0};  // not bool: some processors have no atomic operations on one byte
    unsigned patience = 0;       // s, from the signal to a forced end; 0: no limit
};
static_assert(std::atomic<int>::is_always_lock_free);

inline StopFlag stop_flag;  // global, because a signal handler reaches nothing else

inline bool stop_asked() {
    return stop_flag.raised.load(std::memory_order_relaxed) != 0;
}

extern "C" inline void idlewave_raise_stop_flag(int /*signal*/) {
    stop_flag.raised.store(1, std::memory_order_relaxed);
    alarm(stop_flag.patience);
}

constexpr unsigned patience_after_stop = 8;  // s, for other processes to answer; launchers wait ten and more

// Installs the handler; system calls are restarted. A program that waits for another process gives a `patience` in
// seconds: the other may have ended silently, and then this one ends, too, with what it has written by then.
inline void stop_on_signals(unsigned patience = 0) {
    stop_flag.patience = patience;
    struct sigaction action{};
    action.sa_handler = idlewave_raise_stop_flag;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
    action.sa_handler = SIG_IGN;  // the reader of our output may have ended; the recording must still be written
    sigaction(SIGPIPE, &action, nullptr);
}

// During its lifetime the calling thread receives no signals; other threads receive them.
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
