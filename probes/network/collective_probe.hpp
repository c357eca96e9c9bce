// Collective operations of the ranks of a communicator, measured by size.
//
// A sample is the mean over some calls, after a few that are not timed. Operations and sizes are in an order drawn
// anew for each round, and before and after each sample a ping-pong of one byte, a barrier and a reference computation
// are timed, which show the machine's speed. A sample waits for cores that are not shared, and is taken again where one
// was, if it is short. Table of int64 in the output folder, described in collectives.json: collectives.i64, a row a
// sample.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/json.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/switches.hpp"
#include "common/ticks.hpp"
#include "network/collective_loops.hpp"
#include "network/control_variables.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"
#include "network/mpi_tool.hpp"
#include "network/pilot.hpp"
#include "network/reference_computation.hpp"
#include "network/sample_recording.hpp"
#include "network/shared_cores.hpp"

namespace idlewave::probe::collectives {

struct Options {
    std::string output;
    double seconds = 5;
    std::int64_t max_size = 4 << 20;
    std::uint64_t seed = 1;
};

// One sample of an item.
struct CollectiveSample {
    CollectiveItem item;
    int repetitions = 0;
    std::int64_t elapsed_ns = 0;  // of all repetitions, at rank 0
    std::int64_t at_ns = 0;       // since the beginning
    std::int64_t disturbed = 0;   // involuntary context switches of rank 0
    std::int64_t pilot_before_ns = 0;
    std::int64_t pilot_after_ns = 0;
    std::int64_t barrier_before_ns = 0;
    std::int64_t barrier_after_ns = 0;
    ReferenceTimes reference = {};
};

// The largest of the ranks' values; all ranks call it.
inline std::int64_t largest(std::int64_t own, MPI_Comm world) {
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, MPI_MAX, world);
    return own;
}

inline CollectiveSample sample_of(CollectiveLoops& loops, const Pilot& pilot, const CollectiveItem& item,
                                  MPI_Comm world) {
    CollectiveSample sample{item, repetitions_of(item, size_of(world))};
    const std::int64_t disturbed = involuntary_switches();
    sample.pilot_before_ns = pilot.time();
    sample.barrier_before_ns = pilot.barrier_time();
    const std::int64_t reference_before_ns = reference_ns();
    loops.repeat(item, 2);
    const std::int64_t from = nanoseconds(CLOCK_MONOTONIC);
    loops.repeat(item, sample.repetitions);
    sample.elapsed_ns = nanoseconds(CLOCK_MONOTONIC) - from;
    const std::int64_t reference_after_ns = reference_ns();
    sample.barrier_after_ns = pilot.barrier_time();
    sample.pilot_after_ns = pilot.time();
    sample.disturbed = involuntary_switches() - disturbed;
    sample.reference = {largest(reference_before_ns, world), largest(reference_after_ns, world)};
    return sample;
}

// Whether all ranks go on: the clock is rank 0's, and any rank may have been asked to stop.
enum class Next { item, end, stop };

inline Next agree(MPI_Comm world, bool time_is_over) {
    const bool over = rank_of(world) == 0 && time_is_over;
    int own = static_cast<int>(stop_asked() ? Next::stop : over ? Next::end : Next::item);
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT, MPI_MAX, world);
    return static_cast<Next>(own);
}

// ---- the recording

inline std::string summary(const Options& options, const std::vector<ProcessPlace>& places, bool interrupted) {
    json::Object tables;
    tables.add("samples", json::Object()
                              .add("file", "collectives.i64")
                              .add("columns", std::vector<std::string>{
                                                  "collective", "size", "repetitions", "elapsed_ns", "at_ns",
                                                  "disturbed", "pilot_before_ns", "pilot_after_ns", "barrier_before_ns",
                                                  "barrier_after_ns", "reference_before_ns", "reference_after_ns"}));
    std::vector<json::Object> variables;
    for (const ControlVariable& variable : control_variables()) {
        variables.push_back(json::Object()
                                .add("name", variable.name)
                                .add("value", variable.value)
                                .add("in_environment", variable.in_environment));
    }
    json::Object object;
    object.add("probe", "collectives").add("library", library_version()).add("ranks", describe(places));
    object.add("collectives", collective_names).add("before_barrier", rooted_names());
    object.add("max_size", options.max_size);
    object.add("control_variables", variables);
    object.add("tables", tables).add("interrupted", interrupted);
    return object.text().text;
}

// ---- the probe

// The command-line options.
inline std::vector<CommandOption> arguments_of(Options& options) {
    return {{"output", "DIR", "folder for the recording", text_to(options.output)},
            {"seconds", "S", "time limit in seconds (5)", number_to(options.seconds, 0.01, 864000)},
            {"max-size", "B", "largest size in bytes (4 MiB)", integer_to(options.max_size, 1, 1 << 28)},
            {"seed", "K", "seed of every random order (1)", integer_to(options.seed, 0, 1'000'000'000'000'000)}};
}

// Measures the collectives of the ranks of `world`, all of which make one and call it in the same order. It does so in
// parts, between which they may measure something else: that time does not count.
class CollectiveProbe {
  public:
    CollectiveProbe(const Options& options, MPI_Comm world)
        : options_(options),
          world_(world),
          places_(take_places(world)),
          items_(collective_items(options.max_size, size_of(world))),
          loops_(world, items_),
          pilot_(world),
          random_(options.seed) {
        if (rank_of(world) == 0) recording_.emplace(options.output, "collectives", summary(options, places_, true));
        std::shuffle(items_.begin(), items_.end(), random_);
    }

    // Goes on until this share of the time is over; the first time until each item has a sample in any case.
    void measure_until(double share, bool shows_progress = true) {
        const std::int64_t left_out_ns = nanoseconds(CLOCK_MONOTONIC) - paused_ns_;
        begin_ns_ += left_out_ns;
        cores_.leave_out(left_out_ns);
        shows_progress_ = shows_progress;
        Next next = stopped_ ? Next::stop : Next::item;
        while (next == Next::item) {
            next = take(items_[index_], share * options_.seconds * 1e9);
            if (next == Next::item && ++index_ == items_.size()) begin_round();
        }
        stopped_ = next == Next::stop;
        if (recording_ && shows_progress) recording_->flush();  // what is measured next may fail
        paused_ns_ = nanoseconds(CLOCK_MONOTONIC);
    }

    void finish() {
        if (recording_) recording_->finish(summary(options_, places_, stopped_));
    }

  private:
    // All ranks go through the items in the same order.
    void begin_round() {
        std::shuffle(items_.begin(), items_.end(), random_);
        index_ = 0;
        first_round_ = false;
    }

    // Takes the samples of an item in a round. Returns what comes next.
    Next take(const CollectiveItem& item, double end_ns) {
        const double deadline = deadline_ns(first_round_, index_, items_.size(), end_ns);
        for (int tried = 0; tried < most_tries(item.size); ++tried) {
            const bool unshared = cores_.await_unshared(
                deadline, [&] { return largest(reference_ns(), world_); },
                [&](bool wanted) { return agree(world_, !wanted) == Next::item; });
            const std::int64_t at_ns = nanoseconds(CLOCK_MONOTONIC) - begin_ns_;
            const bool needed = first_round_ && tried == 0;
            const Next next = agree(world_, !needed && static_cast<double>(at_ns) >= deadline);
            if (next == Next::end && tried > 0) break;
            if (next != Next::item) return next;
            CollectiveSample sample = sample_of(loops_, pilot_, item, world_);
            sample.at_ns = at_ns;
            record(sample, static_cast<double>(at_ns) / end_ns);
            if (!unshared || !cores_.shared(sample.reference)) break;
        }
        return Next::item;
    }

    void record(const CollectiveSample& sample, double share) {
        if (!recording_) return;
        const std::vector<std::int64_t> row{static_cast<std::int64_t>(sample.item.collective),
                                            sample.item.size,
                                            sample.repetitions,
                                            sample.elapsed_ns,
                                            sample.at_ns,
                                            sample.disturbed,
                                            sample.pilot_before_ns,
                                            sample.pilot_after_ns,
                                            sample.barrier_before_ns,
                                            sample.barrier_after_ns,
                                            sample.reference.before_ns,
                                            sample.reference.after_ns};
        recording_->write(row, sample.at_ns, shows_progress_ ? std::optional(share) : std::nullopt);
    }

    Options options_;
    MPI_Comm world_;
    std::vector<ProcessPlace> places_;
    std::vector<CollectiveItem> items_;
    CollectiveLoops loops_;
    Pilot pilot_;
    std::mt19937_64 random_;
    std::optional<SampleRecording> recording_;  // of rank 0
    std::int64_t begin_ns_ = nanoseconds(CLOCK_MONOTONIC);
    std::int64_t paused_ns_ = begin_ns_;
    SharedCores cores_{begin_ns_};
    std::size_t index_ = 0;
    bool first_round_ = true;
    bool shows_progress_ = true;
    bool stopped_ = false;
};

// Measures the collectives of the ranks of `world`, all of which call it.
inline void measure(const Options& options, MPI_Comm world) {
    CollectiveProbe probe(options, world);
    probe.measure_until(1);
    probe.finish();
}

}  // namespace idlewave::probe::collectives
