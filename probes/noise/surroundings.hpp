// The system's counts for a core while a probe runs on it.
#pragma once

#include <sys/resource.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/proc.hpp"
#include "common/throttling.hpp"
#include "common/usage.hpp"

namespace idlewave::probe {

struct Surroundings {
    std::map<int, Interrupts> interrupts;
    std::map<int, Interrupts> softirqs;
    std::map<int, CpuTime> times;
    std::map<int, CpuSpeed> speeds;
    std::optional<GroupThrottling> group;
};

inline Surroundings read_surroundings(const std::vector<int>& cpus) {
    Surroundings now{read_counts("/proc/interrupts", cpus),
                     read_counts("/proc/softirqs", cpus),
                     read_cpu_times(cpus),
                     {},
                     read_group_throttling()};
    for (const int cpu : cpus) now.speeds[cpu] = read_cpu_speed(cpu);
    return now;
}

// Resources that a thread used between two calls of getrusage.
struct Usage {
    rusage before{};
    rusage after{};
};

namespace detail {

inline json::Object count_differences(const Interrupts& before, const Interrupts& after) {
    json::Object result;
    for (const auto& [name, count] : after.counts) {
        const auto earlier = before.counts.find(name);
        const std::uint64_t delta = count - (earlier == before.counts.end() ? 0 : earlier->second);
        if (delta == 0) continue;
        result.add(name, json::Object().add("count", delta).add("meaning", after.meanings.at(name)));
    }
    return result;
}

template <class Number>
json::Text optional_value(const std::optional<Number>& number) {
    return number ? json::value(*number) : json::null();
}

template <class Number>
json::Text difference(const std::optional<Number>& before, const std::optional<Number>& after) {
    return before && after ? json::value(*after - *before) : json::null();
}

// In seconds; null where the kernel does not count it.
inline json::Text core_wait(const std::optional<std::int64_t>& before, const std::optional<std::int64_t>& after) {
    return before && after ? json::value(static_cast<double>(*after - *before) * 1e-9) : json::null();
}

inline json::Object throttling_between(const Surroundings& before, const Surroundings& after, int cpu) {
    json::Object result;
    const bool known = before.group && after.group;
    result.add("nr_throttled", known ? json::value(after.group->periods - before.group->periods) : json::null());
    result.add("throttled_s", known ? json::value(after.group->seconds - before.group->seconds) : json::null());
    const CpuSpeed& slower = before.speeds.at(cpu);
    const CpuSpeed& later = after.speeds.at(cpu);
    result.add("core_throttle_count", difference(slower.core_throttles, later.core_throttles));
    result.add("package_throttle_count", difference(slower.package_throttles, later.package_throttles));
    return result;
}

}  // namespace detail

inline json::Object describe_surroundings(const Surroundings& before, const Surroundings& after, const Usage& own,
                                          int cpu) {
    const CpuTime& earlier = before.times.at(cpu);
    const CpuTime& later = after.times.at(cpu);
    json::Object result;
    result.add("interrupts", detail::count_differences(before.interrupts.at(cpu), after.interrupts.at(cpu)));
    result.add("softirqs", detail::count_differences(before.softirqs.at(cpu), after.softirqs.at(cpu)));
    result.add("voluntary_switches", own.after.ru_nvcsw - own.before.ru_nvcsw);
    result.add("involuntary_switches", own.after.ru_nivcsw - own.before.ru_nivcsw);
    result.add("own_cpu_s", processor_seconds(own.after) - processor_seconds(own.before));
    result.add("cpu_busy_s", later.busy - earlier.busy);
    result.add("steal_s", later.steal - earlier.steal);
    result.add("throttled", detail::throttling_between(before, after, cpu));
    result.add("frequency_khz", json::Object()
                                    .add("before", detail::optional_value(before.speeds.at(cpu).frequency_khz))
                                    .add("after", detail::optional_value(after.speeds.at(cpu).frequency_khz)));
    return result;
}

}  // namespace idlewave::probe
