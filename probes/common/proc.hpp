// Linux's counts for each CPU: interrupts by source, and its time by use. They are empty if /proc is not mounted.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace idlewave::probe {

struct Interrupts {
    std::map<std::string, std::uint64_t> counts;  // by the name in the first column, such as "LOC"
    std::map<std::string, std::string> meanings;  // the rest of its line, such as "Local timer interrupts"
};

// Reads the counts of some CPUs from a file such as /proc/interrupts or /proc/softirqs. It has a title of CPUs, then a
// line for each source, with a count for each CPU.
inline std::map<int, Interrupts> read_counts(const char* path, const std::vector<int>& cpus) {
    std::map<int, Interrupts> result;
    for (const int cpu : cpus) result[cpu];
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::istringstream header(line);
    std::vector<Interrupts*> columns;  // the destination of each column's counts; null: none
    for (std::string title; header >> title;) {
        const int cpu = title.rfind("CPU", 0) == 0 ? static_cast<int>(std::strtol(title.c_str() + 3, nullptr, 10)) : -1;
        const auto wanted = result.find(cpu);
        columns.push_back(wanted == result.end() ? nullptr : &wanted->second);
    }
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        if (!name.empty() && name.back() == ':') name.pop_back();
        std::vector<std::uint64_t> counts;
        for (std::uint64_t value = 0; counts.size() < columns.size() && fields >> value;) counts.push_back(value);
        if (counts.size() < columns.size()) continue;  // the line has no counts by CPU
        std::string meaning;
        std::getline(fields >> std::ws, meaning);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i] == nullptr) continue;
            columns[i]->counts[name] = counts[i];
            columns[i]->meanings[name] = meaning;
        }
    }
    return result;
}

inline Interrupts read_interrupts(int cpu) {
    return read_counts("/proc/interrupts", {cpu})[cpu];
}

struct CpuTime {  // seconds since the system's start
    double busy = 0;
    double interrupts = 0;  // the part of `busy` in hard and soft interrupts
    double idle = 0;
    double steal = 0;
};

inline std::map<int, CpuTime> read_cpu_times(const std::vector<int>& cpus) {
    std::map<int, CpuTime> result;
    for (const int cpu : cpus) result[cpu];
    std::ifstream file("/proc/stat");
    const double second = static_cast<double>(sysconf(_SC_CLK_TCK));
    for (std::string line; std::getline(file, line) && line.rfind("cpu", 0) == 0;) {
        if (line[3] < '0' || line[3] > '9') continue;  // the sum of all CPUs
        std::istringstream fields(line.substr(3));
        int cpu = -1;
        double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
        fields >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
        const auto wanted = result.find(cpu);
        if (wanted == result.end()) continue;
        const double busy = user + nice + system + irq + softirq;
        wanted->second = {busy / second, (irq + softirq) / second, (idle + iowait) / second, steal / second};
    }
    return result;
}

inline CpuTime read_cpu_time(int cpu) {
    return read_cpu_times({cpu})[cpu];
}

}  // namespace idlewave::probe
