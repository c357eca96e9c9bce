// The settings of an assessment, and its outcome.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace idlewave::probe::network {

struct Settings {
    std::string output;
    double seconds = 8;
    int max_size = 256 * 1024;
    std::vector<std::int64_t> sizes;  // of an earlier part, which chose them; empty: the assessment chooses them
    int train = 16;
    int repetitions = 1000;
    double width = 0.02;  // of a median's 95 % interval, relative to the median
    unsigned long seed = 1;
};

// The initial value of `ended`: it remains if a run is killed.
constexpr const char* killed = "killed";

struct AssessmentOutcome {
    int repetitions = 0;
    long long samples = 0;
    long long lost = 0;
    std::string ended = killed;  // or settled, seconds, repetitions, interrupted
    double settled = 0;
    std::vector<int> sizes;
    std::vector<int> core_sizes;                  // those whose medians are to settle: a further part measures them
    std::vector<int> dropped;                     // too long for the time, or every message was lost
    std::vector<int> breaks;                      // first sizes after an enclosed change, the clearest first
    std::vector<int> blocking;                    // first sizes at which a send begins (or ceases) to wait
    std::vector<std::pair<int, double>> trips;    // sizes above 0 with their median round trip, ns, ascending
    std::vector<std::pair<double, double>> load;  // foreign load of client's and server's CPU, by repetition
};

}  // namespace idlewave::probe::network
