// A run of a victim, without traffic or beside it. The file of --output gets a line an iteration, as it comes:
// iteration,start_ns,seconds,traffic_bytes, what each counter grew, the bytes that the memory controllers moved,
// latency and bandwidth of each level of memory. A value that there is not is empty. The summary is printed at the end.
#pragma once

#include <sys/resource.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "contention/caches.hpp"
#include "contention/counters.hpp"
#include "contention/memory_counters.hpp"
#include "contention/memory_probes.hpp"
#include "contention/traffic.hpp"
#include "contention/victims.hpp"

namespace idlewave::probe::contention {

struct RunOptions {
    VictimOptions victim;
    TrafficOptions traffic;
    int victim_cpu = -1;  // -1: the first that the process may use
    std::int64_t iterations = 20;
    bool without_probes = false;
    std::optional<std::uint64_t> l2_event;
    std::filesystem::path counter_folders = event_sources;  // where the kernel shows what counts
    std::string output;
};

inline std::vector<CommandOption> arguments_of(RunOptions& options) {
    std::vector<CommandOption> result = {
        {"victim", "NAME", std::string("what computes: ") + victim_names + "; a command follows behind --",
         text_to(options.victim.name)},
        {"victim-cpu", "C", "the victim's CPU (default: the first that the process may use)",
         integer_to(options.victim_cpu, 0, most_cpus - 1)},
        {"iterations", "N", "iterations of the victim (20)", integer_to(options.iterations, 1, 1'000'000'000)},
        {"interval", "S", "seconds from sample to sample of the victim idle (0.05)",
         number_to(options.victim.interval, 0.001, 3600)},
        {"without-probes", "", "sample no latency and bandwidth of memory", flag_to(options.without_probes)},
        {"l2-event", "CODE", "the processor's number for misses of the second-level cache",
         [&](const auto& option, const auto& text) {
             options.l2_event = static_cast<std::uint64_t>(integer(option, text, 0, std::int64_t{1} << 52));
         }},
        {"output", "FILE", "the file that gets a line an iteration", text_to(options.output)},
    };
    for (CommandOption& each : arguments_of(options.traffic)) result.push_back(std::move(each));
    return result;
}

// Takes the words behind "--" from the command line as the victim's command. Returns how many words are left.
inline int split_command(int argc, char* const* argv, std::vector<std::string>& command) {
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) != "--") continue;
        command.assign(argv + i + 1, argv + argc);
        return i;
    }
    return argc;
}

// Checks the options after parsing, and fills in the CPUs.
inline void complete(RunOptions& options) {
    if (options.output.empty()) throw refused("--output: expected the file for what is recorded");
    if ((options.victim.name == "command") == options.victim.command.empty()) {
        throw refused("--victim command: expected the command behind --, and with no other victim");
    }
    const std::vector<int> allowed = allowed_cpus();
    if (options.victim_cpu < 0) options.victim_cpu = allowed.front();
    if (options.traffic.rate > 0 && options.traffic.cpus.empty()) {
        if (allowed.size() < 2) throw refused("--writer-cpus: expected a CPU beside the victim's; there is none");
        options.traffic.cpus = {allowed[options.victim_cpu == allowed.front() ? 1 : 0]};
    }
}

// The traffic is handled on the victim's core.
inline bool shares_core(const RunOptions& options) {
    return options.traffic.cpus == std::vector<int>{options.victim_cpu};
}

namespace detail {

inline std::string cell(double value) {
    return std::isnan(value) ? "" : json::value(value).text;
}

constexpr std::array<const char*, levels> level_names = {"l1", "l2", "l3", "dram"};

inline std::string header() {
    std::string result = "iteration,start_ns,seconds,traffic_bytes";
    for (const char* const name : counter_names) result.append(",counter.").append(name);
    result += ",counter.memory_bytes";
    for (const char* const name : level_names) result.append(",probe.latency_").append(name).append("_s");
    for (const char* const name : level_names) result.append(",probe.bandwidth_").append(name).append("_Bps");
    return result + "\n";
}

}  // namespace detail

struct Iteration {
    std::int64_t number = 0;
    std::int64_t start_ns = 0;
    double seconds = 0;
    double traffic_bytes = 0;
    CounterValues counted{};
    double memory_bytes = std::numeric_limits<double>::quiet_NaN();
    MemorySample memory{};

    [[nodiscard]] std::string line() const {
        std::string result = std::to_string(number) + "," + std::to_string(start_ns) + "," + detail::cell(seconds) +
                             "," + detail::cell(traffic_bytes);
        for (const double value : counted) result.append(",").append(detail::cell(value));
        result.append(",").append(detail::cell(memory_bytes));
        for (const LevelSample& level : memory) result.append(",").append(detail::cell(level.latency_s));
        for (const LevelSample& level : memory) result.append(",").append(detail::cell(level.bandwidth));
        return result + "\n";
    }
};

template <class Traffic>
class Run {
  public:
    Run(const RunOptions& options, Traffic& traffic, CounterSource& source)
        : options_(options),
          traffic_(traffic),
          caches_(cache_sizes(options.victim_cpu)),
          counters_(source, options.l2_event),
          memory_counters_(source, options.counter_folders),
          victim_(new_victim(options.victim, caches_, source, options.l2_event)) {
        if (!options.without_probes) probes_ = std::make_unique<MemoryProbes>(caches_);
    }

    // The first iteration is no sample: its result is what those of the others must be.
    json::Object measure() {
        RecordingFile file(options_.output);
        file.write(detail::header());
        file.flush();
        const double expected = computed();
        check(options_.victim.name, *victim_, expected, expected);
        if (probes_) probes_->sample();
        traffic_.start();
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        const std::uint64_t before = traffic_.bytes();
        std::int64_t done = 0;
        for (; done < options_.iterations && !stop_asked(); ++done) {
            file.write(iterate(done, expected).line());
            file.flush();
            traffic_.check();
            print_progress(static_cast<double>(done + 1) / static_cast<double>(options_.iterations));
        }
        const auto written = static_cast<double>(traffic_.bytes() - before);
        const double seconds = static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin) * 1e-9;
        traffic_.stop();
        file.close();
        return summary(done, written, seconds);
    }

  private:
    double computed() {
        victim_->reset();
        return victim_->run();
    }

    Iteration iterate(std::int64_t number, double expected) {
        Iteration result;
        result.number = number;
        victim_->reset();
        result.start_ns = nanoseconds(CLOCK_REALTIME);
        const MemoryCounters::Counts memory_before = memory_counters_.read();
        const std::uint64_t bytes_before = traffic_.bytes();
        const CounterValues counted_before = counters_.read();
        const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
        const double found = victim_->run();
        const std::int64_t end = nanoseconds(CLOCK_MONOTONIC);
        result.counted = counted_since(counted_before);
        result.traffic_bytes = static_cast<double>(traffic_.bytes() - bytes_before);
        result.memory_bytes = memory_counters_.bytes_since(memory_before);
        result.seconds = static_cast<double>(end - begin) * 1e-9;
        check(options_.victim.name, *victim_, found, expected);
        if (probes_) result.memory = probes_->sample();
        return result;
    }

    // What was counted in the iteration: by counters of its own, which begin with it, or by those of this thread.
    [[nodiscard]] CounterValues counted_since(const CounterValues& before) const {
        if (const Counters* const own = victim_->counters()) return own->read();
        CounterValues grown = counters_.read();
        for (std::size_t i = 0; i < counters; ++i) grown[i] -= before[i];
        return grown;
    }

    json::Object summary(std::int64_t done, double written, double seconds) const {
        json::Object result;
        result.add("probe", "contention").add("host", host_name()).add("victim", options_.victim.name);
        result.add("victim_cpu", options_.victim_cpu).add("writer_cpus", cpu_list(options_.traffic.cpus));
        result.add("iterations", done).add("interrupted", stop_asked());
        result.append(describe_rate(options_.traffic, written, seconds));
        const Counters* const own = victim_->counters();
        json::Object counted = (own != nullptr ? *own : counters_).describe();
        result.add("counters", counted.add("memory_bytes", memory_counters_.describe()));
        json::Object caches;
        caches.add("l1", caches_.l1).add("l2", caches_.l2).add("l3", caches_.l3).add("known", caches_.known);
        return result.add("caches", caches);
    }

    const RunOptions& options_;
    Traffic& traffic_;
    CacheSizes caches_;
    Counters counters_;
    MemoryCounters memory_counters_;
    std::unique_ptr<Victim> victim_;
    std::unique_ptr<MemoryProbes> probes_;
};

}  // namespace idlewave::probe::contention
