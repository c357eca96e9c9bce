#include "base/memory.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace idlewave {

std::uint64_t peak_memory() {
    constexpr std::uint64_t kibi = 1024;
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmHWM:") {
            std::uint64_t amount = 0;
            return status >> amount ? amount * kibi : 0;
        }
    }
    rusage usage{};
    return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * kibi : 0;
}

}  // namespace idlewave
