// What makes a CPU slow or takes it away, besides other work: limits of the process's control groups, and heat.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "common/files.hpp"

namespace idlewave::probe {

// Throttling, summed over the process's group and those above it, because the group with the limit has the count.
struct GroupThrottling {
    std::int64_t periods = 0;  // nr_throttled
    double seconds = 0;
};

namespace detail {

struct GroupFolder {
    std::filesystem::path mount;
    std::filesystem::path own;
};

inline bool has_word(const std::string& list, const std::string& word) {
    std::istringstream words(list);
    for (std::string each; std::getline(words, each, ',');) {
        if (each == word) return true;
    }
    return false;
}

// The path of this process's group. In version 2 the controllers' field is empty.
inline std::optional<std::string> group_path(const std::string& controller) {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? controllers.empty() : has_word(controllers, controller))
            return line.substr(second + 1);
    }
    return std::nullopt;
}

// The folder of the CPU controller's files, by version.
inline std::optional<GroupFolder> group_folder(const std::string& type) {
    const bool unified = type == "cgroup2";
    const auto path = group_path(unified ? "" : "cpu");
    std::ifstream file("/proc/self/mounts");
    for (std::string line; path && std::getline(file, line);) {
        std::istringstream fields(line);
        std::string device, mount, kind, options;
        fields >> device >> mount >> kind >> options;
        if (kind != type || (!unified && !has_word(options, "cpu"))) continue;
        // In a container the mount may be the group itself, whatever its path is outside.
        std::filesystem::path own = mount + *path;
        if (!std::filesystem::exists(own)) own = mount;
        return GroupFolder{mount, own};
    }
    return std::nullopt;
}

inline bool add_throttling(const std::filesystem::path& file, GroupThrottling& sum) {
    std::ifstream lines(file);
    bool found = false;
    std::string name;
    for (std::int64_t value = 0; lines >> name >> value;) {
        if (name == "nr_throttled") {
            sum.periods += value;
            found = true;
        } else if (name == "throttled_usec") {  // version 2
            sum.seconds += static_cast<double>(value) * 1e-6;
        } else if (name == "throttled_time") {  // version 1: ns
            sum.seconds += static_cast<double>(value) * 1e-9;
        }
    }
    return found;
}

}  // namespace detail

// Nothing if no group has a limit, or none can be read.
inline std::optional<GroupThrottling> read_group_throttling() {
    for (const char* const type : {"cgroup2", "cgroup"}) {
        const auto folder = detail::group_folder(type);
        if (!folder) continue;
        GroupThrottling sum;
        bool found = false;
        for (std::filesystem::path at = folder->own;; at = at.parent_path()) {
            found = detail::add_throttling(at / "cpu.stat", sum) || found;
            if (at == folder->mount || at == at.parent_path()) break;
        }
        if (found) return sum;
    }
    return std::nullopt;
}

// How often heat slowed a CPU (Intel's count), and its frequency; nothing where /sys does not have them.
struct CpuSpeed {
    std::optional<std::int64_t> core_throttles;
    std::optional<std::int64_t> package_throttles;
    std::optional<std::int64_t> frequency_khz;
};

inline CpuSpeed read_cpu_speed(int cpu) {
    const std::filesystem::path folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    return {read_integer(folder / "thermal_throttle/core_throttle_count"),
            read_integer(folder / "thermal_throttle/package_throttle_count"),
            read_integer(folder / "cpufreq/scaling_cur_freq")};
}

}  // namespace idlewave::probe
