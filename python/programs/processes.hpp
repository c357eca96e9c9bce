// What the guard knows of processes: who descends from it, and which signals wait for one, as /proc tells.
#pragma once

#include <dirent.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace idlewave {

/// A process and its parent.
struct Process {
    pid_t self = 0;
    pid_t parent = 0;
};

/// A file of /proc, as far as `most` bytes go; empty if it cannot be read.
inline std::string proc_file(pid_t process, const char* name, std::size_t most = 4096) {
    std::string text(most, '\0');
    const std::string path = "/proc/" + std::to_string(process) + "/" + name;
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return {};
    text.resize(std::fread(text.data(), 1, most, file));
    std::fclose(file);
    return text;
}

/// The parent of a process, 0 if it is gone. The program's name stands before it, and may have any characters.
inline pid_t parent_of(pid_t process) {
    const std::string stat = proc_file(process, "stat");
    const std::size_t name_end = stat.rfind(')');
    long parent = 0;
    if (name_end == std::string::npos || std::sscanf(stat.c_str() + name_end, ") %*c %ld", &parent) != 1) return 0;
    return static_cast<pid_t>(parent);
}

/// All processes that can be seen; none where there is no /proc.
inline std::vector<Process> all_processes() {
    std::vector<Process> found;
    DIR* folder = opendir("/proc");
    if (folder == nullptr) return found;
    while (const dirent* entry = readdir(folder)) {
        const long number = std::strtol(entry->d_name, nullptr, 10);
        if (number > 0) found.push_back({static_cast<pid_t>(number), parent_of(static_cast<pid_t>(number))});
    }
    closedir(folder);
    return found;
}

/// The children of `process`, their children, and so on.
inline std::set<pid_t> descendants_of(pid_t process) {
    const std::vector<Process> all = all_processes();
    std::set<pid_t> found;
    for (bool grown = true; grown;) {
        grown = false;
        for (const Process& one : all) {
            const bool belongs = one.parent == process || found.contains(one.parent);
            if (belongs && found.insert(one.self).second) grown = true;
        }
    }
    return found;
}

/// Whether one of `signals` waits for a process that blocks them.
inline bool has_pending(pid_t process, const sigset_t& signals) {
    const std::string status = proc_file(process, "status");
    const std::size_t line = status.find("ShdPnd:");
    if (line == std::string::npos) return false;
    const unsigned long long pending = std::strtoull(status.c_str() + line + std::strlen("ShdPnd:"), nullptr, 16);
    for (int number = 1; number < 64; ++number) {
        if (sigismember(&signals, number) == 1 && ((pending >> (number - 1)) & 1) != 0) return true;
    }
    return false;
}

}  // namespace idlewave
