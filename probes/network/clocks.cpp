// Measures the offset of every rank's clock from rank 0's, repeatedly: offset and drift are estimated from it.
//
// mpiexec -n N idlewave-clocks --output DIR [--seconds S] [--bursts N] [--one-a-host] [--clock NAME] [--skew FILE]
//                              [--seed K]
// Each rank has --bursts bursts of exchanges with rank 0, spread over the seconds, in an order drawn anew for each
// round. A burst (tracer/clock_burst.h, which the tracer uses, too) gives an offset with its bound. The other ranks
// sleep. Tables of int64 in DIR, described in DIR/clocks.json: clocks-bursts.i64, and clocks-exchanges.i64 with every
// exchange.
// --skew skews clocks by known amounts, for tests: lines "RANK AHEAD_NS DRIFT_PPM", ahead when the probe begins.

#include <mpi.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "clock_burst.h"
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

constexpr const char* program = "idlewave-clocks";
constexpr int order_tag = 10;
constexpr int result_tag = 11;

struct ClocksOptions {
    std::string output;
    std::string skew;
    double seconds = 10;
    int bursts = 40;
    bool one_a_host = false;
    clockid_t clock = CLOCK_MONOTONIC;
    std::string clock_name = "monotonic";
    std::uint64_t seed = 1;
};

// ---- clocks, right and wrong

struct SkewedClock {
    clockid_t clock = CLOCK_MONOTONIC;
    std::int64_t begin = 0;  // when it was `ahead`, ns
    std::int64_t ahead = 0;
    double drift = 0;
};

std::int64_t read_skewed(const void* context) {
    const SkewedClock& skewed = *static_cast<const SkewedClock*>(context);
    const std::int64_t t = nanoseconds(skewed.clock);
    return t + skewed.ahead + static_cast<std::int64_t>(skewed.drift * static_cast<double>(t - skewed.begin));
}

SkewedClock read_skew(const std::string& file, int rank) {
    SkewedClock found;
    std::ifstream lines(file);
    if (!lines) throw refused("--skew: " + file + " cannot be read");
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line[0] == '#') continue;
        std::istringstream fields(line);
        int of_rank = 0;
        std::int64_t ahead = 0;
        double ppm = 0;
        if (!(fields >> of_rank >> ahead >> ppm) || !(fields >> std::ws).eof()) {
            std::string message = file + ":" + std::to_string(number);
            message += ": expected RANK AHEAD_NS DRIFT_PPM, found '";
            message += line;
            throw refused(message + "'");
        }
        if (of_rank != rank) continue;
        found.ahead = ahead;
        found.drift = ppm * 1e-6;
    }
    return found;
}

SkewedClock make_clock(const ClocksOptions& options, int rank) {
    SkewedClock clock;
    if (!options.skew.empty()) clock = read_skew(options.skew, rank);
    clock.clock = options.clock;
    clock.begin = nanoseconds(options.clock);
    MPI_Bcast(&clock.begin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return clock;
}

// ---- a burst

struct ClockBurst {
    std::vector<ClockExchange> exchanges;
    std::int64_t disturbed = 0;  // involuntary switches of both ranks
};

// What the asking rank sends of a burst, besides its exchanges.
struct BurstCounts {
    std::int64_t disturbed = 0;
    std::int64_t exchanges = 0;
};

void ask_when_ordered(const ProcessPlace& place, ClockSource clock) {
    while (true) {
        int go_on = 0;
        await_message(0, order_tag);
        MPI_Recv(&go_on, 1, MPI_INT, 0, order_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (go_on == 0) return;
        const Bound bound(place, Bound::Where::last);
        std::vector<ClockExchange> exchanges(BURST_MOST);
        const std::int64_t before = involuntary_switches();
        const int count = clock_ask(MPI_COMM_WORLD, 0, clock, exchanges.data());
        const BurstCounts result{involuntary_switches() - before, count};
        MPI_Send(&result, 2, MPI_INT64_T, 0, result_tag, MPI_COMM_WORLD);
        MPI_Send(exchanges.data(), 3 * count, MPI_INT64_T, 0, result_tag, MPI_COMM_WORLD);
    }
}

ClockBurst visit(int rank, ClockSource clock) {
    constexpr int go_on = 1;
    MPI_Send(&go_on, 1, MPI_INT, rank, order_tag, MPI_COMM_WORLD);
    const std::int64_t before = involuntary_switches();
    clock_answer(MPI_COMM_WORLD, rank, clock);
    const std::int64_t mine = involuntary_switches() - before;
    BurstCounts result;
    MPI_Recv(&result, 2, MPI_INT64_T, rank, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ClockBurst burst{std::vector<ClockExchange>(static_cast<std::size_t>(result.exchanges)), result.disturbed + mine};
    MPI_Recv(burst.exchanges.data(), static_cast<int>(3 * result.exchanges), MPI_INT64_T, rank, result_tag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return burst;
}

void dismiss(int ranks) {
    constexpr int stop = 0;
    for (int rank = 1; rank < ranks; ++rank) MPI_Send(&stop, 1, MPI_INT, rank, order_tag, MPI_COMM_WORLD);
}

// ---- the recording

class BurstTables {
  public:
    explicit BurstTables(const std::string& folder)
        : bursts_(folder + "/clocks-bursts.i64"), exchanges_(folder + "/clocks-exchanges.i64") {}

    void add(int rank, int number, const ClockBurst& burst) {
        const int count = static_cast<int>(burst.exchanges.size());
        const ClockOffset found = clock_estimate(burst.exchanges.data(), count);
        std::int64_t shortest = INT64_MAX;
        for (const ClockExchange& e : burst.exchanges) {
            shortest = std::min(shortest, e.answered - e.asked);
            write(exchanges_, {rank, number, e.asked, e.answer, e.answered});
        }
        write(bursts_, {rank, number, found.offset, found.error, found.at, count, shortest, burst.disturbed});
    }

    void flush() {
        bursts_.flush();
        exchanges_.flush();
    }
    void close() {
        bursts_.close();
        exchanges_.close();
    }

  private:
    static void write(RecordingFile& file, const std::vector<std::int64_t>& row) { file.write(row); }

    RecordingFile bursts_;
    RecordingFile exchanges_;
};

json::Object table(const std::string& file, const std::vector<std::string>& columns) {
    return json::Object().add("file", file).add("columns", columns);
}

std::string summary(const ClocksOptions& options, const std::vector<ProcessPlace>& places, std::int64_t begin,
                    std::int64_t begin_unix, int rounds, bool interrupted) {
    json::Object tables;
    tables.add("bursts", table("clocks-bursts.i64", {"rank", "burst", "offset_ns", "error_ns", "at_ns", "exchanges",
                                                     "shortest_ns", "disturbed"}));
    tables.add("exchanges", table("clocks-exchanges.i64", {"rank", "burst", "asked_ns", "answer_ns", "answered_ns"}));
    json::Object object;
    object.add("probe", "clocks").add("library", library_version()).add("ranks", describe(places));
    object.add("clock", options.clock_name).add("begin_ns", begin).add("start_unix_ns", begin_unix);
    object.add("seconds", options.seconds).add("bursts", options.bursts).add("rounds", rounds);
    object.add("one_a_host", options.one_a_host).add("seed", options.seed).add("skewed", !options.skew.empty());
    return object.add("interrupted", interrupted).add("tables", tables).text().text;
}

// ---- rank 0's part

std::vector<int> ranks_to_visit(const std::vector<ProcessPlace>& places, bool one_a_host) {
    std::vector<int> result;
    for (std::size_t rank = 1; rank < places.size(); ++rank) {
        const auto same_host = [&](const ProcessPlace& other) { return other.host() == places[rank].host(); };
        const auto end = places.begin() + static_cast<std::ptrdiff_t>(rank);
        if (!one_a_host || std::none_of(places.begin(), end, same_host)) result.push_back(static_cast<int>(rank));
    }
    return result;
}

double seconds_now() {
    return 1e-9 * static_cast<double>(nanoseconds(CLOCK_MONOTONIC));
}

// Rounds begin at a random time within their share of the time, so that nothing periodic coincides with all of them.
int conduct(const ClocksOptions& options, const std::vector<ProcessPlace>& places, ClockSource clock,
            BurstTables& recording) {
    const Bound bound(places[0], Bound::Where::first);
    std::vector<int> visited = ranks_to_visit(places, options.one_a_host);
    std::mt19937_64 random(options.seed);
    const double share = options.seconds / options.bursts;
    const double begin = seconds_now();
    int round = 0;
    for (; round < options.bursts; ++round) {
        const double due = begin + share * (round + std::uniform_real_distribution(0.0, 0.5)(random));
        while (seconds_now() < due && !stop_asked()) nap();
        std::shuffle(visited.begin(), visited.end(), random);
        for (const int rank : visited) {
            // A drift needs the first two rounds.
            if (stop_asked() || (round > 1 && seconds_now() - begin > options.seconds)) return round;
            recording.add(rank, round, visit(rank, clock));
        }
        recording.flush();
        print_progress((seconds_now() - begin) / options.seconds);
    }
    return round;
}

void measure(const ClocksOptions& options, const std::vector<ProcessPlace>& places, const SkewedClock& skewed) {
    make_folder(options.output);
    const std::string file = options.output + "/clocks.json";
    const std::int64_t unix = nanoseconds(CLOCK_REALTIME);
    // A launcher may kill its ranks before the end, so everything that is known now is written now.
    replace_file(file, summary(options, places, skewed.begin, unix, 0, true) + "\n");
    BurstTables recording(options.output);
    const int rounds = conduct(options, places, {read_skewed, &skewed}, recording);
    recording.close();
    dismiss(static_cast<int>(places.size()));
    const std::string text = summary(options, places, skewed.begin, unix, rounds, stop_asked());
    replace_file(file, text + "\n");
    print_line(text);
}

// ---- the command line

clockid_t clock_called(const std::string& option, const std::string& name) {
    if (name == "monotonic") return CLOCK_MONOTONIC;
    if (name == "raw") return CLOCK_MONOTONIC_RAW;
    if (name == "realtime") return CLOCK_REALTIME;
    throw refused(option + ": expected monotonic, raw or realtime, found '" + name + "'");
}

CommandLine program_of(ClocksOptions& options) {
    return {program,
            "Measures how far every rank's clock is from rank 0's, again and again:\n"
            "mpiexec -n N idlewave-clocks --output DIR",
            {{"output", "DIR", "folder for the recording", text_to(options.output)},
             {"seconds", "S", "time limit in seconds (10)", number_to(options.seconds, 0.01, 864000)},
             {"bursts", "N", "bursts of exchanges with each rank (40)", integer_to(options.bursts, 2, 1'000'000)},
             {"one-a-host", "", "measure one rank of each host", flag_to(options.one_a_host)},
             {"clock", "NAME", "clock: monotonic, raw or realtime (monotonic)",
              [&](const auto& option, const auto& text) {
                  options.clock_name = text;
                  options.clock = clock_called(option, text);
              }},
             {"skew", "FILE", "skew the clocks by known amounts: lines RANK AHEAD_NS DRIFT_PPM", text_to(options.skew)},
             {"seed", "K", "seed of every random order (1)", integer_to(options.seed, 0, 1'000'000'000'000'000)}}};
}

void run(int argc, char* const* argv) {
    ClocksOptions options;
    if (!parse_on_all_ranks(program_of(options), argc, argv, options.output)) return;
    const int rank = rank_of(MPI_COMM_WORLD);
    stop_on_signals(patience_after_stop);
    const std::vector<ProcessPlace> places = take_places();
    const SkewedClock skewed = make_clock(options, rank);
    if (rank == 0) {
        measure(options, places, skewed);
    } else {
        ask_when_ordered(places[static_cast<std::size_t>(rank)], {read_skewed, &skewed});
    }
    wait_for_all_ranks();
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
