// What Linux counts for one CPU: interrupts by source, and how its time was spent. Empty where /proc is not
// there.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace idlewave {

struct Interrupts {
    std::map<std::string, std::uint64_t> counts;  // by the name in the first column, such as "LOC"
    std::map<std::string, std::string> meanings;  // the rest of its line, such as "Local timer interrupts"
};

inline Interrupts read_interrupts(int cpu) {
    Interrupts result;
    std::ifstream file("/proc/interrupts");
    std::string line;
    std::getline(file, line);
    std::istringstream header(line);
    int columns = 0;
    int wanted = -1;
    for (std::string title; header >> title; ++columns) {
        if (title == "CPU" + std::to_string(cpu)) wanted = columns;
    }
    while (wanted >= 0 && std::getline(file, line)) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        if (!name.empty() && name.back() == ':') name.pop_back();
        std::uint64_t count = 0;
        int column = 0;
        for (std::uint64_t value = 0; column < columns && fields >> value; ++column) {
            if (column == wanted) count = value;
        }
        if (column <= wanted) continue;  // a line that is not counted by CPU
        result.counts[name] = count;
        std::string meaning;
        std::getline(fields >> std::ws, meaning);
        result.meanings[name] = meaning;
    }
    return result;
}

struct CpuTime {  // seconds since the system's start
    double busy = 0;
    double idle = 0;
    double steal = 0;
};

inline CpuTime read_cpu_time(int cpu) {
    std::ifstream file("/proc/stat");
    const std::string wanted = "cpu" + std::to_string(cpu);
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        if (name != wanted) continue;
        double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
        fields >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
        const double second = static_cast<double>(sysconf(_SC_CLK_TCK));
        return {(user + nice + system + irq + softirq) / second, (idle + iowait) / second, steal / second};
    }
    return {};
}

}  // namespace idlewave
