// The times at which a thread was switched out and in again (perf_event_open, records of context switches). Every user
// may read them for their own threads, also where the kernel's tracer is not readable. They do not name the task that
// ran instead.
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/failure.hpp"
#include "common/page.hpp"

namespace idlewave::probe {

struct Switch {
    double time_ns = 0;  // CLOCK_MONOTONIC_RAW
    bool out = false;
    bool preempted = false;  // for a switch out: the thread was runnable
};

class SwitchRecorder {
  public:
    explicit SwitchRecorder(pid_t thread) {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_SOFTWARE;
        attributes.config = PERF_COUNT_SW_DUMMY;
        attributes.context_switch = 1;
        attributes.exclude_kernel = 1;
        attributes.sample_id_all = 1;
        attributes.sample_type = PERF_SAMPLE_TIME;
        attributes.use_clockid = 1;
        attributes.clockid = CLOCK_MONOTONIC_RAW;
        event_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
        if (event_ < 0) {
            why_ = "perf_event_open: " + system_word(errno);
            return;
        }
        const void* const memory = mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED, event_, 0);
        if (memory == MAP_FAILED) {
            why_ = "the buffer of perf_event_open: " + system_word(errno);
        } else {
            memory_ = static_cast<const char*>(memory);
        }
    }
    ~SwitchRecorder() {
        if (memory_ != nullptr) munmap(const_cast<char*>(memory_), size());
        if (event_ >= 0) close(event_);
    }
    SwitchRecorder(SwitchRecorder&& other) noexcept
        : event_(std::exchange(other.event_, -1)),
          memory_(std::exchange(other.memory_, nullptr)),
          why_(std::move(other.why_)) {}
    SwitchRecorder& operator=(SwitchRecorder&&) = delete;

    bool there() const { return memory_ != nullptr; }
    const std::string& why_not() const { return why_; }

    // All switches from the first on, as far as there was room. Nothing is removed before, so nothing is overwritten.
    std::vector<Switch> switches() const {
        std::vector<Switch> result;
        const auto* const page = reinterpret_cast<const perf_event_mmap_page*>(memory_);
        const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
        const std::uint64_t end = std::min<std::uint64_t>(head, data_pages * page_size());
        const char* const data = memory_ + page_size();
        perf_event_header header{};
        for (std::uint64_t at = 0; at + sizeof header + sizeof(std::uint64_t) <= end; at += header.size) {
            std::memcpy(&header, data + at, sizeof header);
            if (header.size < sizeof header) break;
            if (header.type != PERF_RECORD_SWITCH) continue;
            std::uint64_t time = 0;  // the only field of the sample, behind the header
            std::memcpy(&time, data + at + sizeof header, sizeof time);
            result.push_back({static_cast<double>(time), (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0,
                              (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0});
        }
        return result;
    }

  private:
    static std::uint64_t size() { return (1 + data_pages) * page_size(); }

    // 512 KB of pages of 4 KB: the amount that every user may have for each CPU (perf_event_mlock_kb). A switch has 16
    // bytes.
    static constexpr std::uint64_t data_pages = 128;

    int event_ = -1;
    const char* memory_ = nullptr;
    std::string why_;
};

}  // namespace idlewave::probe
