// Traffic into memory: what is asked for, and its options. Who makes it models this concept:
//
//   void start();                                    begins to write; returns when it writes
//   [[nodiscard]] std::uint64_t bytes() const;       written since then
//   void check() const;                              throws the failure of who writes
//   void stop();
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/json.hpp"
#include "contention/lines.hpp"

namespace idlewave::probe::contention {

struct TrafficOptions {
    double rate = 0;  // bytes per second, of all writers together; 0: no traffic
    std::vector<int> cpus;
    Pattern pattern = Pattern::sequential;
    Stores stores = Stores::cached;
    std::size_t buffer = 64 << 20;  // bytes, of each writer
    std::uint64_t seed = 1;
};

constexpr double least_rate = 1000;
constexpr double most_rate = 1e13;
constexpr double rate_tolerance = 0.01;
constexpr double bucket_seconds = 0.1;  // what a writer may catch up

template <class Value>
auto one_of(Value& place, std::vector<std::pair<std::string, Value>> values) {
    return [&place, values = std::move(values)](const std::string& option, const std::string& text) {
        std::string known;
        for (const auto& [name, value] : values) {
            if (name == text) {
                place = value;
                return;
            }
            known.append(known.empty() ? "" : ", ").append(name);
        }
        throw refused(option + ": expected one of " + known + ", found '" + text + "'");
    };
}

inline std::vector<CommandOption> arguments_of(TrafficOptions& options) {
    constexpr std::int64_t most_buffer = std::int64_t{1} << 40;
    return {
        {"rate", "B/S", "bytes per second that all writers write together (default: none)",
         number_to(options.rate, least_rate, most_rate)},
        {"writer-cpus", "LIST", "CPUs that write, such as 1-3; that of the victim: its core handles the traffic, too",
         [&](const auto& option, const auto& text) { options.cpus = parse_cpus(option, text); }},
        {"pattern", "P", "sequential or random lines (sequential)",
         one_of<Pattern>(options.pattern, {{"sequential", Pattern::sequential}, {"random", Pattern::random}})},
        {"stores", "S", "cached, or nontemporal: past the caches (cached)",
         one_of<Stores>(options.stores, {{"cached", Stores::cached}, {"nontemporal", Stores::nontemporal}})},
        {"buffer", "B", "bytes of memory that each writer writes again and again (64 MiB)",
         integer_to(options.buffer, 4096, most_buffer)},
        {"seed", "K", "seed of random lines (1)", integer_to(options.seed, 0, 1'000'000'000)},
    };
}

// Bytes that are written between two looks at the clock: a fifty-thousandth of a second's, in whole lines.
inline std::size_t chunk_of(double rate, double seconds, std::size_t most) {
    const double wanted = std::clamp(rate * seconds, 1.0 * line_bytes, 1.0 * static_cast<double>(most));
    return static_cast<std::size_t>(wanted) / line_bytes * line_bytes;
}

// What was written in a time, and whether the asked rate was reached.
inline json::Object describe_rate(const TrafficOptions& options, double bytes, double seconds) {
    const double achieved = seconds > 0 ? bytes / seconds : 0;
    json::Object result;
    result.add("asked_rate", options.rate).add("achieved_rate", achieved);
    result.add("reached", options.rate == 0 || achieved >= (1 - rate_tolerance) * options.rate);
    return result.add("written", bytes).add("traffic_seconds", seconds);
}

}  // namespace idlewave::probe::contention
