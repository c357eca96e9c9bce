// Injected noise: takes a core away at known times for known lengths, by real-time priority. Periodic detours begin on
// an absolute grid. Between random detours the core is available for an exponential time, as in the simulator's Poisson
// noise. The summary has the begin and the length that each detour really had.

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/failure.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "common/median.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"

namespace {

using namespace idlewave::probe;

struct InjectOptions {
    int cpu = -1;
    double period_us = 0;
    double length_us = 0;
    bool random = false;
    std::uint64_t seed = 1;
    int priority = 60;
    double seconds = 0;
    std::string output;
    std::string detours;
};

struct Injection {
    std::int64_t wanted_ns;  // on CLOCK_MONOTONIC, as begin_ns
    std::int64_t begin_ns;
    std::int64_t raw_ns;  // the begin on CLOCK_MONOTONIC_RAW, which is never adjusted
    double length_ns;
};

struct Injected {
    std::vector<Injection> detours;  // the first ones, as far as there is room
    std::size_t count = 0;
    std::size_t missed = 0;  // times of the grid that were over before the core was taken
    double duration_s = 0;
    double tick_ns = 0;
};

CommandLine program_of(InjectOptions& options) {
    constexpr std::int64_t many = 1'000'000'000;
    return {
        "idlewave-inject",
        "Injects noise: takes a core away for a known time, repeatedly. Needs the permission for real-time\n"
        "priority (CAP_SYS_NICE, or a limit of RLIMIT_RTPRIO).",
        {{"cpu", "C", "the CPU to take away", integer_to(options.cpu, 0, most_cpus - 1)},
         {"period-us", "P",
          "time from the begin of a detour to the begin of the next; with --random the mean time between two",
          number_to(options.period_us, 10, 1e8)},
         {"length-us", "D", "length of a detour", number_to(options.length_us, 0.1, 1e7)},
         {"random", "", "draw exponential times between detours (default: a fixed period)", flag_to(options.random)},
         {"seed", "K", "seed of the random times (1)", integer_to(options.seed, 0, many)},
         {"priority", "N", "real-time priority, SCHED_FIFO (60)", integer_to(options.priority, 1, 99)},
         {"seconds", "S", "length of the injection, in seconds", number_to(options.seconds, 0.001, 86400)},
         {"output", "FILE", "write the summary to this file, too", text_to(options.output)},
         {"detours", "FILE",
          "write begin (CLOCK_MONOTONIC_RAW) and length of each detour, in ns (of 4 million at most)",
          text_to(options.detours)}}};
}

void complete(const InjectOptions& options) {
    if (options.cpu < 0) throw refused("--cpu: expected the CPU to take away");
    if (options.period_us == 0) throw refused("--period-us: expected the time between detours");
    if (options.length_us == 0) throw refused("--length-us: expected the length of the detours");
    if (options.seconds == 0) throw refused("--seconds: expected the length of the injection");
    if (!options.random && options.length_us >= options.period_us) {
        throw refused("--length-us: expected less than the period");
    }
}

void sleep_until(std::int64_t time_ns) {
    constexpr std::int64_t second = 1'000'000'000;
    const timespec time{time_ns / second, time_ns % second};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);  // a signal may cut it short
}

// Computes for `length`. Returns the real length by the counter.
Ticks keep_busy(Ticks length) {
    const Ticks begin = read_ticks();
    Ticks now = begin;
    while (now - begin < length) now = read_ticks();
    return now - begin;
}

Injected inject(const InjectOptions& options) {
    Injected result;
    result.tick_ns = measure_tick_length(20'000'000);
    const auto length = static_cast<Ticks>(options.length_us * 1000 / result.tick_ns);
    constexpr double most = 4e6;  // about 100 MB; the summary's medians are over these
    result.detours.reserve(
        static_cast<std::size_t>(std::min(most, 2 * options.seconds * 1e6 / options.period_us + 100)));

    std::mt19937_64 random(options.seed);
    std::exponential_distribution<double> gap(1 / (options.period_us * 1000));
    const double period_ns = options.period_us * 1000;
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC) + 1'000'000;
    const std::int64_t end = begin + static_cast<std::int64_t>(options.seconds * 1e9);
    std::int64_t next = options.random ? begin + std::llround(gap(random)) : begin;
    for (std::int64_t k = 0; next < end;) {
        sleep_until(next);
        if (stop_asked()) break;
        const std::int64_t now = nanoseconds(CLOCK_MONOTONIC);
        const std::int64_t raw = nanoseconds(CLOCK_MONOTONIC_RAW);
        const Ticks took = keep_busy(length);
        ++result.count;
        if (result.detours.size() < result.detours.capacity()) {
            result.detours.push_back({next, now, raw, static_cast<double>(took) * result.tick_ns});
        }
        const std::int64_t after = nanoseconds(CLOCK_MONOTONIC);
        if (options.random) {
            next = after + std::llround(gap(random));
            continue;
        }
        // The grid does not shift: a detour that could not begin at its time is left out.
        do {
            next = begin + std::llround(static_cast<double>(++k) * period_ns);
            if (next < std::min(after, end)) ++result.missed;
        } while (next < after);
    }
    result.duration_s = static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin) * 1e-9;
    return result;
}

std::string summary_of(const InjectOptions& options, const Injected& injected) {
    std::vector<double> lengths;
    std::vector<double> gaps;
    std::vector<double> late;
    double sum = 0;
    for (std::size_t i = 0; i < injected.detours.size(); ++i) {
        const Injection& detour = injected.detours[i];
        lengths.push_back(detour.length_ns);
        sum += detour.length_ns;
        late.push_back(static_cast<double>(detour.begin_ns - detour.wanted_ns));
        if (i > 0) gaps.push_back(static_cast<double>(detour.begin_ns - injected.detours[i - 1].begin_ns));
    }
    const double count = static_cast<double>(std::max<std::size_t>(1, lengths.size()));
    json::Object summary;
    summary.add("probe", "inject").add("host", host_name()).add("pid", getpid()).add("cpu", options.cpu);
    summary.add("period_ns", options.period_us * 1000).add("length_ns", options.length_us * 1000);
    summary.add("random", options.random).add("seed", options.seed).add("priority", options.priority);
    summary.add("tick_ns", injected.tick_ns).add("duration_s", injected.duration_s);
    summary.add("injected", injected.count).add("missed", injected.missed);
    summary.add("median_length_ns", upper_median(lengths)).add("mean_length_ns", sum / count);
    summary.add("longest_ns", lengths.empty() ? 0.0 : *std::max_element(lengths.begin(), lengths.end()));
    summary.add("median_gap_ns", upper_median(gaps)).add("median_late_ns", upper_median(late));
    return summary.add("interrupted", stop_asked()).text().text + "\n";
}

void write_detours(const std::string& path, const Injected& injected) {
    RecordingFile file(path);
    file.write("begin_raw_ns,length_ns\n");
    for (const Injection& detour : injected.detours) {
        file.write(std::to_string(detour.raw_ns) + "," + std::to_string(std::llround(detour.length_ns)) + "\n");
    }
    file.close();
}

void run(const InjectOptions& options) {
    pin(options.cpu);
    use_priority(options.priority);
    stop_on_signals();
    pthread_setname_np(pthread_self(), "idlewave-inject");  // by which the kernel's events know it
    const Injected injected = inject(options);
    use_no_priority();  // the rest must not be a detour that was not asked for
    if (!options.detours.empty()) write_detours(options.detours, injected);
    const std::string summary = summary_of(options, injected);
    if (!options.output.empty()) {
        RecordingFile file(options.output);
        file.write(summary);
        file.close();
    }
    std::fputs(summary.c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language's signature
    return report_failures("idlewave-inject", [&] {
        InjectOptions options;
        if (!parse(program_of(options), argc, argv)) return;
        complete(options);
        run(options);
    });
}
