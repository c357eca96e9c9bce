// The samples of one-sided and two-sided communication, of all back ends in turn.
//
// A sample is the time of some repetitions, after one or two that are not timed. Back ends, operations and sizes are in
// an order drawn anew for each round, and before and after each sample a ping-pong of one byte and a reference
// computation are timed: so a change of the machine's speed is seen as one, and is not taken for a difference between
// back ends. A sample waits for cores that are not shared, and is taken again where one was, if it is short. Table of
// int64 in the output folder, described in one-sided.json: one-sided.i64, a row a sample.
#pragma once

#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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
#include "network/mpi_tool.hpp"
#include "network/peer_exchange.hpp"
#include "network/reference_computation.hpp"
#include "network/sample_recording.hpp"
#include "network/shared_cores.hpp"
#include "one_sided/back_ends.hpp"
#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"

namespace idlewave::probe::one_sided {

struct Options {
    std::string output;
    double seconds = 10;
    std::int64_t max_size = 4 << 20;
    std::vector<std::string> back_ends = {"mpi", "rma"};
    std::uint64_t seed = 1;
    bool list = false;  // for the help alone: main() handles --list before the options are read
};

// One sample of an item.
struct Sample {
    Item item;
    int repetitions = 0;
    Times times = {};
    std::int64_t at_ns = 0;      // since the beginning
    std::int64_t disturbed = 0;  // involuntary context switches of both ranks
    std::int64_t pilot_before_ns = 0;
    std::int64_t pilot_after_ns = 0;
    ReferenceTimes reference = {};
};

using BackEnds = std::vector<std::unique_ptr<BackEnd>>;

// ---- the ranks that take part in floods over several links only: they sleep until rank 0 orders one

struct LinkOrder {
    std::int64_t back_end = -1;  // -1: the end
    std::int64_t links = 0;
    std::int64_t window = 0;
    std::int64_t size = 0;
    std::int64_t times = 0;
};

constexpr int link_order_tag = 43;
constexpr int link_end_tag = 44;

inline void order_link(int rank, const LinkOrder& order) {
    MPI_Send(&order, 5, MPI_INT64_T, rank, link_order_tag, MPI_COMM_WORLD);
}

// Waits for a message without bytes, while the library of the back end may need to work.
inline void await_with_progress(int source, int tag, BackEnd& back_end) {
    int there = 0;
    while (there == 0) {
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        back_end.progress();
    }
}

inline void follow_link_orders(const BackEnds& back_ends, bool share_cpus) {
    const timespec pause{0, share_cpus ? 5'000'000 : 100'000};
    while (true) {
        int there = 0;
        MPI_Iprobe(0, link_order_tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (there == 0) {
            nanosleep(&pause, nullptr);
            continue;
        }
        LinkOrder order;
        MPI_Recv(&order, 5, MPI_INT64_T, 0, link_order_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (order.back_end < 0) return;
        const Item item{static_cast<std::size_t>(order.back_end), Operation::flood, static_cast<int>(order.links),
                        static_cast<int>(order.window), order.size};
        BackEnd& back_end = *back_ends[item.back_end];
        MPI_Send(nullptr, 0, MPI_CHAR, 0, link_end_tag, MPI_COMM_WORLD);  // it is awake
        back_end.serve(item, static_cast<int>(order.times));
        await_with_progress(0, link_end_tag, back_end);
        MPI_Recv(nullptr, 0, MPI_CHAR, 0, link_end_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

// ---- ranks 0 and 1

class Pair {
  public:
    Pair(const Job& job, const BackEnds& back_ends) : job_(job), back_ends_(back_ends) {}

    Sample sample_of(const Item& item, bool share_cpus) {
        Sample sample{item, repetitions_of(item)};
        if (item.links > 1 && share_cpus) sample.repetitions = 2;  // each waits for time slices
        const int untimed = untimed_repetitions(item);
        const std::int64_t disturbed = involuntary_switches();
        sample.pilot_before_ns = pilot(job_);
        const std::int64_t reference_before_ns = reference_ns();
        begin_links(item, untimed + sample.repetitions);
        both(item, untimed);
        sample.times = both(item, sample.repetitions);
        end_links(item);
        const std::int64_t reference_after_ns = reference_ns();
        sample.pilot_after_ns = pilot(job_);
        sample.reference = {larger(job_, reference_before_ns), larger(job_, reference_after_ns)};
        sample.disturbed = larger(job_, involuntary_switches() - disturbed);
        return sample;
    }

    [[nodiscard]] std::int64_t slower_reference_ns() const { return larger(job_, reference_ns()); }

  private:
    // What this rank does of it; then both ranks meet.
    Times both(const Item& item, int times) {
        BackEnd& back_end = *back_ends_[item.back_end];
        Times found;
        if (job_.origin()) {
            found = back_end.run(item, times);
        } else {
            back_end.serve(item, times);
        }
        meet(job_, [&] { back_end.progress(); });
        return found;
    }

    void begin_links(const Item& item, int times) const {
        if (!job_.origin()) return;
        for (int link = 2; link <= item.links; ++link) {
            order_link(link, {static_cast<std::int64_t>(item.back_end), item.links, item.window, item.size, times});
        }
        for (int link = 2; link <= item.links; ++link) {
            MPI_Recv(nullptr, 0, MPI_CHAR, link, link_end_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    void end_links(const Item& item) const {
        if (!job_.origin()) return;
        for (int link = 2; link <= item.links; ++link) {
            MPI_Send(nullptr, 0, MPI_CHAR, link, link_end_tag, MPI_COMM_WORLD);
        }
    }

    const Job& job_;
    const BackEnds& back_ends_;
};

inline std::vector<Item> all_items(const BackEnds& back_ends, std::int64_t max_size, int targets) {
    std::vector<Item> items;
    for (std::size_t i = 0; i < back_ends.size(); ++i) {
        std::vector<Item> own;
        add_items(own, i, back_ends[i]->operations(), sizes_up_to(max_size), targets);
        std::ranges::copy_if(own, std::back_inserter(items), [&](const Item& item) { return back_ends[i]->has(item); });
    }
    return items;
}

// How often a sample is taken in a round, at most: once for a flood of several links, as the others would have to be
// woken again.
inline int tries_of(const Item& item) {
    return item.links > 1 || item.operation == Operation::computing ? 1 : most_tries(bytes_of(item));
}

// Ranks 0 and 1 go through the items in the same order, until the time is over; each item is taken at least once.
template <class Record>
void conduct(const Options& options, const Job& job, const BackEnds& back_ends, bool share_cpus, Record record) {
    Pair pair(job, back_ends);
    std::vector<Item> items = all_items(back_ends, options.max_size, job.ranks - 1);
    std::mt19937_64 random(options.seed);
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    const double seconds = options.seconds * 1e9;
    SharedCores cores(begin);
    for (int round = 0;; ++round) {
        std::shuffle(items.begin(), items.end(), random);
        for (std::size_t index = 0; index < items.size(); ++index) {
            const double deadline = deadline_ns(round == 0, index, items.size(), seconds);
            for (int tried = 0; tried < tries_of(items[index]); ++tried) {
                const bool unshared = cores.await_unshared(
                    deadline, [&] { return pair.slower_reference_ns(); },
                    [&](bool wanted) { return go_on(job, wanted); });
                const std::int64_t at = nanoseconds(CLOCK_MONOTONIC) - begin;
                const bool needed = round == 0 && tried == 0;
                if (!go_on(job, !stop_asked() && (needed || static_cast<double>(at) < deadline))) {
                    if (tried > 0) break;
                    return;
                }
                Sample sample = pair.sample_of(items[index], share_cpus);
                sample.at_ns = at;
                record(sample, static_cast<double>(at) / seconds);
                if (!unshared || !cores.shared(sample.reference)) break;
            }
        }
    }
}

// ---- the recording

inline std::string summary(const Options& options, const std::vector<ProcessPlace>& places, bool interrupted) {
    json::Object tables;
    tables.add("samples",
               json::Object()
                   .add("file", "one-sided.i64")
                   .add("columns", std::vector<std::string>{"back_end", "operation", "links", "window", "size",
                                                            "repetitions", "elapsed_ns", "alone_ns", "computed_ns",
                                                            "at_ns", "disturbed", "pilot_before_ns", "pilot_after_ns",
                                                            "reference_before_ns", "reference_after_ns"}));
    json::Object object;
    object.add("probe", "one-sided").add("library", library_version()).add("ranks", describe(places));
    object.add("back_ends", options.back_ends).add("operations", operation_names).add("max_size", options.max_size);
    object.add("computing_ns", computing_ns).add("shared_cpus", ranks_share_cpus(places)).add("tables", tables);
    return object.add("interrupted", interrupted).text().text;
}

inline void record(const Options& options, const Job& job, const BackEnds& back_ends,
                   const std::vector<ProcessPlace>& places) {
    SampleRecording recording(options.output, "one-sided", summary(options, places, true));
    const Bound bound(places[0], Bound::Where::first);
    conduct(options, job, back_ends, ranks_share_cpus(places), [&](const Sample& sample, double share) {
        const Item& item = sample.item;
        const std::vector<std::int64_t> row{static_cast<std::int64_t>(item.back_end),
                                            static_cast<std::int64_t>(item.operation),
                                            item.links,
                                            item.window,
                                            item.size,
                                            sample.repetitions,
                                            sample.times.elapsed_ns,
                                            sample.times.alone_ns,
                                            sample.times.computed_ns,
                                            sample.at_ns,
                                            sample.disturbed,
                                            sample.pilot_before_ns,
                                            sample.pilot_after_ns,
                                            sample.reference.before_ns,
                                            sample.reference.after_ns};
        recording.write(row, sample.at_ns, share);
    });
    for (int link = 2; link < job.ranks; ++link) order_link(link, {});
    recording.finish(summary(options, places, stop_asked()));
}

// ---- the probe

// Names with commas between them.
inline std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        names.push_back(text.substr(from, comma - from));
        from = comma + 1;
    }
    return names;
}

// The command-line options.
inline std::vector<CommandOption> arguments_of(Options& options) {
    return {{"output", "DIR", "folder for the recording", text_to(options.output)},
            {"seconds", "S", "time limit in seconds (10)", number_to(options.seconds, 0.01, 864000)},
            {"max-size", "B", "largest transfer in bytes (4 MiB)", integer_to(options.max_size, 1, 1 << 30)},
            {"back-ends", "A,B,...", "what is compared (mpi,rma)",
             [&options](const auto&, const std::string& text) { options.back_ends = names_in(text); }},
            {"list", "", "list the back ends that this program has, as JSON", flag_to(options.list)},
            {"seed", "K", "seed of every random order (1)", integer_to(options.seed, 0, 1'000'000'000'000'000)}};
}

// Measures, by all ranks.
inline void measure(const Options& options, const std::vector<BackEndEntry>& chosen) {
    const std::vector<ProcessPlace> places = take_places();
    const Job job{rank_of(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD), static_cast<std::size_t>(options.max_size)};
    const bool share_cpus = ranks_share_cpus(places);
    BackEnds back_ends;
    for (const BackEndEntry& entry : chosen) back_ends.push_back(entry.make(job));
    if (job.rank == 0) {
        record(options, job, back_ends, places);
    } else if (job.rank == 1) {
        const Bound bound(places[1], Bound::Where::last);
        conduct(options, job, back_ends, share_cpus, [](const auto&...) {});
    } else {
        follow_link_orders(back_ends, share_cpus);
    }
    wait_for_all_ranks();
}

}  // namespace idlewave::probe::one_sided
