// The counters of the victim's core, by perf_event_open, where the machine has them and the kernel gives them.
#pragma once

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "common/failure.hpp"
#include "common/json.hpp"

namespace idlewave::probe::contention {

constexpr std::size_t counters = 5;
constexpr std::array<const char*, counters> counter_names = {"cycles", "stalled_cycles", "l1_misses", "l2_misses",
                                                             "l3_misses"};
using CounterValues = std::array<double, counters>;

namespace detail {

constexpr std::uint64_t cache_misses(std::uint64_t cache) {
    return cache | (std::uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8) |
           (std::uint64_t{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16);
}

struct Event {
    std::uint32_t type = PERF_TYPE_HARDWARE;
    std::uint64_t config = 0;
};

}  // namespace detail

// Counts of the calling thread. A value is NaN where there is none; `reasons` say why.
class Counters {
  public:
    // The kernel has no name for misses of the second level: `l2_event` is the processor's own number for them.
    explicit Counters(std::optional<std::uint64_t> l2_event) {
        using detail::cache_misses;
        files_.fill(-1);
        open(0, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES});
        open(1, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND});
        if (files_[1] < 0) open(1, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND});
        open(2, {PERF_TYPE_HW_CACHE, cache_misses(PERF_COUNT_HW_CACHE_L1D)});
        if (l2_event) {
            open(3, {PERF_TYPE_RAW, *l2_event});
        } else {
            reasons_[3] = "the kernel has no name for it; --l2-event gives the processor's number";
        }
        open(4, {PERF_TYPE_HW_CACHE, cache_misses(PERF_COUNT_HW_CACHE_LL)});
    }
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;
    ~Counters() {
        for (const int file : files_) {
            if (file >= 0) close(file);
        }
    }

    // What each has counted so far. One that had the processor's counter for a part of the time only is scaled.
    [[nodiscard]] CounterValues read() const {
        CounterValues result;
        result.fill(std::numeric_limits<double>::quiet_NaN());
        for (std::size_t i = 0; i < counters; ++i) {
            std::array<std::uint64_t, 3> values{};  // count, time enabled, time running
            if (files_[i] < 0 || ::read(files_[i], values.data(), sizeof values) != sizeof values) continue;
            if (values[2] == 0) continue;
            result[i] =
                static_cast<double>(values[0]) * static_cast<double>(values[1]) / static_cast<double>(values[2]);
        }
        return result;
    }

    // By the name of each: null where it counts, else the reason why it does not.
    [[nodiscard]] json::Object describe() const {
        json::Object result;
        for (std::size_t i = 0; i < counters; ++i) {
            result.add(counter_names[i], reasons_[i].empty() ? json::null() : json::value(reasons_[i]));
        }
        return result;
    }

  private:
    void open(std::size_t number, detail::Event event) {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = event.type;
        attributes.config = event.config;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        const long file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        files_[number] = static_cast<int>(file);
        reasons_[number] = file < 0 ? system_word(errno) : "";
    }

    std::array<int, counters> files_{};
    std::array<std::string, counters> reasons_;
};

}  // namespace idlewave::probe::contention
