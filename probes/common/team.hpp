// Threads that record at the same time, one pinned to each of some CPUs.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <functional>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include "common/cpus.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "common/usage.hpp"

namespace idlewave::probe {

// A barrier with busy waiting, which all threads leave at one tick of the counter. The last thread to arrive chooses
// the tick: a separate thread for this might not get a CPU.
class CommonStart {
  public:
    CommonStart(std::size_t threads, Ticks margin) : threads_(threads), margin_(margin) {}

    // Waits until all threads are here. Returns the tick of the start.
    Ticks agree() {
        if (arrived_.fetch_add(1) + 1 == threads_) begin_.store(read_ticks() + margin_);
        Ticks begin = 0;
        while (begin == 0) begin = begin_.load();
        return begin;
    }

    static void wait_until(Ticks begin) {
        while (read_ticks() < begin) {
        }
    }

  private:
    alignas(64) std::atomic<Ticks> begin_{0};
    alignas(64) std::atomic<std::size_t> arrived_{0};
    std::size_t threads_;
    Ticks margin_;
};

template <class CoreRecording>
struct TeamMember {
    int cpu = -1;
    pid_t thread = 0;
    std::optional<CoreRecording> recording;
    rusage before{};
    rusage after{};
    std::optional<std::int64_t> core_wait_before;  // ns
    std::optional<std::int64_t> core_wait_after;
    std::exception_ptr error = nullptr;
};

// The functions of a team. The threads call `prepare` and `record`. The calling thread calls `when_ready` when all are
// prepared, and `meanwhile` while they record (it returns when `ended` is the number of threads).
template <class CoreRecording>
struct Teamwork {
    Ticks margin = 0;  // from the last thread's arrival to the start
    std::optional<int> priority;
    std::function<CoreRecording(int cpu)> prepare;
    std::function<void(CoreRecording&, Ticks start)> record;
    std::function<void()> when_ready;
    std::function<void(const std::atomic<std::size_t>& ended)> meanwhile;
};

// Returns false if a signal came before the start, so that nothing was recorded. Throws the failure of a thread.
template <class CoreRecording>
bool work_together(std::vector<TeamMember<CoreRecording>>& team, const Teamwork<CoreRecording>& work) {
    std::latch ready(static_cast<std::ptrdiff_t>(team.size()));
    std::latch go(1);
    std::atomic<std::size_t> ended{0};
    std::exception_ptr error = nullptr;
    bool cancelled = false;
    CommonStart start(team.size(), work.margin);

    const auto run = [&](TeamMember<CoreRecording>& member) {
        try {
            pin(member.cpu);
            member.thread = gettid();
            if (work.priority) use_priority(*work.priority);
            member.recording.emplace(work.prepare(member.cpu));
            if (work.priority) use_no_priority();
        } catch (...) {
            member.error = std::current_exception();
        }
        ready.count_down();
        go.wait();
        if (cancelled) return;
        getrusage(RUSAGE_THREAD, &member.before);
        // Until all threads are here they have no real-time priority: the first thread that is woken may run on the
        // core of the thread that wakes the others.
        const Ticks begin = start.agree();
        try {
            if (work.priority) use_priority(*work.priority);
            member.core_wait_before = core_wait_ns();
            start.wait_until(begin);
            work.record(*member.recording, begin);
            member.core_wait_after = core_wait_ns();
            getrusage(RUSAGE_THREAD, &member.after);
        } catch (...) {
            member.error = std::current_exception();
        }
        ended.fetch_add(1);
    };
    const auto first_error = [&] {
        for (const TeamMember<CoreRecording>& member : team) {
            if (member.error && !error) error = member.error;
        }
    };

    std::vector<std::thread> threads;
    {
        const SignalsElsewhere blocked;
        for (TeamMember<CoreRecording>& member : team) {
            try {
                threads.emplace_back(run, std::ref(member));
            } catch (...) {  // the system refuses another thread
                error = std::current_exception();
                ready.count_down();
            }
        }
    }
    ready.wait();
    first_error();
    try {
        if (!error && !stop_asked()) work.when_ready();
    } catch (...) {
        error = std::current_exception();
    }
    cancelled = error || stop_asked();
    const bool recorded = !cancelled;  // the flag may be raised at any time, but this is what the threads read
    go.count_down();
    if (recorded) work.meanwhile(ended);
    for (std::thread& thread : threads) thread.join();
    first_error();
    if (error) std::rethrow_exception(error);
    return recorded;
}

}  // namespace idlewave::probe
