// What probes of all ranks of a job share: where the ranks run, waiting without disturbing those that measure, and
// ending when told to.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace idlewave {

// A command line that has no meaning. Every rank finds the same; rank 0 says it.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline double parse_number(const std::string& name, const std::string& text, double low, double high) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool inside = value >= low && value <= high;
    if (status != std::errc() || end != text.data() + text.size() || !inside) {
        std::array<char, 64> range{};
        std::snprintf(range.data(), range.size(), "%g to %g", low, high);
        throw UsageError(name + ": expected a number from " + range.data() + ", found '" + text + "'");
    }
    return value;
}

// For what only one rank finds out. The words are given time, for an abort may outrun them.
[[noreturn]] inline void fail(const std::string& program, const std::string& message) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), message.c_str());
    std::fflush(stderr);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::exit(1);
}

// ---- ranks and places

inline int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

struct Place {
    std::array<char, 256> host{};
    int cpus = 0;  // that it may use
    int cpu = -1;  // that it is bound to; -1: to none, or to several
    int pinned_by_us = 0;
    cpu_set_t allowed{};

    [[nodiscard]] std::string_view name() const { return host.data(); }
};

inline std::vector<Place> gather(const Place& mine) {
    std::vector<Place> places(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
    MPI_Allgather(&mine, sizeof(Place), MPI_BYTE, places.data(), sizeof(Place), MPI_BYTE, MPI_COMM_WORLD);
    return places;
}

inline int nth_cpu(const cpu_set_t& set, int n) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set) && n-- == 0) return cpu;
    }
    return -1;
}

inline Place my_place() {
    Place place;
    gethostname(place.host.data(), place.host.size() - 1);
    CPU_ZERO(&place.allowed);
    sched_getaffinity(0, sizeof place.allowed, &place.allowed);
    place.cpus = CPU_COUNT(&place.allowed);
    if (place.cpus == 1) place.cpu = nth_cpu(place.allowed, 0);
    return place;
}

// A rank that is bound to one CPU stays there. Ranks of a host that may use the same CPUs take one each, if there are
// enough; if not, they stay free, and those that measure are bound meanwhile (Bound).
inline std::vector<Place> take_places() {
    Place mine = my_place();
    const std::vector<Place> all = gather(mine);
    const int rank = rank_of(MPI_COMM_WORLD);
    int before = 0;
    int alike = 0;
    for (int other = 0; other < static_cast<int>(all.size()); ++other) {
        const Place& place = all[static_cast<std::size_t>(other)];
        if (place.name() != mine.name() || CPU_EQUAL(&place.allowed, &mine.allowed) == 0) continue;
        ++alike;
        before += other < rank ? 1 : 0;
    }
    if (mine.cpus > 1 && alike <= mine.cpus) {
        const int cpu = nth_cpu(mine.allowed, before);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        mine.pinned_by_us = sched_setaffinity(0, sizeof one, &one) == 0 ? 1 : 0;
        if (mine.pinned_by_us != 0) mine.cpu = cpu;
    }
    return gather(mine);
}

// While ranks share CPUs: the two that measure are on different ones for so long. Left to the system, both may stay on
// one: it moves what is busy, and a rank that waits for a message yields.
class Bound {
  public:
    enum class Where { first, last };

    Bound(const Place& place, Where where) : allowed_(place.allowed), bound_(place.cpu < 0 && place.cpus > 1) {
        if (!bound_) return;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(nth_cpu(allowed_, where == Where::first ? 0 : place.cpus - 1), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;
    ~Bound() {
        if (bound_) sched_setaffinity(0, sizeof allowed_, &allowed_);
    }

  private:
    cpu_set_t allowed_;
    bool bound_;
};

// ---- waiting

inline void nap() {
    constexpr timespec length{0, 200'000};
    nanosleep(&length, nullptr);
}

// Until such a message can be received; its source. Whoever waits so leaves its core to those that measure.
inline int await_message(int source, int tag) {
    MPI_Status status;
    int there = 0;
    while (true) {
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &there, &status);
        if (there != 0) return status.MPI_SOURCE;
        nap();
    }
}

// Until all ranks are here.
inline void meet() {
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) nap();
}

// ---- ending when told to

inline volatile sig_atomic_t told_to_end = 0;

// SIGINT and SIGTERM end the measurement, not the process: rank 0 sees to it that all stop.
inline void end_when_told() {
    struct sigaction action{};
    action.sa_handler = [](int) { told_to_end = 1; };
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

// ---- what the system did meanwhile

// How often something else took this thread's core away.
inline std::int64_t involuntary_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

// ---- the summary

inline std::string json_text(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

inline std::string library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
    int length = 0;
    MPI_Get_library_version(library.data(), &length);
    return library.data();
}

inline std::string places_json(const std::vector<Place>& places) {
    std::string text = "[";
    for (const Place& place : places) {
        if (text.size() > 1) text += ", ";
        text += "{\"host\": " + json_text(place.name()) + ", \"cpu\": " + std::to_string(place.cpu) +
                ", \"pinned_by_probe\": " + (place.pinned_by_us != 0 ? "true" : "false") + "}";
    }
    return text + "]";
}

inline std::string columns_json(const std::vector<std::string_view>& columns) {
    std::string text = "[";
    for (const std::string_view column : columns) text += (text.size() > 1 ? ", " : "") + json_text(column);
    return text + "]";
}

// Replaces the file at once: whoever reads it finds it whole.
inline bool write_whole(const std::string& path, const std::string& text) {
    const std::string unfinished = path + ".part";
    std::FILE* file = std::fopen(unfinished.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fputs(text.c_str(), file) >= 0;
    return std::fclose(file) == 0 && written && std::rename(unfinished.c_str(), path.c_str()) == 0;
}

inline void print_progress(double fraction) {
    std::printf("progress %.3f\n", std::clamp(fraction, 0.0, 1.0));
    std::fflush(stdout);
}

}  // namespace idlewave
