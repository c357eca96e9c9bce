// The sizes of a core's caches, as the kernel says them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "common/files.hpp"

namespace idlewave::probe::contention {

// Bytes; 0 where there is no such cache. Where the kernel does not say, those that most processors have at least.
struct CacheSizes {
    std::size_t l1 = 32 << 10;
    std::size_t l2 = 512 << 10;
    std::size_t l3 = 16 << 20;
    bool known = false;

    [[nodiscard]] std::size_t largest() const { return l3 > 0 ? l3 : l2; }
};

// "32768K" is 32 MiB; 0 for other texts.
inline std::size_t bytes_of(const std::string& text) {
    char* end = nullptr;
    const unsigned long number = std::strtoul(text.c_str(), &end, 10);
    const std::string unit = end;
    const std::size_t factor = unit == "K" ? std::size_t{1} << 10 : unit == "M" ? std::size_t{1} << 20 : unit.empty();
    return number * factor;
}

// glibc's sysconf is no better source: on virtual machines it names caches of half a gigabyte.
inline CacheSizes cache_sizes(int cpu, const std::filesystem::path& system = "/sys/devices/system/cpu") {
    CacheSizes found{0, 0, 0, true};
    const std::filesystem::path caches = system / ("cpu" + std::to_string(cpu)) / "cache";
    for (int index = 0;; ++index) {
        const std::filesystem::path cache = caches / ("index" + std::to_string(index));
        const std::optional<std::string> type = read_line(cache / "type");
        const std::optional<std::string> size = read_line(cache / "size");
        const std::optional<std::int64_t> level = read_integer(cache / "level");
        if (!type || !size || !level) break;
        if (*type == "Instruction") continue;
        if (*level == 1) found.l1 = bytes_of(*size);
        if (*level == 2) found.l2 = bytes_of(*size);
        if (*level == 3) found.l3 = bytes_of(*size);
    }
    return found.l1 > 0 && found.l2 > 0 ? found : CacheSizes{};
}

}  // namespace idlewave::probe::contention
