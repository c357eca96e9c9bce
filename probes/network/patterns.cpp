// Measures patterns of messages between two ranks, as programs have them: what a machine's parameters are held against.
//
// mpiexec -n 2 idlewave-patterns --output DIR [--seconds S] [--max-size B] [--seed K]
// Patterns: a ping-pong; a stream of nonblocking sends that the receiver answers once; both directions at once, all
// nonblocking. A sample is the mean over some repetitions, after one that is not timed. Patterns, windows and sizes are
// in an order drawn anew for each round, so that a change of the machine's speed is not taken for a difference between
// them. Table of int64 in DIR, described in DIR/patterns.json: patterns.i64, a row a sample.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/switches.hpp"
#include "common/ticks.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"
#include "network/mpi_tool.hpp"

namespace {

using namespace idlewave::probe;

constexpr const char* program = "idlewave-patterns";
constexpr int data_tag = 20;
constexpr int answer_tag = 21;

struct PatternsOptions {
    std::string output;
    double seconds = 10;
    std::int64_t max_size = 4 << 20;
    std::uint64_t seed = 1;
};

enum class Pattern : std::int64_t { ping_pong, stream, both_ways };

const std::vector<std::string> pattern_names{"ping-pong", "stream", "both ways"};

struct Item {
    Pattern pattern = Pattern::ping_pong;
    int window = 1;  // messages on the way at once
    std::int64_t size = 1;
};

// ---- what is measured

// Sizes in steps of four, with one between them from a kilobyte on, where protocols change.
std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 1; size <= most; size *= 4) {
        sizes.push_back(size);
        if (size >= 1024 && 2 * size <= most) sizes.push_back(2 * size);
    }
    return sizes;
}

std::vector<Item> items_of(std::int64_t max_size) {
    constexpr std::int64_t most_on_the_way = 64 << 20;
    std::vector<Item> items;
    for (const std::int64_t size : sizes_up_to(max_size)) {
        items.push_back({Pattern::ping_pong, 1, size});
        for (const int window : {1, 4, 16, 64}) {
            if (window * size > most_on_the_way) continue;
            items.push_back({Pattern::stream, window, size});
            items.push_back({Pattern::both_ways, window, size});
        }
    }
    return items;
}

int repetitions_of(const Item& item) {
    constexpr std::int64_t bytes = 1 << 20;
    constexpr std::int64_t messages = 512;
    const std::int64_t most = std::min(bytes / (item.window * item.size), messages / item.window);
    return static_cast<int>(std::clamp<std::int64_t>(most, 2, 64));
}

// ---- a sample

// The two ranks of a pattern: rank 0 takes the time.
class Exchange {
  public:
    Exchange(int rank, std::int64_t max_size)
        : rank_(rank),
          peer_(1 - rank),
          sent_(static_cast<std::size_t>(max_size), std::byte{1}),
          received_(static_cast<std::size_t>(max_size), std::byte{2}) {}

    void repeat(const Item& item, int times) {
        for (int i = 0; i < times; ++i) {
            switch (item.pattern) {
                case Pattern::ping_pong:
                    ping_pong(item);
                    break;
                case Pattern::stream:
                    stream(item);
                    break;
                case Pattern::both_ways:
                    both_ways(item);
                    break;
            }
        }
    }

  private:
    void ping_pong(const Item& item) {
        if (rank_ == 0) send(item);
        receive(item);
        if (rank_ == 1) send(item);
    }

    void stream(const Item& item) {
        char answer = 0;
        if (rank_ == 0) {
            start_sends(item);
            wait();
            MPI_Recv(&answer, 1, MPI_CHAR, peer_, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            start_receives(item);
            wait();
            MPI_Send(&answer, 1, MPI_CHAR, peer_, answer_tag, MPI_COMM_WORLD);
        }
    }

    void both_ways(const Item& item) {
        start_receives(item);
        start_sends(item);
        wait();
    }

    void send(const Item& item) {
        MPI_Send(sent_.data(), static_cast<int>(item.size), MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD);
    }
    void receive(const Item& item) {
        MPI_Recv(received_.data(), static_cast<int>(item.size), MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    void start_sends(const Item& item) {
        for (int i = 0; i < item.window; ++i) {
            MPI_Isend(sent_.data(), static_cast<int>(item.size), MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD, next());
        }
    }
    // All receives have one buffer, as in the OSU benchmarks: its content is not read.
    void start_receives(const Item& item) {
        for (int i = 0; i < item.window; ++i) {
            MPI_Irecv(received_.data(), static_cast<int>(item.size), MPI_BYTE, peer_, data_tag, MPI_COMM_WORLD, next());
        }
    }
    MPI_Request* next() { return &requests_[open_++]; }
    void wait() {
        MPI_Waitall(static_cast<int>(open_), requests_.data(), MPI_STATUSES_IGNORE);
        open_ = 0;
    }

    int rank_;
    int peer_;
    std::vector<std::byte> sent_;
    std::vector<std::byte> received_;
    std::array<MPI_Request, 128> requests_{};
    std::size_t open_ = 0;
};

// Both ranks go through the items in the same order. Rank 0 says before each whether to go on.
template <class Record>
void conduct(const PatternsOptions& options, int rank, Record record) {
    Exchange exchange(rank, options.max_size);
    std::vector<Item> items = items_of(options.max_size);
    std::mt19937_64 random(options.seed);
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    const double seconds = options.seconds * 1e9;
    for (bool first_round = true;; first_round = false) {
        std::shuffle(items.begin(), items.end(), random);
        for (const Item& item : items) {
            const double over = static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin);
            int go_on = !stop_asked() && (first_round || over < seconds) ? 1 : 0;
            MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
            if (go_on == 0) return;
            const int repetitions = repetitions_of(item);
            exchange.repeat(item, 1);
            const std::int64_t disturbed = involuntary_switches();
            const std::int64_t from = nanoseconds(CLOCK_MONOTONIC);
            exchange.repeat(item, repetitions);
            const std::int64_t to = nanoseconds(CLOCK_MONOTONIC);
            record(item, repetitions, to - from, from - begin, involuntary_switches() - disturbed, over / seconds);
        }
    }
}

// ---- the recording

std::string summary(const PatternsOptions& options, const std::vector<ProcessPlace>& places, bool interrupted) {
    json::Object tables;
    tables.add("samples", json::Object()
                              .add("file", "patterns.i64")
                              .add("columns", std::vector<std::string>{"pattern", "window", "size", "repetitions",
                                                                       "elapsed_ns", "at_ns", "disturbed"}));
    json::Object object;
    object.add("probe", "patterns").add("library", library_version()).add("ranks", describe(places));
    object.add("patterns", pattern_names).add("max_size", options.max_size);
    object.add("tables", tables).add("interrupted", interrupted);
    return object.text().text;
}

void measure(const PatternsOptions& options, const std::vector<ProcessPlace>& places) {
    make_folder(options.output);
    const std::string file = options.output + "/patterns.json";
    // A launcher may kill its ranks before the end, so everything that is known now is written now.
    replace_file(file, summary(options, places, true) + "\n");
    RecordingFile samples(options.output + "/patterns.i64");
    const Bound bound(places[0], Bound::Where::first);
    conduct(
        options, 0,
        [&](const Item& item, int repetitions, std::int64_t elapsed, std::int64_t at, std::int64_t disturbed,
            double share) {
            const std::vector<std::int64_t> row{
                static_cast<std::int64_t>(item.pattern), item.window, item.size, repetitions, elapsed, at, disturbed};
            samples.write(row);
            print_progress(share);
        });
    samples.close();
    const std::string text = summary(options, places, stop_asked());
    replace_file(file, text + "\n");
    print_line(text);
}

// ---- the command line

CommandLine program_of(PatternsOptions& options) {
    return {program,
            "Measures patterns of messages between two ranks, as programs have them:\n"
            "mpiexec -n 2 idlewave-patterns --output DIR",
            {{"output", "DIR", "folder for the recording", text_to(options.output)},
             {"seconds", "S", "time limit in seconds (10)", number_to(options.seconds, 0.01, 864000)},
             {"max-size", "B", "largest message in bytes (4 MiB)", integer_to(options.max_size, 1, 1 << 30)},
             {"seed", "K", "seed of every random order (1)", integer_to(options.seed, 0, 1'000'000'000'000'000)}}};
}

void run(int argc, char* const* argv) {
    PatternsOptions options;
    if (!parse_on_all_ranks(program_of(options), argc, argv, options.output)) return;
    if (size_of(MPI_COMM_WORLD) != 2) throw wrong_number_of_ranks("two ranks are needed");
    stop_on_signals(patience_after_stop);
    const std::vector<ProcessPlace> places = take_places();
    if (rank_of(MPI_COMM_WORLD) == 0) {
        measure(options, places);
    } else {
        const Bound bound(places[1], Bound::Where::last);
        conduct(options, 1, [](const auto&...) {});
    }
    wait_for_all_ranks();
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
