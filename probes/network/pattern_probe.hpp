// Patterns of messages, as programs have them, measured: what a machine's parameters are held against. They are between
// ranks 0 and 1; of more than two ranks, each also exchanges messages with several others at once.
//
// A sample is the mean over some repetitions, after one or two that are not timed; an exchange after a computation is
// one alone. Patterns, windows and sizes are in an order drawn anew for each round, and before and after each sample a
// ping-pong of one byte and a reference computation are timed: so a change of the machine's speed is seen as one, and
// is not taken for a difference between patterns. A sample waits for cores that are not shared, and is taken again
// where one was, if it is short. Table of int64 in the output folder, described in patterns.json: patterns.i64, a row a
// sample.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/switches.hpp"
#include "common/ticks.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"
#include "network/mpi_tool.hpp"
#include "network/pattern_exchange.hpp"
#include "network/pattern_items.hpp"
#include "network/peer_exchange.hpp"
#include "network/reference_computation.hpp"
#include "network/sample_recording.hpp"
#include "network/shared_cores.hpp"

namespace idlewave::probe::patterns {

struct Options {
    std::string output;
    double seconds = 10;
    std::int64_t max_size = 4 << 20;
    std::vector<std::int64_t> changes;  // the first size of each known protocol but the first
    Lateness lateness;
    std::uint64_t seed = 1;
};

// One sample of an item.
struct PatternSample {
    PatternItem item;
    int repetitions = 0;
    std::int64_t elapsed_ns = 0;  // of all repetitions
    std::int64_t at_ns = 0;       // since the beginning
    std::int64_t disturbed = 0;   // involuntary context switches
    std::int64_t pilot_before_ns = 0;
    std::int64_t pilot_after_ns = 0;
    ReferenceTimes reference = {};
};

// The ranks of the job.
struct Ranks {
    int own = 0;
    int all = 2;
    bool share_cpus = false;
};

// What ranks 0 and 1 measure: the two of them alone, and all ranks.
class Exchanges {
  public:
    Exchanges(const Ranks& ranks, std::int64_t max_size)
        : ranks_(ranks),
          pair_(ranks.own, 1 - ranks.own, max_size),
          peers_(ranks.own, ranks.all, ranks.all > 2 ? max_size : 0) {}

    PatternSample sample_of(const PatternItem& item) {
        if (item.pattern == Pattern::after_computation) return sample_after_computation(item);
        PatternSample sample{item, repetitions_of(item)};
        if (item.pattern == Pattern::peers && ranks_.share_cpus) sample.repetitions = 2;  // each waits for time slices
        const int untimed = untimed_repetitions(item);
        const std::int64_t disturbed = involuntary_switches();
        sample.pilot_before_ns = pair_.pilot();
        const std::int64_t reference_before_ns = reference_ns();
        if (item.pattern == Pattern::peers && ranks_.own == 0) {
            order_others(ranks_.all, {item.window, item.size, untimed + sample.repetitions});
        }
        if (item.pattern == Pattern::peers) MPI_Barrier(MPI_COMM_WORLD);  // all are awake
        repeat(item, untimed);
        pair_.take_excess_ns();
        const std::int64_t from = nanoseconds(CLOCK_MONOTONIC);
        repeat(item, sample.repetitions);
        sample.elapsed_ns = nanoseconds(CLOCK_MONOTONIC) - from;
        const std::int64_t reference_after_ns = reference_ns();
        const std::int64_t excess = item.pattern == Pattern::late ? pair_.excess_of_receiver_ns() : 0;
        const bool lost_cpu = excess >= sample.elapsed_ns;  // the receiver did, for longer than all of this took
        if (!lost_cpu) sample.elapsed_ns -= excess;
        sample.pilot_after_ns = pair_.pilot();
        sample.reference = {pair_.larger(reference_before_ns), pair_.larger(reference_after_ns)};
        sample.disturbed = involuntary_switches() - disturbed + (lost_cpu ? 1 : 0);
        return sample;
    }

    // The time of the reference computation on the slower rank.
    [[nodiscard]] std::int64_t slower_reference_ns() const { return pair_.larger(reference_ns()); }

  private:
    // Of an exchange after a computation; what disturbs the computation does not count. After a long computation all
    // that came before has left the caches, so no exchange need precede it.
    PatternSample sample_after_computation(const PatternItem& item) {
        constexpr std::int64_t longest_to_repeat = 500'000;
        PatternSample sample{item, 1};
        sample.pilot_before_ns = pair_.pilot();
        if (item.delay_ns < longest_to_repeat) pair_.repeat(item, 1);
        pair_.repeat(item, 1);
        pair_.pilot();  // the first pilot is in cold caches, too
        sample.pilot_after_ns = pair_.pilot();
        const PatternExchange::Exchange exchange = pair_.last_exchange();
        sample.elapsed_ns = exchange.ns;
        sample.disturbed = exchange.disturbed;
        sample.reference = exchange.reference;
        return sample;
    }

    void repeat(const PatternItem& item, int times) {
        if (item.pattern == Pattern::peers) return peers_.repeat(item.window, item.size, times);
        pair_.repeat(item, times);
    }

    Ranks ranks_;
    PatternExchange pair_;
    PeerExchange peers_;
};

// Whether ranks 0 and 1 go on, which rank 0 says.
inline bool go_on(int rank, bool wanted) {
    constexpr int tag = 22;
    int answer = wanted ? 1 : 0;
    if (rank == 0) MPI_Send(&answer, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&answer, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return answer != 0;
}

// What ranks 0 and 1 measure between the samples of patterns, whose time does not count. It gets the share of the time
// of patterns that is over, which rank 0 knows.
using Beside = std::function<void(double)>;

// Ranks 0 and 1 go through the items in the same order.
template <class Record>
void conduct(const Options& options, const Ranks& ranks, const Beside& beside, Record record) {
    Exchanges exchanges(ranks, options.max_size);
    const std::vector<std::int64_t> sizes = pattern_sizes(options.max_size, options.changes);
    std::vector<PatternItem> items = pattern_items(sizes, options.lateness, ranks.all);
    std::ranges::copy(items_after_computation(sizes, 6), std::back_inserter(items));
    std::mt19937_64 random(options.seed);
    std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    const double seconds = options.seconds * 1e9;
    SharedCores cores(begin);
    for (int round = 0;; ++round) {
        std::shuffle(items.begin(), items.end(), random);
        for (std::size_t index = 0; index < items.size(); ++index) {
            const PatternItem& item = items[index];
            if (round % 2 == 1 && is_long(item)) continue;
            const double deadline = deadline_ns(round == 0, index, items.size(), seconds);
            for (int tried = 0; tried < most_tries(item); ++tried) {
                const bool unshared = cores.await_unshared(
                    deadline, [&] { return exchanges.slower_reference_ns(); },
                    [&](bool wanted) { return go_on(ranks.own, wanted); });
                const std::int64_t at = nanoseconds(CLOCK_MONOTONIC) - begin;
                const auto over = static_cast<double>(at);
                const bool needed = round == 0 && tried == 0;
                if (!go_on(ranks.own, !stop_asked() && (needed || over < deadline))) {
                    if (tried > 0) break;
                    if (ranks.own == 0) order_others(ranks.all, {});
                    return;
                }
                PatternSample sample = exchanges.sample_of(item);
                sample.at_ns = at;
                record(sample, over / seconds);
                if (!unshared || !cores.shared(sample.reference)) break;
            }
            if (!beside) continue;
            const std::int64_t paused = nanoseconds(CLOCK_MONOTONIC);
            beside(static_cast<double>(paused - begin) / seconds);
            const std::int64_t left_out = nanoseconds(CLOCK_MONOTONIC) - paused;
            begin += left_out;
            cores.leave_out(left_out);
        }
    }
}

// ---- the recording

inline std::string summary(const Options& options, const std::vector<ProcessPlace>& places, bool interrupted) {
    json::Object tables;
    tables.add("samples", json::Object()
                              .add("file", "patterns.i64")
                              .add("columns", std::vector<std::string>{"pattern", "window", "size", "repetitions",
                                                                       "delay_ns", "elapsed_ns", "at_ns", "disturbed",
                                                                       "pilot_before_ns", "pilot_after_ns",
                                                                       "reference_before_ns", "reference_after_ns"}));
    json::Object object;
    object.add("probe", "patterns").add("library", library_version()).add("ranks", describe(places));
    object.add("patterns", pattern_names).add("max_size", options.max_size).add("changes", options.changes);
    object.add("late_ns", options.lateness.ns).add("late_ns_per_byte", options.lateness.ns_per_byte);
    object.add("shared_cpus", ranks_share_cpus(places));
    object.add("tables", tables).add("interrupted", interrupted);
    return object.text().text;
}

inline void record(const Options& options, const std::vector<ProcessPlace>& places, const Beside& beside) {
    SampleRecording recording(options.output, "patterns", summary(options, places, true));
    const Bound bound(places[0], Bound::Where::first);
    const Ranks ranks{0, static_cast<int>(places.size()), ranks_share_cpus(places)};
    conduct(options, ranks, beside, [&](const PatternSample& sample, double share) {
        const PatternItem& item = sample.item;
        const std::vector<std::int64_t> row{static_cast<std::int64_t>(item.pattern),
                                            item.window,
                                            item.size,
                                            sample.repetitions,
                                            item.delay_ns,
                                            sample.elapsed_ns,
                                            sample.at_ns,
                                            sample.disturbed,
                                            sample.pilot_before_ns,
                                            sample.pilot_after_ns,
                                            sample.reference.before_ns,
                                            sample.reference.after_ns};
        recording.write(row, sample.at_ns, share);
    });
    recording.finish(summary(options, places, stop_asked()));
}

// ---- the probe

// The command-line options.
inline std::vector<CommandOption> arguments_of(Options& options) {
    return {
        {"output", "DIR", "folder for the recording", text_to(options.output)},
        {"seconds", "S", "time limit in seconds (10)", number_to(options.seconds, 0.01, 864000)},
        {"max-size", "B", "largest message in bytes (4 MiB)", integer_to(options.max_size, 1, 1 << 30)},
        {"changes", "B,B,...", "sizes from which on the library is known to have another protocol",
         integers_to(options.changes, 1, 1 << 30)},
        {"late", "NS", "nanoseconds for which late receivers compute (2000)", number_to(options.lateness.ns, 0, 1e9)},
        {"late-per-byte", "NS", "nanoseconds more for each byte on the way (0.5)",
         number_to(options.lateness.ns_per_byte, 0, 1e6)},
        {"seed", "K", "seed of every random order (1)", integer_to(options.seed, 0, 1'000'000'000'000'000)}};
}

// Measures the patterns of ranks 0 and 1, and those of all ranks, which all call it.
inline void measure(const Options& options, const Beside& beside = {}) {
    const std::vector<ProcessPlace> places = take_places();
    const Ranks ranks{rank_of(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD), ranks_share_cpus(places)};
    if (ranks.own == 0) {
        record(options, places, beside);
    } else if (ranks.own == 1) {
        const Bound bound(places[1], Bound::Where::last);
        conduct(options, ranks, beside, [](const auto&...) {});
    } else {
        follow_orders(ranks.own, ranks.all, options.max_size, ranks.share_cpus);
    }
}

}  // namespace idlewave::probe::patterns
