// The selfish detour benchmark: what takes the CPU away from a loop that wants nothing but the time.
//
// A loop reads the processor's time counter. An undisturbed iteration takes t_min; one above 9 t_min is a detour
// of length t - t_min (P. Beckman, K. Iskra, K. Yoshii, S. Coghlan: The influence of operating systems on the
// performance of collective operations at extreme scale, 2006). There t_min is the shortest iteration; here it is
// the mean of the shortest of many in a row, since a counter that goes in steps may be read twice within one, and
// some then say 1 tick, which is no iteration's time. Calibration and measurement run the same code: only the
// threshold differs. The recording is bounded in time and in records; what does not fit is counted.
//
// idlewave-detour --cpu N --seconds S [--records N] --output FILE.csv       a JSON summary goes to standard
// output

#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/proc.hpp"
#include "common/ticks.hpp"

namespace {

using idlewave::Ticks;

constexpr Ticks never = std::numeric_limits<Ticks>::max();
constexpr Ticks threshold_factor = 9;

// The loop ends when the counter passes this. A signal handler sets it to 0, so it can be neither local nor
// const.
std::atomic<Ticks> deadline{never};
static_assert(std::atomic<Ticks>::is_always_lock_free);

extern "C" void stop(int /*signal*/) {
    deadline.store(0, std::memory_order_relaxed);
}

struct Options {
    int cpu = -1;
    double seconds = 0;
    std::size_t records = 1'000'000;
    std::string output;
};

struct Detour {
    Ticks begin;   // the last reading before it
    Ticks length;  // of the iteration, t_min included
};

struct Recording {
    std::vector<Detour> detours;
    std::size_t count = 0;
    std::size_t dropped = 0;
    Ticks dropped_ticks = 0;  // iterations, t_min included
    Ticks begin = 0;
    Ticks end = 0;
    Ticks shortest = never;
};

// The loop of the benchmark: keeps every iteration of at least so many ticks. Not inlined, so that calibration and
// measurement are one piece of machine code.
__attribute__((noinline)) void record(Recording& recording, Ticks least) {
    Detour* const detours = recording.detours.data();
    const std::size_t capacity = recording.detours.size();
    std::size_t count = 0;
    Ticks shortest = never;
    recording.dropped = 0;
    recording.dropped_ticks = 0;
    for (int i = 0; i < 1000; ++i) idlewave::read_ticks();  // coming here from elsewhere is no detour
    const Ticks begin = idlewave::read_ticks();
    Ticks before = begin;
    while (before < deadline.load(std::memory_order_relaxed)) {
        const Ticks now = idlewave::read_ticks();
        const Ticks length = now - before;
        shortest = length < shortest ? length : shortest;
        if (length >= least) [[unlikely]] {
            if (count < capacity) {
                detours[count++] = {before, length};
            } else {
                ++recording.dropped;
                recording.dropped_ticks += length;
            }
        }
        before = now;
    }
    recording.count = count;
    recording.begin = begin;
    recording.end = before;
    recording.shortest = shortest;
}

// Records for so long, or until a signal comes; not at all if one has come.
void record_for(Recording& recording, Ticks least, double seconds, double tick_ns) {
    Ticks current = deadline.load();
    if (current == 0) return;
    const Ticks end = idlewave::read_ticks() + static_cast<Ticks>(seconds * 1e9 / tick_ns);
    if (deadline.compare_exchange_strong(current, end)) record(recording, least);
}

// Roughly; the run itself gives the exact value.
double estimate_tick_length() {
    const idlewave::Instant first = idlewave::instant();
    idlewave::Instant last = first;
    while (last.ns - first.ns < 10'000'000) last = idlewave::instant();
    return idlewave::tick_length(first, last);
}

// t_min in whole ticks: of a counter coarser than the loop it is one, which then is the resolution. In several
// short rounds, since a processor may take a while to become fast. Not if a signal comes before.
std::optional<Ticks> calibrate(double tick_ns) {
    constexpr std::size_t in_a_row = 64;
    constexpr int rounds = 10;
    Recording all;
    all.detours.resize(1 << 17);
    Ticks shortest = never;
    for (int round = 0; round < rounds || shortest == never; ++round) {
        record_for(all, 0, 0.002, tick_ns);
        if (deadline.load() == 0) return std::nullopt;
        for (std::size_t i = 0; i + in_a_row < all.count; i += in_a_row) {
            shortest = std::min(shortest, all.detours[i + in_a_row].begin - all.detours[i].begin);
        }
    }
    return std::max<Ticks>(1, (shortest + in_a_row / 2) / in_a_row);
}

[[noreturn]] void fail(int status, const std::string& message) {
    std::fprintf(stderr, "idlewave-detour: %s\n", message.c_str());
    std::exit(status);
}

[[noreturn]] void usage(int status) {
    std::fputs(
        "usage: idlewave-detour --cpu N --seconds S [--records N] --output FILE.csv\n"
        "Records for S seconds what takes CPU N away from a loop, at most N detours (1000000).\n"
        "The file has the columns start_ns,length_ns (three decimals: picoseconds), times from the "
        "recording's\n"
        "start; a JSON summary goes to standard output.\n",
        status == 0 ? stdout : stderr);
    std::exit(status);
}

double number(const char* name, const char* text, double low, double high) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    const bool inside = value >= low && value <= high;
    if (end == text || *end != '\0' || !inside) {
        fail(2, std::string("--") + name + ": expected a number from " + std::to_string(low) + " to " +
                    std::to_string(high) + ", found '" + text + "'");
    }
    return value;
}

Options parse(int argc, char* const* argv) {
    static const option known[] = {
        {"cpu", required_argument, nullptr, 'c'},     {"seconds", required_argument, nullptr, 's'},
        {"records", required_argument, nullptr, 'r'}, {"output", required_argument, nullptr, 'o'},
        {"help", no_argument, nullptr, 'h'},          {nullptr, 0, nullptr, 0},
    };
    Options options;
    for (int c = 0; (c = getopt_long(argc, argv, "h", known, nullptr)) != -1;) {
        if (c == 'c') {
            options.cpu = static_cast<int>(number("cpu", optarg, 0, CPU_SETSIZE - 1));
        } else if (c == 's') {
            options.seconds = number("seconds", optarg, 0.001, 86400);
        } else if (c == 'r') {
            options.records = static_cast<std::size_t>(number("records", optarg, 1, 1e9));
        } else if (c == 'o') {
            options.output = optarg;
        } else {
            usage(c == 'h' ? 0 : 2);
        }
    }
    if (optind < argc || options.cpu < 0 || options.seconds == 0 || options.output.empty()) usage(2);
    return options;
}

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        fail(1, "CPU " + std::to_string(cpu) + " cannot be used: " + std::strerror(errno));
    }
}

void on_signal_stop() {
    struct sigaction action{};
    action.sa_handler = stop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

std::string clock_source() {
    std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::string name;
    std::getline(file, name);
    return name.empty() ? "unknown" : name;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

// What the system counted while the loop ran.
struct Surroundings {
    idlewave::Interrupts interrupts;
    idlewave::CpuTime time;
    rusage own{};

    explicit Surroundings(int cpu) : interrupts(idlewave::read_interrupts(cpu)), time(idlewave::read_cpu_time(cpu)) {
        getrusage(RUSAGE_SELF, &own);
    }
};

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void print_interrupts(const idlewave::Interrupts& before, const idlewave::Interrupts& after) {
    const char* separator = "";
    std::printf("  \"interrupts\": {");
    for (const auto& [name, count] : after.counts) {
        const auto earlier = before.counts.find(name);
        const std::uint64_t delta = count - (earlier == before.counts.end() ? 0 : earlier->second);
        if (delta == 0) continue;
        std::printf("%s\n    %s: {\"count\": %llu, \"meaning\": %s}", separator, quoted(name).c_str(),
                    static_cast<unsigned long long>(delta), quoted(after.meanings.at(name)).c_str());
        separator = ",";
    }
    std::printf("\n  },\n");
}

void print_summary(const Options& options, const Recording& recording, Ticks shortest, double tick_ns,
                   const Surroundings& before, const Surroundings& after) {
    const auto ns = [&](Ticks ticks) { return static_cast<double>(ticks) * tick_ns; };
    const double own = seconds_of(after.own.ru_utime) + seconds_of(after.own.ru_stime) -
                       seconds_of(before.own.ru_utime) - seconds_of(before.own.ru_stime);
    std::printf("{\n  \"cpu\": %d,\n  \"counter\": \"%s\",\n  \"clock_source\": %s,\n  \"tick_ns\": %.9f,\n",
                options.cpu, idlewave::ticks_source(), quoted(clock_source()).c_str(), tick_ns);
    std::printf("  \"resolution_ns\": %.3f,\n  \"threshold_ns\": %.3f,\n  \"shortest_seen_ns\": %.3f,\n", ns(shortest),
                ns(threshold_factor * shortest), ns(recording.shortest));
    std::printf("  \"duration_ns\": %.3f,\n  \"detours\": %zu,\n  \"dropped\": %zu,\n  \"dropped_ns\": %.3f,\n",
                ns(recording.end - recording.begin), recording.count, recording.dropped,
                ns(recording.dropped_ticks - recording.dropped * shortest));
    print_interrupts(before.interrupts, after.interrupts);
    std::printf("  \"voluntary_switches\": %ld,\n  \"involuntary_switches\": %ld,\n",
                after.own.ru_nvcsw - before.own.ru_nvcsw, after.own.ru_nivcsw - before.own.ru_nivcsw);
    std::printf("  \"own_cpu_s\": %.6f,\n  \"cpu_busy_s\": %.2f,\n  \"steal_s\": %.2f,\n", own,
                after.time.busy - before.time.busy, after.time.steal - before.time.steal);
    std::printf("  \"interrupted\": %s\n}\n", deadline.load() == 0 ? "true" : "false");
}

void write_detours(std::FILE* file, const std::string& name, const Recording& recording, Ticks shortest,
                   double tick_ns) {
    std::fputs("start_ns,length_ns\n", file);
    for (std::size_t i = 0; i < recording.count; ++i) {
        const Detour& detour = recording.detours[i];
        std::fprintf(file, "%.3f,%.3f\n", static_cast<double>(detour.begin - recording.begin) * tick_ns,
                     static_cast<double>(detour.length - shortest) * tick_ns);
    }
    if (std::fclose(file) != 0) fail(1, name + " cannot be written: " + std::strerror(errno));
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(misc-const-correctness): the language's signature
    const Options options = parse(argc, argv);
    std::FILE* const file = std::fopen(options.output.c_str(), "w");
    if (file == nullptr) fail(1, options.output + " cannot be written: " + std::strerror(errno));
    pin(options.cpu);
    on_signal_stop();
    Recording recording;
    recording.detours.resize(options.records);  // writes every page, so none is missing later
    const double estimate = estimate_tick_length();
    const std::optional<Ticks> calibrated = calibrate(estimate);
    if (!calibrated) fail(1, "interrupted before the measurement began");
    const Ticks shortest = *calibrated;
    const Ticks least = threshold_factor * shortest + 1;

    record_for(recording, least, 0.02, estimate);  // a rehearsal, thrown away
    const Surroundings before(options.cpu);
    const idlewave::Instant first = idlewave::instant();
    record_for(recording, least, options.seconds, estimate);
    const idlewave::Instant last = idlewave::instant();
    const Surroundings after(options.cpu);

    const double tick_ns = idlewave::tick_length(first, last);
    write_detours(file, options.output, recording, shortest, tick_ns);
    print_summary(options, recording, shortest, tick_ns, before, after);
    return 0;
}
