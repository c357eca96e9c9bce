// Rounds of phases: latency, idle, bandwidth, idle, allreduce, idle. Rank 0 leads them, and prints JSON on standard
// output, a line an event; what is in memory does not grow with time.
//
// {"line": "begin", …}  where the ranks are, and the settings
// {"line": "phase", …}  after each phase, with what was measured in it; a phase that a signal ends early has none
// {"line": "load", …}   after each round: the share of a CPU that the ranks took in active and in idle phases until now
// {"line": "end", …}    whether the time was over or a signal came
//
// After each line of a phase rank 0 sleeps for the gap, in which the reader can read counters.
#pragma once

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "network/job.hpp"
#include "network/mpi_tool.hpp"
#include "network/peer_exchange.hpp"
#include "overtime/orders.hpp"
#include "overtime/single_times.hpp"
#include "overtime/tests.hpp"

namespace idlewave::probe::overtime {

struct Options {
    double seconds = 60;
    double phase = 1;
    double idle = 1;
    double gap = 0.01;
    std::vector<std::int64_t> sizes = {8, 1 << 20, 8};
    int peers = 1;
    std::uint64_t seed = 1;
};

constexpr std::int64_t most_size = 1 << 30;

inline std::vector<CommandOption> arguments_of(Options& options) {
    return {
        {"seconds", "S", "time in seconds (60); it ends after an idle phase", number_to(options.seconds, 0.001, 1e9)},
        {"phase", "S", "length of a test in seconds (1)", number_to(options.phase, 0.001, 300)},
        {"idle", "F", "length of the idle phase after it, in lengths of the test (1)",
         number_to(options.idle, 0, 1000)},
        {"gap", "S", "pause after each phase in seconds (0.01)", number_to(options.gap, 0, 10)},
        {"sizes", "B,B,B", "bytes of latency, bandwidth and allreduce (8,1048576,8)",
         integers_to(options.sizes, 0, most_size)},
        {"peers", "N", "number of ranks, the last ones, with which rank 0 exchanges in turn (1)",
         integer_to(options.peers, 1, 1 << 30)},
        {"seed", "K", "seed of the random samples for medians (1)",
         integer_to(options.seed, 0, 1'000'000'000'000'000)}};
}

inline void check(const Options& options, int ranks) {
    if (options.sizes.size() != 3) {
        throw refused("--sizes: expected three sizes, of latency, bandwidth and allreduce, found " +
                      std::to_string(options.sizes.size()));
    }
    if (options.sizes[1] < 1) throw refused("--sizes: expected a bandwidth of at least 1 byte, found 0");
    if (options.sizes[2] < 8 || options.sizes[2] % 8 != 0) {
        throw refused("--sizes: expected an allreduce of whole numbers of 8 bytes, found " +
                      std::to_string(options.sizes[2]) + " bytes");
    }
    if (options.peers >= ranks) {
        throw refused("--peers: expected fewer than the " + std::to_string(ranks) + " ranks, found " +
                      std::to_string(options.peers));
    }
}

// The time of this process, and what it took of a CPU, in active and in idle phases.
class Load {
  public:
    void begin(Phase phase) {
        const Reading now = read();
        if (is_active(phase_) || phase_ == Phase::idle) {
            const std::size_t kind = phase_ == Phase::idle ? 1 : 0;
            lasted_[kind] += now.wall_ns - before_.wall_ns;
            took_[kind] += now.cpu_ns - before_.cpu_ns;
        }
        before_ = now;
        phase_ = phase;
    }

    // In active and in idle phases; 0 before there is one.
    [[nodiscard]] std::array<double, 2> shares() const {
        std::array<double, 2> result{};
        for (std::size_t i = 0; i < 2; ++i) {
            if (lasted_[i] > 0) result[i] = static_cast<double>(took_[i]) / static_cast<double>(lasted_[i]);
        }
        return result;
    }

  private:
    struct Reading {
        std::int64_t wall_ns = 0;
        std::int64_t cpu_ns = 0;
    };
    static Reading read() { return {nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID)}; }

    Phase phase_ = Phase::end;
    Reading before_;
    std::array<std::int64_t, 2> lasted_{};
    std::array<std::int64_t, 2> took_{};
};

struct SharesOfRanks {
    std::array<double, 2> mean{};
    std::array<double, 2> most{};
};

// Of all ranks, at rank 0.
inline SharesOfRanks gather_load(const Load& load, int ranks) {
    const std::array<double, 2> own = load.shares();
    SharesOfRanks result;
    MPI_Reduce(own.data(), result.mean.data(), 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(own.data(), result.most.data(), 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    for (double& share : result.mean) share /= ranks;
    return result;
}

inline json::Object line(const char* kind) {
    return json::Object().add("line", kind);
}

inline void print(const json::Object& object) {
    print_line(object.text().text);
}

// ---- rank 0

class Leader {
  public:
    Leader(const Options& options, int ranks)
        : options_(options),
          ranks_(ranks),
          tests_(room_of(options)),
          times_(options.seed),
          end_ns_(nanoseconds(CLOCK_MONOTONIC) + static_cast<std::int64_t>(options.seconds * 1e9)) {}

    static std::size_t room_of(const Options& options) {
        return static_cast<std::size_t>(*std::max_element(options.sizes.begin(), options.sizes.end()));
    }

    // Each test is made once at least.
    void lead() {
        bool first = true;
        for (int round = 0; !over(first); ++round, first = false) {
            const int peer = ranks_ - options_.peers + round % options_.peers;
            for (const Phase phase : {Phase::latency, Phase::bandwidth, Phase::allreduce}) {
                if (over(first)) break;
                test(phase, peer);
                if (!stop_asked() && options_.idle > 0) idle();
            }
            report_load();
        }
        give_order({}, ranks_);
        print(line("end").add("reason", stop_asked() ? "signal" : "time"));
    }

  private:
    [[nodiscard]] bool over(bool first) const {
        return stop_asked() || (!first && nanoseconds(CLOCK_MONOTONIC) >= end_ns_);
    }

    void test(Phase phase, int peer) {
        const auto place = static_cast<std::size_t>(phase) - static_cast<std::size_t>(Phase::latency);
        const int size = static_cast<int>(options_.sizes[place]);
        const auto length = static_cast<std::int64_t>(options_.phase * 1e9);
        times_.clear();
        load_.begin(phase);
        give_order({phase, peer, size, length}, ranks_);
        Span span;
        switch (phase) {
            case Phase::latency:
                span = tests_.latency(peer, size, length, times_);
                break;
            case Phase::bandwidth:
                span = tests_.bandwidth(peer, size, length, times_);
                break;
            default:
                span = tests_.allreduce(size, length, times_);
        }
        active_ns_ = span.length_ns;
        if (stop_asked()) return;
        const bool all = phase == Phase::allreduce;
        json::Object found = line("phase");
        found.add("test", names_[place]).add("rank", all ? -1 : 0).add("peer", all ? -1 : peer).add("size", size);
        found.add("start_ns", span.start_ns).add("length_ns", span.length_ns).add("samples", times_.count());
        found.add("least_s", times_.least()).add("median_s", times_.median()).add("mean_s", times_.mean());
        found.add("most_s", times_.most()).add("sd_s", times_.standard_deviation());
        const double value = phase == Phase::latency     ? times_.median()
                             : phase == Phase::bandwidth ? size / times_.mean()
                                                         : times_.mean();
        finish_phase(found.add("value", value));
    }

    // As long as the test before it was, times the factor.
    void idle() {
        const auto length = static_cast<std::int64_t>(static_cast<double>(active_ns_) * options_.idle);
        load_.begin(Phase::idle);
        give_order({Phase::idle, -1, 0, length}, ranks_);
        Span span = Span::from_now();
        sleep_until(span.begin_ns + length);
        span.finish();
        if (stop_asked()) return;
        json::Object found = line("phase");
        found.add("test", "idle").add("rank", -1).add("peer", -1).add("size", 0).add("start_ns", span.start_ns);
        finish_phase(found.add("length_ns", span.length_ns).add("samples", 0));
    }

    void finish_phase(const json::Object& found) {
        print(found);
        if (options_.gap > 0) sleep_until(nanoseconds(CLOCK_MONOTONIC) + static_cast<std::int64_t>(options_.gap * 1e9));
    }

    void report_load() {
        load_.begin(Phase::load);
        give_order({Phase::load, -1, 0, 0}, ranks_);
        const SharesOfRanks found = gather_load(load_, ranks_);
        print(line("load")
                  .add("active", found.mean[0])
                  .add("idle", found.mean[1])
                  .add("active_most", found.most[0])
                  .add("idle_most", found.most[1]));
    }

    static constexpr std::array<const char*, 3> names_ = {"latency", "bandwidth", "allreduce"};

    const Options& options_;
    int ranks_;
    Tests tests_;
    SingleTimes times_;
    Load load_;
    std::int64_t end_ns_;
    std::int64_t active_ns_ = 0;
};

// ---- the other ranks

inline void follow(const Options& options, int rank, int ranks) {
    Tests tests(Leader::room_of(options));
    Load load;
    while (true) {
        const Order order = await_order();
        load.begin(order.phase);
        const int size = static_cast<int>(order.size);
        switch (order.phase) {
            case Phase::end:
                return;
            case Phase::allreduce:
                tests.join_allreduce(size);
                break;
            case Phase::load:
                gather_load(load, ranks);
                break;
            case Phase::latency:
            case Phase::bandwidth:
                if (rank != order.peer) {
                    sleep_through(order.length_ns);
                } else if (order.phase == Phase::latency) {
                    tests.serve_latency(size);
                } else {
                    tests.serve_bandwidth(size);
                }
                break;
            case Phase::idle:
                sleep_through(order.length_ns);
        }
    }
}

// ---- the probe

inline void measure(const Options& options) {
    const std::vector<ProcessPlace> places = take_places();
    const int rank = rank_of(MPI_COMM_WORLD);
    const int ranks = size_of(MPI_COMM_WORLD);
    if (rank != 0) {
        follow(options, rank, ranks);
        return;
    }
    json::Object begin = line("begin");
    begin.add("library", library_version()).add("ranks", describe(places));
    begin.add("shared_cpus", ranks_share_cpus(places)).add("time_ns", nanoseconds(CLOCK_REALTIME));
    print(begin);
    constexpr std::int64_t first_gap_ns = 250'000'000;  // the reader also finds out which counters there are
    if (options.gap > 0) sleep_until(nanoseconds(CLOCK_MONOTONIC) + first_gap_ns);
    Leader(options, ranks).lead();
}

}  // namespace idlewave::probe::overtime
