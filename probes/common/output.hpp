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

// What is measured now may be a part of the run: the share of the time before it, and its own.
struct ProgressPart {
    double before = 0;
    double own = 1;
};

inline ProgressPart progress_part;

// Prints the share of the run's time that is over, 0 to 1, from that of the part.
inline void print_progress(double fraction) {
    std::printf("progress %.4g\n", progress_part.before + progress_part.own * std::clamp(fraction, 0.0, 1.0));
    std::fflush(stdout);
}

}  // namespace idlewave::probe
