// The kernel's counts for a thread: switches, migrations, page faults. They are read by one call from a group of
// software events (perf_event_open). Where that is refused, they are read by getrusage, which has no migrations (a
// pinned thread has none).
#pragma once

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "common/failure.hpp"

namespace idlewave::probe {

struct Counts {
    std::int64_t switches = 0;
    std::int64_t migrations = 0;
    std::int64_t faults = 0;

    Counts operator-(const Counts& other) const {
        return {switches - other.switches, migrations - other.migrations, faults - other.faults};
    }
};

// Counts for the thread that constructs it.
class ThreadCounts {
  public:
    ThreadCounts() {
        constexpr std::array<std::uint64_t, 3> counted = {PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
                                                          PERF_COUNT_SW_PAGE_FAULTS};
        for (std::size_t i = 0; i < counted.size() && why_.empty(); ++i) {
            events_[i] = open(counted[i], events_[0]);  // the first has the group -1, which begins a group
            if (events_[i] < 0) why_ = system_word(errno);
        }
    }
    ~ThreadCounts() {
        for (const int event : events_) {
            if (event >= 0) close(event);
        }
    }
    ThreadCounts(ThreadCounts&& other) noexcept
        : events_(std::exchange(other.events_, {-1, -1, -1})), why_(std::move(other.why_)) {}
    ThreadCounts& operator=(ThreadCounts&& other) noexcept {
        std::swap(events_, other.events_);
        std::swap(why_, other.why_);
        return *this;
    }

    Counts read_counts() const {
        std::array<std::uint64_t, 4> values{};  // the number of counts, then each count
        if (by_events() && read(events_[0], values.data(), sizeof values) == sizeof values) {
            return {static_cast<std::int64_t>(values[1]), static_cast<std::int64_t>(values[2]),
                    static_cast<std::int64_t>(values[3])};
        }
        rusage usage{};
        getrusage(RUSAGE_THREAD, &usage);
        return {usage.ru_nvcsw + usage.ru_nivcsw, 0, usage.ru_minflt + usage.ru_majflt};
    }

    bool by_events() const { return events_[2] >= 0; }
    const std::string& why_not() const { return why_; }

  private:
    static int open(std::uint64_t event, int group) {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_SOFTWARE;
        attributes.config = event;
        attributes.read_format = PERF_FORMAT_GROUP;
        // Switches happen in the kernel: this call is refused without the permission to count there.
        return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC));
    }

    std::array<int, 3> events_ = {-1, -1, -1};
    std::string why_;
};

}  // namespace idlewave::probe
