// What a probe prints on standard output: its progress, and at the end its summary.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

namespace idlewave::probe {

inline void print_line(const std::string& text) {
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
}

// Prints the share of the time that is over, 0 to 1.
inline void print_progress(double fraction) {
    std::printf("progress %.4g\n", std::clamp(fraction, 0.0, 1.0));
    std::fflush(stdout);
}

}  // namespace idlewave::probe
