// The path between every two ranks of a job, or between a sample of pairs: a short LogGP assessment of each.
//
// mpiexec -n N idlewave-pairs --output DIR [--seconds S] [--pairs K] [--serial | --concurrent] [--visits V]
//                             [--sizes A,B,...] [--train N] [--precision P] [--seed K]
// Pairs measure in rounds in which no rank is in two pairs (tournament.hpp). --serial: one pair after the other, while
// the other ranks sleep: an idle network. --concurrent: all pairs of a round at once: a shared network. Each pair has
// several visits, spread over the whole measurement, in an order drawn anew each time; client and server change.
// Samples go to DIR/pairs.csv, a row each, as they come; the rest is in DIR/pairs.json.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"
#include "network/mpi_tool.hpp"
#include "network/quick_loggp.hpp"
#include "network/tournament.hpp"

namespace {

using namespace idlewave::probe;

constexpr const char* program = "idlewave-pairs";
constexpr int order_tag = 10;
constexpr int result_tag = 11;
constexpr double shortest_visit = 0.005;  // s
constexpr double longest_visit = 0.5;

struct PairsOptions {
    std::string output;
    double seconds = 10;
    int pairs = 0;  // 0: all
    bool concurrent = false;
    int visits = 4;
    std::vector<int> sizes = {1, 1024, 65536};
    int train = 8;
    double precision = 0.02;
    std::uint64_t seed = 1;
};

enum class Role : std::int64_t { stop, client, server };

// An order of rank 0 to a rank. All fields have one size, so that it is sent as an array of MPI_INT64_T.
struct PairOrder {
    Role role = Role::stop;
    std::int64_t peer = 0;
    std::int64_t visit = 0;
    std::int64_t seed = 0;
    std::int64_t length_ns = 0;  // of the visit
    std::int64_t number = 0;     // of this pair among those that measure at once
};

// ---- every rank

struct PairsRank {
    PairsOptions options;
    ProcessPlace place;
    QuickAssessment assessment;
    Buffers buffers;
    Visit visit;
};

std::vector<QuickSample> run_order(PairsRank& rank, const PairOrder& order) {
    const int peer = static_cast<int>(order.peer);
    const auto where = order.role == Role::client ? Bound::Where::first : Bound::Where::last;
    const Bound bound(rank.place, where, order.number);
    if (order.role == Role::server) {
        serve_visit(rank.buffers, peer);
        return {};
    }
    Visit visit = rank.visit;
    visit.seed = static_cast<std::uint64_t>(order.seed);
    visit.seconds = 1e-9 * static_cast<double>(order.length_ns);
    return ClientVisit(rank.assessment, rank.buffers, peer, visit).run();
}

void run_orders(PairsRank& rank) {
    while (true) {
        PairOrder order;
        await_message(0, order_tag);
        MPI_Recv(&order, sizeof order / 8, MPI_INT64_T, 0, order_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (order.role == Role::stop) return;
        const std::vector<QuickSample> samples = run_order(rank, order);
        if (order.role != Role::client) continue;
        MPI_Send(samples.data(), static_cast<int>(samples.size() * sizeof(QuickSample)), MPI_BYTE, 0, result_tag,
                 MPI_COMM_WORLD);
    }
}

// ---- the recording

class PairSamplesFile {
  public:
    explicit PairSamplesFile(const std::string& path) : file_(path) {
        file_.write("a,b,size,series,n,visit,delay_ns,value_ns,start_ns,disturbed\n");
        file_.flush();
    }

    void add(int client, int server, int visit, int train, const std::vector<QuickSample>& samples) {
        for (const QuickSample& s : samples) {
            const int n = s.job.series == QuickSeries::round_trip ? 1 : train;
            std::array<char, 256> line{};
            std::snprintf(line.data(), line.size(), "%d,%d,%d,%s,%d,%d,%.1f,%.1f,%lld,%lld\n", client, server,
                          s.job.size, quick_series_names[static_cast<std::size_t>(s.job.series)], n, visit, s.delay_ns,
                          s.value_ns, static_cast<long long>(s.start_ns), static_cast<long long>(s.disturbed));
            file_.write(line.data());
        }
    }

    void flush() { file_.flush(); }
    void close() { file_.close(); }

  private:
    RecordingFile file_;
};

// ---- rank 0

struct PairVisit {
    int client = 0;
    int server = 0;
    PairOrder order;  // the client's
};

std::vector<QuickSample> receive_result(int client) {
    const MPI_Status status = await_message(client, result_tag);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<QuickSample> samples(static_cast<std::size_t>(bytes) / sizeof(QuickSample));
    MPI_Recv(samples.data(), bytes, MPI_BYTE, client, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return samples;
}

class Conductor {
  public:
    Conductor(PairsRank& rank, std::vector<Round> rounds, PairSamplesFile& recording)
        : rank_(rank), rounds_(std::move(rounds)), recording_(recording), random_(rank.options.seed + 1) {}

    // Returns the number of visits; the last one may have left out some pairs.
    int run() {
        begin_ = now();
        int visit = 0;
        for (; visit < rank_.options.visits; ++visit) {
            std::shuffle(rounds_.begin(), rounds_.end(), random_);
            for (Round& round : rounds_) {
                std::shuffle(round.begin(), round.end(), random_);
                if (!play(round, visit)) return visit + (done_ % pairs() == 0 ? 0 : 1);
            }
        }
        return visit;
    }

    [[nodiscard]] long long visits_done() const { return done_; }

  private:
    static double now() { return 1e-9 * static_cast<double>(nanoseconds(CLOCK_MONOTONIC)); }

    [[nodiscard]] long long pairs() const {
        long long count = 0;
        for (const Round& round : rounds_) count += static_cast<long long>(round.size());
        return count;
    }

    bool play(const Round& round, int visit) {
        std::vector<PairVisit> pair_visits;
        for (const RankPair& pair : round) {
            const bool turned = visit % 2 == 1;
            const int client = turned ? pair.b : pair.a;
            const int server = turned ? pair.a : pair.b;
            const auto seed = static_cast<std::int64_t>(random_() >> 1);
            const auto length_ns = static_cast<std::int64_t>(1e9 * rank_.visit.seconds);
            const auto number = rank_.options.concurrent ? static_cast<std::int64_t>(pair_visits.size()) : 0;
            pair_visits.push_back({client, server, {Role::client, server, visit, seed, length_ns, number}});
        }
        if (rank_.options.concurrent) return visit_at_once(pair_visits);
        for (const PairVisit& visit_of_pair : pair_visits) {
            if (!visit_at_once({visit_of_pair})) return false;
        }
        return true;
    }

    // Runs all these visits at once. Returns false if the time is over, or a signal came.
    bool visit_at_once(const std::vector<PairVisit>& pair_visits) {
        if (stop_asked() || now() - begin_ > rank_.options.seconds) return false;
        PairOrder mine;
        for (const PairVisit& visit_of_pair : pair_visits) {
            give(visit_of_pair.server,
                 {Role::server, visit_of_pair.client, visit_of_pair.order.visit, 0, 0, visit_of_pair.order.number},
                 mine);
            give(visit_of_pair.client, visit_of_pair.order, mine);
        }
        std::vector<QuickSample> own;
        if (mine.role != Role::stop) own = run_order(rank_, mine);
        for (const PairVisit& visit_of_pair : pair_visits) {
            const bool ours = visit_of_pair.client == 0;
            recording_.add(visit_of_pair.client, visit_of_pair.server, static_cast<int>(visit_of_pair.order.visit),
                           rank_.options.train, ours ? own : receive_result(visit_of_pair.client));
            ++done_;
        }
        report_progress();
        return true;
    }

    static void give(int rank, const PairOrder& order, PairOrder& mine) {
        if (rank == 0) {
            mine = order;
        } else {
            MPI_Send(&order, sizeof order / 8, MPI_INT64_T, rank, order_tag, MPI_COMM_WORLD);
        }
    }

    void report_progress() {
        if (now() - reported_ < 0.2) return;
        reported_ = now();
        recording_.flush();
        const double planned = static_cast<double>(pairs() * rank_.options.visits);
        print_progress(std::max((reported_ - begin_) / rank_.options.seconds, static_cast<double>(done_) / planned));
    }

    PairsRank& rank_;
    std::vector<Round> rounds_;
    PairSamplesFile& recording_;
    std::mt19937_64 random_;
    double begin_ = 0;
    double reported_ = 0;
    long long done_ = 0;
};

void dismiss(int ranks) {
    const PairOrder stop;
    for (int rank = 1; rank < ranks; ++rank) {
        MPI_Send(&stop, sizeof stop / 8, MPI_INT64_T, rank, order_tag, MPI_COMM_WORLD);
    }
}

// ---- the plan

long long all_of(int ranks) {
    return static_cast<long long>(ranks) * (ranks - 1) / 2;
}

void check_sample(const PairsOptions& options, int ranks) {
    if (options.pairs == 0 || options.pairs >= ranks - 1 || options.pairs >= all_of(ranks)) return;
    throw refused("--pairs: " + std::to_string(ranks) + " ranks hang together by at least " +
                  std::to_string(ranks - 1) + " pairs, found " + std::to_string(options.pairs));
}

std::vector<Round> plan(const PairsOptions& options, const std::vector<ProcessPlace>& places) {
    std::mt19937_64 random(options.seed);
    const int ranks = static_cast<int>(places.size());
    if (options.pairs == 0 || options.pairs >= all_of(ranks)) return all_pairs(ranks, random);
    std::vector<std::string> hosts;
    hosts.reserve(places.size());
    for (const ProcessPlace& place : places) hosts.push_back(place.host());
    return rounds_of(sample_pairs(hosts, options.pairs, random), ranks);
}

double visit_seconds(const PairsOptions& options, const std::vector<Round>& rounds) {
    std::size_t pairs = 0;
    for (const Round& round : rounds) pairs += round.size();
    const double pair_visits = static_cast<double>(options.concurrent ? rounds.size() : pairs);
    return std::clamp(options.seconds / (pair_visits * options.visits), shortest_visit, longest_visit);
}

struct PairsOutcome {
    int visits = 0;
    long long done = 0;
    bool interrupted = true;
};

std::string summary(const PairsRank& rank, const std::vector<ProcessPlace>& places, const std::vector<Round>& rounds,
                    std::int64_t begin_unix, const PairsOutcome& outcome) {
    const PairsOptions& options = rank.options;
    std::size_t pairs = 0;
    for (const Round& round : rounds) pairs += round.size();
    json::Object object;
    object.add("probe", "pairs").add("library", library_version()).add("ranks", describe(places));
    object.add("file", "pairs.csv").add("mode", options.concurrent ? "concurrent" : "serial").add("pairs", pairs);
    object.add("rounds", rounds.size()).add("visits", options.visits).add("visits_begun", outcome.visits);
    object.add("pair_visits", outcome.done).add("visit_s", rank.visit.seconds).add("seconds", options.seconds);
    object.add("sizes", options.sizes).add("train", options.train).add("precision", options.precision);
    object.add("seed", options.seed).add("counter", ticks_source()).add("tick_ns", rank.assessment.clock.tick_ns);
    return object.add("start_unix_ns", begin_unix).add("interrupted", outcome.interrupted).text().text;
}

void conduct(PairsRank& rank, const std::vector<ProcessPlace>& places) {
    const PairsOptions& options = rank.options;
    const std::vector<Round> rounds = plan(options, places);
    rank.visit.seconds = visit_seconds(options, rounds);
    make_folder(options.output);
    const std::string file = options.output + "/pairs.json";
    const std::int64_t unix = nanoseconds(CLOCK_REALTIME);
    // A launcher may kill its ranks before the end, so everything that is known now is written now.
    replace_file(file, summary(rank, places, rounds, unix, {}) + "\n");
    PairSamplesFile recording(options.output + "/pairs.csv");
    Conductor conductor(rank, rounds, recording);
    const int visits = conductor.run();
    recording.close();
    dismiss(static_cast<int>(places.size()));
    const std::string text = summary(rank, places, rounds, unix, {visits, conductor.visits_done(), stop_asked()});
    replace_file(file, text + "\n");
    print_line(text);
}

// ---- the command line

std::vector<int> parse_sizes(const std::string& option, const std::string& text) {
    std::vector<int> sizes;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        sizes.push_back(static_cast<int>(integer(option, part, 1, 1 << 24)));
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    if (sizes.size() < 2)
        throw refused(option + ": expected at least two sizes, such as 1,65536, found '" + text + "'");
    return sizes;
}

CommandLine program_of(PairsOptions& options) {
    return {
        program,
        "Measures the path between every two ranks of a job, or between a sample of pairs:\n"
        "mpiexec -n N idlewave-pairs --output DIR",
        {{"output", "DIR", "folder for samples and summary", text_to(options.output)},
         {"seconds", "S", "time limit in seconds (10)", number_to(options.seconds, 0.01, 864000)},
         {"pairs", "K", "number of pairs, drawn at random (default: all)", integer_to(options.pairs, 1, 1'000'000'000)},
         {"serial", "", "measure one pair after the other, while the other ranks sleep: an idle network (default)",
          [&](const auto&, const auto&) { options.concurrent = false; }},
         {"concurrent", "", "measure many pairs at once: a shared network", flag_to(options.concurrent)},
         {"visits", "V", "visits of each pair (4)", integer_to(options.visits, 1, 10000)},
         {"sizes", "A,B,...", "message sizes in bytes (1,1024,65536)",
          [&](const auto& option, const auto& text) { options.sizes = parse_sizes(option, text); }},
         {"train", "N", "number of messages in a train (8)", integer_to(options.train, 2, 256)},
         {"precision", "P", "relative width of a median's 95 % interval at which a visit ends (0.02)",
          number_to(options.precision, 0.0001, 1)},
         {"seed", "K", "seed of every random order (1)", integer_to(options.seed, 0, 1'000'000'000'000'000)}}};
}

void run(int argc, char* const* argv) {
    PairsOptions options;
    if (!parse_on_all_ranks(program_of(options), argc, argv, options.output)) return;
    check_sample(options, size_of(MPI_COMM_WORLD));
    stop_on_signals(patience_after_stop);
    const std::vector<ProcessPlace> places = take_places();
    QuickAssessment assessment{options.sizes, options.train, {}, 0};
    Visit visit;
    // If all pairs of a round measure at once, each must send until the time is over: the others measure its load.
    visit.precision = options.concurrent ? 0 : options.precision;
    wait_for_all_ranks();
    assessment.begin_ns = nanoseconds(CLOCK_MONOTONIC);
    PairsRank rank{options, places[static_cast<std::size_t>(rank_of(MPI_COMM_WORLD))], assessment, Buffers(assessment),
                   visit};
    if (rank_of(MPI_COMM_WORLD) == 0) {
        conduct(rank, places);
    } else {
        run_orders(rank);
    }
    wait_for_all_ranks();
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
