// Contention in memory: writers on some cores, and a victim that computes on another.
//
// idlewave-contention --victim NAME --output FILE [--rate B/S ...]: a run of a victim (measurement.hpp).
// idlewave-contention --rate B/S --seconds S: traffic alone.

#include <cstdio>
#include <string>

#include "common/arguments.hpp"
#include "common/failure.hpp"
#include "common/stop.hpp"
#include "contention/measurement.hpp"
#include "contention/writers.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::contention;

constexpr const char* program = "idlewave-contention";

void print(const json::Object& summary) {
    print_line(summary.text().text);
}

void run_victim(RunOptions& options) {
    complete(options);
    pin(options.victim_cpu);
    Writers writers(options.traffic, shares_core(options));
    KernelCounters source;
    Run<Writers> run(options, writers, source);
    print(run.measure());
}

void only_write(TrafficOptions& options, double seconds) {
    if (options.rate == 0) throw refused("--rate: expected the bytes per second to write, or --victim");
    if (options.cpus.empty()) options.cpus = {allowed_cpus().back()};
    Writers writers(options, false);
    writers.start();
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    const std::uint64_t before = writers.bytes();
    double passed = 0;
    while (passed < seconds && !stop_asked()) {
        constexpr double piece = 0.02;
        const timespec length{0, static_cast<long>(std::min(piece, seconds - passed) * 1e9)};
        nanosleep(&length, nullptr);
        writers.check();
        passed = static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin) * 1e-9;
        print_progress(passed / seconds);
    }
    const auto written = static_cast<double>(writers.bytes() - before);
    passed = static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin) * 1e-9;
    writers.stop();
    json::Object summary;
    summary.add("probe", "contention").add("host", host_name()).add("writer_cpus", cpu_list(options.cpus));
    print(summary.append(describe_rate(options, written, passed)).add("interrupted", stop_asked()));
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language's signature
    return report_failures(program, [&] {
        RunOptions options;
        double seconds = 10;
        CommandLine described{program,
                              "Writes into memory at a rate, and times a victim that computes on another core.",
                              arguments_of(options)};
        described.arguments.push_back(
            {"seconds", "S", "without a victim: how long to write (10)", number_to(seconds, 0.01, 1e7)});
        const int own = split_command(argc, argv, options.victim.command);
        if (!parse(described, own, argv)) return;
        stop_on_signals();
        if (options.victim.name.empty()) {
            only_write(options.traffic, seconds);
        } else {
            run_victim(options);
        }
    });
}
