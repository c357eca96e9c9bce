// The counters of what computes, by perf_event_open, where the machine has them and the kernel gives them.
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

// Whose events are counted: those of a process, 0: the calling thread, on any CPU; or those of a CPU, whatever runs
// there.
struct CountedOn {
    pid_t process = 0;
    int cpu = -1;
};

constexpr CountedOn whole_cpu(int cpu) {
    return {-1, cpu};
}

// What counts: the kernel, or what stands for it in a test.
class CounterSource {
  public:
    struct Count {
        std::uint64_t value = 0;
        std::uint64_t enabled_ns = 0;
        std::uint64_t running_ns = 0;  // how long the counter of the processor was this one's
    };

    CounterSource() = default;
    CounterSource(const CounterSource&) = delete;
    CounterSource& operator=(const CounterSource&) = delete;
    virtual ~CounterSource() = default;

    // Begins to count an event. Returns its file, or minus the number of the error.
    virtual int open(perf_event_attr& attributes, CountedOn counted) = 0;
    virtual std::optional<Count> read(int file) = 0;
    virtual void close(int file) = 0;
};

class KernelCounters : public CounterSource {
  public:
    int open(perf_event_attr& attributes, CountedOn counted) override {
        const long file =
            syscall(SYS_perf_event_open, &attributes, counted.process, counted.cpu, -1, PERF_FLAG_FD_CLOEXEC);
        return file < 0 ? -errno : static_cast<int>(file);
    }
    std::optional<Count> read(int file) override {
        std::array<std::uint64_t, 3> values{};
        if (::read(file, values.data(), sizeof values) != sizeof values) return std::nullopt;
        return Count{values[0], values[1], values[2]};
    }
    void close(int file) override { ::close(file); }
};

// Which process is counted: the calling thread; or a child that is going to be a command, from its exec on and with all
// that it starts.
struct Counted {
    pid_t process = 0;

    [[nodiscard]] bool is_command() const { return process != 0; }
};

// Counts of a thread or of a command. A value is NaN where there is none; `reasons` say why.
class Counters {
  public:
    // The kernel has no name for misses of the second level: `l2_event` is the processor's own number for them.
    Counters(CounterSource& source, std::optional<std::uint64_t> l2_event, Counted counted = {})
        : source_(source), counted_(counted) {
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
            if (file >= 0) source_.close(file);
        }
    }

    // What each has counted so far. One that had the processor's counter for a part of the time only is scaled.
    [[nodiscard]] CounterValues read() const {
        CounterValues result;
        result.fill(std::numeric_limits<double>::quiet_NaN());
        for (std::size_t i = 0; i < counters; ++i) {
            if (files_[i] < 0) continue;
            const std::optional<CounterSource::Count> count = source_.read(files_[i]);
            if (!count || count->running_ns == 0) continue;
            result[i] = static_cast<double>(count->value) * static_cast<double>(count->enabled_ns) /
                        static_cast<double>(count->running_ns);
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
        if (counted_.is_command()) {
            attributes.disabled = 1;
            attributes.enable_on_exec = 1;
            attributes.inherit = 1;
        }
        files_[number] = source_.open(attributes, {counted_.process});
        reasons_[number] = files_[number] < 0 ? system_word(-files_[number]) : "";
    }

    CounterSource& source_;
    Counted counted_;
    std::array<int, counters> files_{};
    std::array<std::string, counters> reasons_;
};

}  // namespace idlewave::probe::contention
