// The options that all noise probes have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/json.hpp"

namespace idlewave::probe {

struct NoiseOptions {
    std::vector<int> cpus;  // ascending
    bool one_by_one = false;
    double seconds = 0;
    std::size_t records = 0;  // 0: the default (buffers.hpp)
    std::string output;
    std::optional<int> priority;
    std::optional<std::uint64_t> seed;
    bool trace_events = false;
    bool mount_tracefs = false;
};

inline std::vector<CommandOption> common_arguments(NoiseOptions& options) {
    constexpr std::int64_t many = 1'000'000'000;
    return {
        {"cpus", "LIST", "cores to measure, such as 0-3,8 (default: all that the process may use)",
         [&](const auto& option, const auto& text) { options.cpus = parse_cpus(option, text); }},
        {"one-by-one", "", "measure one core after the other (default: all at once, started at one tick)",
         flag_to(options.one_by_one)},
        {"seconds", "S", "length of each core's recording, in seconds", number_to(options.seconds, 0.001, 86400)},
        {"records", "N", "largest number of rows for a core", integer_to(options.records, 1, many)},
        {"output", "DIR", "folder for the recording", text_to(options.output)},
        {"priority", "N", "real-time priority of the recording threads, SCHED_FIFO (default: none)",
         [&](const auto& option, const auto& text) {
             options.priority = static_cast<int>(integer(option, text, 1, 99));
         }},
        {"seed", "K", "with --one-by-one: seed of a random order of the cores (default: ascending)",
         [&](const auto& option, const auto& text) {
             options.seed = static_cast<std::uint64_t>(integer(option, text, 0, many));
         }},
        {"trace-events", "", "also record the kernel's events, where tracefs permits it",
         flag_to(options.trace_events)},
        {"mount-tracefs", "",
         "for --trace-events: mount tracefs at /sys/kernel/tracing until the end, if it is mounted nowhere",
         flag_to(options.mount_tracefs)},
    };
}

// Checks the options after parsing, and fills in the cores.
inline void complete(NoiseOptions& options, const std::vector<int>& allowed) {
    if (options.seconds == 0) throw refused("--seconds: expected how long each core is recorded");
    if (options.output.empty()) throw refused("--output: expected the folder for what is recorded");
    if (options.cpus.empty()) options.cpus = allowed;
    for (const int cpu : options.cpus) {
        if (std::binary_search(allowed.begin(), allowed.end(), cpu)) continue;
        throw refused("--cpus: CPU " + std::to_string(cpu) + " may not be used by this process; expected some of " +
                      cpu_list(allowed));
    }
}

inline json::Object describe(const NoiseOptions& options) {
    json::Object result;
    result.add("cpus", cpu_list(options.cpus)).add("one_by_one", options.one_by_one).add("seconds", options.seconds);
    result.add("records", options.records);
    result.add("priority", options.priority ? json::value(*options.priority) : json::null());
    result.add("seed", options.seed ? json::value(*options.seed) : json::null());
    return result.add("trace_events", options.trace_events);
}

}  // namespace idlewave::probe
