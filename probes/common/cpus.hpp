// The CPUs of this machine that the process may use, lists of them, and pinning.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/failure.hpp"

namespace idlewave::probe {

constexpr int most_cpus = 8192;  // at least the limit of any build of Linux

// A set of CPUs for the scheduler; glibc's own ends at 1024. Processes may send it to each other byte by byte.
class CpuSet {
  public:
    CpuSet() = default;
    explicit CpuSet(const std::vector<int>& cpus) {
        for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size(), bits_.data());
    }

    std::vector<int> list() const {
        std::vector<int> result;
        for (int cpu = 0; cpu < most_cpus; ++cpu) {
            if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size(), bits_.data())) result.push_back(cpu);
        }
        return result;
    }

    bool operator==(const CpuSet& other) const { return CPU_EQUAL_S(size(), bits_.data(), other.bits_.data()) != 0; }

    std::size_t size() const { return sizeof bits_; }
    cpu_set_t* data() { return bits_.data(); }

  private:
    std::array<cpu_set_t, most_cpus / CPU_SETSIZE> bits_{};
};

// The CPUs that the calling thread may use.
inline CpuSet allowed_set() {
    CpuSet set;
    if (sched_getaffinity(0, set.size(), set.data()) != 0) {
        throw failed("the CPUs that may be used cannot be asked for: " + system_word(errno));
    }
    return set;
}

// The CPUs that the calling thread may use, ascending.
inline std::vector<int> allowed_cpus() {
    return allowed_set().list();
}

// Pins the calling thread to some CPUs. Returns false if the system refuses.
inline bool try_pin(const std::vector<int>& cpus) {
    CpuSet set(cpus);
    return sched_setaffinity(0, set.size(), set.data()) == 0;
}

inline void pin(const std::vector<int>& cpus) {
    if (try_pin(cpus)) return;
    throw failed("CPU " + std::to_string(cpus.front()) + " cannot be used: " + system_word(errno));
}

inline void pin(int cpu) {
    pin(std::vector<int>{cpu});
}

// "0-3,8" is 0, 1, 2, 3 and 8. The result is ascending and has each CPU once.
inline std::vector<int> parse_cpus(const std::string& option, const std::string& text) {
    const auto wrong = [&] {
        return refused(option + ": expected CPUs such as 0-3,8, each below " + std::to_string(most_cpus) + ", found '" +
                       text + "'");
    };
    std::vector<int> result;
    const char* place = text.c_str();
    const auto next = [&] {
        char* end = nullptr;
        const long value = *place >= '0' && *place <= '9' ? std::strtol(place, &end, 10) : -1;
        if (value < 0 || value >= most_cpus) throw wrong();
        place = end;
        return static_cast<int>(value);
    };
    for (;;) {
        const int first = next();
        const int last = *place == '-' ? (++place, next()) : first;
        if (last < first) throw wrong();
        for (int cpu = first; cpu <= last; ++cpu) result.push_back(cpu);
        if (*place == '\0') break;
        if (*place++ != ',') throw wrong();
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

// The inverse of parse_cpus.
inline std::string cpu_list(const std::vector<int>& cpus) {
    std::string result;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t j = i;
        while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1) ++j;
        if (i > 0) result += ',';
        result += std::to_string(cpus[i]);
        if (j > i) result.append("-").append(std::to_string(cpus[j]));
        i = j + 1;
    }
    return result;
}

// Gives the calling thread a real-time priority (SCHED_FIFO).
inline void use_priority(int priority) {
    sched_param parameter{};
    parameter.sched_priority = priority;
    if (sched_setscheduler(0, SCHED_FIFO, &parameter) == 0) return;
    throw failed("real-time priority (SCHED_FIFO) " + std::to_string(priority) + " is refused: " + system_word(errno) +
                 "; it needs the capability CAP_SYS_NICE or a limit of RLIMIT_RTPRIO (ulimit -r)");
}

inline void use_no_priority() {
    const sched_param parameter{};
    sched_setscheduler(0, SCHED_OTHER, &parameter);
}

}  // namespace idlewave::probe
