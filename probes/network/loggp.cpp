// The samples from which LogGP parameters are estimated, by PRTT between two MPI ranks.
//
// PRTT(n,d,s): the client sends n messages of s bytes, d apart; the server answers the last (T. Hoefler,
// T. Mehlan, A. Lumsdaine, W. Rehm: Netgauge, LogGP parameter assessment, 2007). No clocks are compared.
// Beside it o_r(s): the server waits until the message must be there, and times the receive.
//
// mpiexec -n 2 idlewave-loggp --output FILE.csv [--seconds S] [--max-size B] [--train N] [--seed K]
//                             [--repetitions R]
// Samples go to the file as they come; lines "progress FRACTION" and at last a JSON summary to standard
// output.

#include <getopt.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "network/mpi_tool.hpp"
#include "common/ticks.hpp"

namespace {

using idlewave::read_ticks_ordered;
using idlewave::Ticks;

constexpr int client = 0;
constexpr int server = 1;
constexpr int data_tag = 1;
constexpr int control_tag = 2;
constexpr int warm_exchanges = 3;

struct Options {
    std::string output;
    double seconds = 10;
    int max_size = 256 * 1024;
    int train = 16;
    int repetitions = 1000;
    unsigned long seed = 1;
};

enum class Mode { exchange, receive, complete, stop };

// What the server is asked to do; as doubles, so that it travels as one MPI type.
struct Command {
    double mode = 0;
    double messages = 1;
    double size = 1;
    double wait_ns = 0;
};

enum class Series { round_trip, train, paced_train, receive, complete };
constexpr std::array<const char*, 5> series_names = {"rtt", "train", "paced", "recv", "wait"};

struct Job {
    Series series;
    std::size_t size_index;
};

[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "idlewave-loggp: %s\n", message.c_str());
    std::fflush(stderr);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // an abort may outrun the words just written
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::exit(1);
}

// ---- time
// --------------------------------------------------------------------------------------------------

struct Clock {
    double tick_ns = 1;
    double read_cost = 0;  // ticks between two ordered reads with nothing between them
    double wait_cost = 0;  // ticks that a call of wait takes beyond what it returns
};

// Busy, without MPI. Returns how long it really was, so that a detour in it is not taken for the network's
// doing.
__attribute__((noinline)) Ticks wait(Ticks length) {
    const Ticks begin = read_ticks_ordered();
    Ticks now = begin;
    while (now - begin < length) now = read_ticks_ordered();
    return now - begin;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Clock calibrate() {
    constexpr int tries = 1000;
    Clock clock;
    const idlewave::Instant first = idlewave::instant();
    idlewave::Instant last = first;
    while (last.ns - first.ns < 50'000'000) last = idlewave::instant();
    clock.tick_ns = idlewave::tick_length(first, last);
    std::vector<double> reads;
    std::vector<double> waits;
    for (int i = 0; i < tries; ++i) {
        const Ticks begin = read_ticks_ordered();
        const Ticks middle = read_ticks_ordered();
        const Ticks waited = wait(100);
        const Ticks end = read_ticks_ordered();
        reads.push_back(static_cast<double>(middle - begin));
        waits.push_back(static_cast<double>(end - middle - waited));
    }
    clock.read_cost = median(reads);
    clock.wait_cost = median(waits) - clock.read_cost;
    return clock;
}

// ---- one sample
// --------------------------------------------------------------------------------------------

// The memory that messages come from and go to. Each message of a train is sent from a slot of its own, and
// every slot is written shortly before, as a program's messages are: a buffer sent twice would be in both
// ranks' caches the second time, and its bytes would seem cheap.
class Buffers {
  public:
    Buffers(int max_size, int train)
        : slots_(std::max(1, std::min(train, slot_limit / max_size))),
          max_size_(static_cast<std::size_t>(max_size)),
          outgoing_(max_size_ * static_cast<std::size_t>(slots_), 1),
          incoming_(max_size_, 1) {}

    void refresh(int size, int messages) {
        ++value_;
        for (int i = 0; i < std::min(messages, slots_); ++i)
            std::memset(slot(i), value_, static_cast<std::size_t>(size));
    }

    void send(int size, int peer, int message) {
        MPI_Send(slot(message % slots_), size, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD);
    }

    void receive(int size, int peer) {
        MPI_Recv(incoming_.data(), size, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void* incoming() { return incoming_.data(); }

  private:
    static constexpr int slot_limit = 67'108'864;  // bytes in all slots together

    char* slot(int message) { return outgoing_.data() + max_size_ * static_cast<std::size_t>(message); }

    int slots_;
    std::size_t max_size_;
    std::vector<char> outgoing_;
    std::vector<char> incoming_;
    char value_ = 1;
};

void order(const Command& command) {
    MPI_Send(&command, sizeof command / sizeof(double), MPI_DOUBLE, server, control_tag, MPI_COMM_WORLD);
}

struct Sample {
    double value_ns = 0;
    double delay_ns = 0;  // really waited, on average
};

Sample exchange(const Clock& clock, Buffers& buffers, int size, int messages, double delay_ns) {
    order({static_cast<double>(Mode::exchange), static_cast<double>(messages), static_cast<double>(size), 0});
    for (int i = 0; i < warm_exchanges; ++i) {
        buffers.send(size, server, 0);
        buffers.receive(size, server);
    }
    buffers.refresh(size, messages);
    wait(static_cast<Ticks>(1000 / clock.tick_ns));  // the server's receive is posted by then
    const Ticks delay = static_cast<Ticks>(delay_ns / clock.tick_ns);
    Ticks waited = 0;
    const Ticks begin = read_ticks_ordered();
    buffers.send(size, server, 0);
    for (int i = 1; i < messages; ++i) {
        if (delay > 0) waited += wait(delay);
        buffers.send(size, server, i);
    }
    buffers.receive(size, server);
    const Ticks end = read_ticks_ordered();
    Sample sample;
    sample.value_ns = (static_cast<double>(end - begin) - clock.read_cost) * clock.tick_ns;
    if (delay > 0) {
        sample.delay_ns = (static_cast<double>(waited) / (messages - 1) + clock.wait_cost) * clock.tick_ns;
    }
    return sample;
}

Sample timed_receive(Buffers& buffers, Mode mode, int size, double wait_ns) {
    order({static_cast<double>(mode), 1, static_cast<double>(size), wait_ns});
    for (int i = 0; i < warm_exchanges; ++i) {
        buffers.send(size, server, 0);
        buffers.receive(size, server);
    }
    buffers.refresh(size, 1);
    buffers.send(size, server, 0);
    Sample sample;
    sample.delay_ns = wait_ns;
    MPI_Recv(&sample.value_ns, 1, MPI_DOUBLE, server, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return sample;
}

// A receive that begins when the message is there, in nanoseconds.
double time_receive(const Clock& clock, Buffers& buffers, int size, double wait_ns) {
    wait(static_cast<Ticks>(wait_ns / clock.tick_ns));
    const Ticks begin = read_ticks_ordered();
    buffers.receive(size, client);
    const Ticks end = read_ticks_ordered();
    return (static_cast<double>(end - begin) - clock.read_cost) * clock.tick_ns;
}

// The completion of a receive that was posted before its message came: what a waiting receiver has left to
// do.
double time_completion(const Clock& clock, Buffers& buffers, int size, double wait_ns) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffers.incoming(), size, MPI_CHAR, client, data_tag, MPI_COMM_WORLD, &request);
    wait(static_cast<Ticks>(wait_ns / clock.tick_ns));
    const Ticks begin = read_ticks_ordered();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const Ticks end = read_ticks_ordered();
    return (static_cast<double>(end - begin) - clock.read_cost) * clock.tick_ns;
}

void serve(const Clock& clock, Buffers& buffers) {
    while (true) {
        Command command;
        MPI_Recv(&command, sizeof command / sizeof(double), MPI_DOUBLE, client, control_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        const Mode mode = static_cast<Mode>(static_cast<int>(command.mode));
        const int size = static_cast<int>(command.size);
        if (mode == Mode::stop) return;
        for (int i = 0; i < warm_exchanges; ++i) {
            buffers.receive(size, client);
            buffers.send(size, client, 0);
        }
        if (mode == Mode::exchange) {
            buffers.refresh(size, 1);
            for (int i = 0; i < static_cast<int>(command.messages); ++i) buffers.receive(size, client);
            buffers.send(size, client, 0);
            continue;
        }
        const double value = mode == Mode::receive ? time_receive(clock, buffers, size, command.wait_ns)
                                                   : time_completion(clock, buffers, size, command.wait_ns);
        MPI_Send(&value, 1, MPI_DOUBLE, client, control_tag, MPI_COMM_WORLD);
    }
}

// ---- what is measured
// --------------------------------------------------------------------------------------

// Dense around powers of two, up to 16 KiB; and at the place where the library says that its protocol
// changes: some count a header in, so the switch may come a little before.
std::vector<int> choose_sizes(int max_size, long long eager_limit) {
    std::set<long long> sizes;
    for (long long power = 1; power <= max_size; power *= 2) {
        sizes.insert({power, power + power / 2});
        if (power <= 16384) sizes.insert({power - 1, power + 1, power + power / 4});
    }
    for (long long below = 0; eager_limit > 0 && below <= 96; below += 8) {
        sizes.insert({eager_limit - below, eager_limit - below + 1});
    }
    std::vector<int> result;
    for (const long long size : sizes) {
        if (size >= 1 && size <= max_size) result.push_back(static_cast<int>(size));
    }
    return result;
}

struct Run {
    int repetitions = 0;
    long long samples = 0;
    bool complete = false;
};

class Client {
  public:
    Client(const Options& options, std::vector<int> sizes, const Clock& clock, Buffers& buffers)
        : options_(options), sizes_(std::move(sizes)), clock_(clock), buffers_(buffers), random_(options.seed) {
        file_ = std::fopen(options.output.c_str(), "w");
        if (file_ == nullptr) fail(options.output + " cannot be written: " + std::strerror(errno));
        std::fputs("series,size,n,delay_ns,repetition,value_ns\n", file_);
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() { std::fclose(file_); }

    Run run() {
        const double begin = seconds();
        warm_up();
        std::vector<Job> jobs;
        jobs.reserve(sizes_.size() * series_names.size());
        for (std::size_t i = 0; i < sizes_.size(); ++i) {
            for (std::size_t s = 0; s < series_names.size(); ++s) jobs.push_back({static_cast<Series>(s), i});
        }
        Run run;
        double reported = begin;
        for (; run.repetitions < options_.repetitions; ++run.repetitions) {
            std::shuffle(jobs.begin(), jobs.end(), random_);
            for (const Job& job : jobs) {
                measure(job, run.repetitions);
                ++run.samples;
                const double now = seconds();
                if (now - reported > 0.2) {
                    reported = now;
                    report((now - begin) / options_.seconds);
                }
                if (now - begin > options_.seconds) return finished(run, false);
            }
        }
        return finished(run, true);
    }

  private:
    static double seconds() { return 1e-9 * static_cast<double>(idlewave::nanoseconds(CLOCK_MONOTONIC)); }

    Run finished(Run run, bool complete) {
        order({static_cast<double>(Mode::stop), 0, 0, 0});
        run.complete = complete;
        return run;
    }

    // Flushed here, so that an interrupted run keeps what it has.
    void report(double fraction) {
        std::fflush(file_);
        std::printf("progress %.3f\n", std::min(fraction, 1.0));
        std::fflush(stdout);
    }

    // Connections, buffers and caches; and for each size the pause that suits it: PRTT(2,0,s), which is
    // longer than a round trip and than a gap.
    void warm_up() {
        constexpr int tries = 5;
        for (const int size : sizes_) {
            std::vector<double> values;
            values.reserve(tries);
            for (int i = 0; i < tries; ++i) {
                values.push_back(exchange(clock_, buffers_, size, 2, 0).value_ns);
            }
            delays_.push_back(median(values));
        }
    }

    void measure(const Job& job, int repetition) {
        const int size = sizes_[job.size_index];
        const double delay = delays_[job.size_index];
        const bool many = job.series == Series::train || job.series == Series::paced_train;
        const int messages = many ? options_.train : 1;
        Sample sample;
        switch (job.series) {
            case Series::round_trip:
            case Series::train:
                sample = exchange(clock_, buffers_, size, messages, 0);
                break;
            case Series::paced_train:
                sample = exchange(clock_, buffers_, size, messages, delay);
                break;
            case Series::receive:
                sample = timed_receive(buffers_, Mode::receive, size, 2 * delay);
                break;
            case Series::complete:
                sample = timed_receive(buffers_, Mode::complete, size, 2 * delay);
                break;
        }
        std::fprintf(file_, "%s,%d,%d,%.3f,%d,%.3f\n", series_names[static_cast<std::size_t>(job.series)], size,
                     messages, sample.delay_ns, repetition, sample.value_ns);
    }

    Options options_;
    std::vector<int> sizes_;
    Clock clock_;
    Buffers& buffers_;
    std::mt19937_64 random_;
    std::vector<double> delays_;  // one a size
    std::FILE* file_ = nullptr;
};

// ---- where it runs
// -----------------------------------------------------------------------------------------

struct Place {
    std::array<char, 256> host{};
    int cpus = 0;     // it may use
    int lowest = -1;  // of those
    int cpu = -1;     // it is pinned to
    int pinned_by_us = 0;
};

Place my_place() {
    Place place;
    gethostname(place.host.data(), place.host.size() - 1);
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    place.cpus = CPU_COUNT(&set);
    for (int cpu = 0; cpu < CPU_SETSIZE && place.lowest < 0; ++cpu) {
        if (CPU_ISSET(cpu, &set)) place.lowest = cpu;
    }
    if (place.cpus == 1) place.cpu = place.lowest;
    return place;
}

std::array<Place, 2> gather(const Place& mine) {
    std::array<Place, 2> places;
    MPI_Allgather(&mine, sizeof(Place), MPI_BYTE, places.data(), sizeof(Place), MPI_BYTE, MPI_COMM_WORLD);
    return places;
}

// A rank that is bound to one CPU stays there. Another takes the first CPU that it may use; the server, on
// the same host, the last, so that the two are apart.
std::array<Place, 2> pin(int rank) {
    Place mine = my_place();
    if (mine.cpus > 1) {
        cpu_set_t allowed;
        sched_getaffinity(0, sizeof allowed, &allowed);
        mine.cpu = mine.lowest;
        for (int cpu = 0; rank == server && cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &allowed)) mine.cpu = cpu;
        }
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(mine.cpu, &one);
        mine.pinned_by_us = sched_setaffinity(0, sizeof one, &one) == 0 ? 1 : 0;
        if (mine.pinned_by_us == 0) mine.cpu = -1;
    }
    return gather(mine);
}

bool same_node() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int size = 0;
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == 2;
}

// ---- the command line and the summary
// ----------------------------------------------------------------------

void usage() {
    std::fputs(
        "usage: mpiexec -n 2 idlewave-loggp --output FILE.csv [--seconds S] [--max-size BYTES] [--train N]\n"
        "                                   [--repetitions R] [--seed K]\n",
        stderr);
}

double number(const char* name, const char* text, double low, double high) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    const bool inside = value >= low && value <= high;
    if (end == text || *end != '\0' || !inside) {
        fail(std::string("--") + name + ": expected a number from " + std::to_string(low) + " to " +
             std::to_string(high) + ", found '" + text + "'");
    }
    return value;
}

Options parse(int argc, char* const* argv) {
    static const option known[] = {
        {"output", required_argument, nullptr, 'o'},
        {"seconds", required_argument, nullptr, 's'},
        {"max-size", required_argument, nullptr, 'm'},
        {"train", required_argument, nullptr, 'n'},
        {"seed", required_argument, nullptr, 'k'},
        {"repetitions", required_argument, nullptr, 'r'},
        {nullptr, 0, nullptr, 0},
    };
    Options options;
    for (int c = 0; (c = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        if (c == 'o') {
            options.output = optarg;
        } else if (c == 's') {
            options.seconds = number("seconds", optarg, 0.01, 86400);
        } else if (c == 'm') {
            options.max_size = static_cast<int>(number("max-size", optarg, 2, 1'073'741'824));
        } else if (c == 'n') {
            options.train = static_cast<int>(number("train", optarg, 2, 10000));
        } else if (c == 'k') {
            options.seed = static_cast<unsigned long>(number("seed", optarg, 0, 1e15));
        } else if (c == 'r') {
            options.repetitions = static_cast<int>(number("repetitions", optarg, 1, 1e9));
        } else {
            usage();
            fail("the option is not known");
        }
    }
    if (optind < argc || options.output.empty()) {
        usage();
        fail("--output is needed, and nothing but options");
    }
    return options;
}

// The largest eager message by the variable of the transport that carries this pair's messages.
struct Eager {
    std::string variable;
    long long limit = -1;
};

std::string library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
    int length = 0;
    MPI_Get_library_version(library.data(), &length);
    return library.data();
}

// Open MPI: that of the byte transfer layer, if its own point-to-point layer (ob1) is the one in use. MPICH
// (ch4): within a node a message beyond one cell of the queue makes a rendezvous. Else it is not known.
Eager eager_limit(const std::map<std::string, long long>& variables, bool one_node) {
    std::vector<std::string> candidates;
    if (variables.count("pml_ob1_priority") != 0) {
        if (one_node) candidates = {"btl_sm_eager_limit", "btl_vader_eager_limit"};
        candidates.emplace_back("btl_tcp_eager_limit");
    } else if (one_node && library_version().find("ch4") != std::string::npos) {
        candidates = {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"};
    }
    for (const std::string& name : candidates) {
        const auto found = variables.find(name);
        if (found != variables.end()) return {name, found->second};
    }
    return {};
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

void print_summary(const Options& options, const Run& run, const Clock& clock, const Eager& eager,
                   const std::array<Place, 2>& places, bool one_node, std::size_t sizes,
                   const std::map<std::string, long long>& variables) {
    std::printf("{\"library\": %s, \"same_node\": %s, ", quoted(library_version()).c_str(),
                one_node ? "true" : "false");
    std::printf("\"eager_variable\": %s, \"eager_limit\": %s, ",
                eager.limit < 0 ? "null" : quoted(eager.variable).c_str(),
                eager.limit < 0 ? "null" : std::to_string(eager.limit).c_str());
    std::printf("\"ranks\": [");
    for (std::size_t i = 0; i < places.size(); ++i) {
        std::printf("%s{\"host\": %s, \"cpu\": %d, \"pinned_by_probe\": %s}", i > 0 ? ", " : "",
                    quoted(places[i].host.data()).c_str(), places[i].cpu,
                    places[i].pinned_by_us != 0 ? "true" : "false");
    }
    std::printf("], \"variables\": {");
    const char* separator = "";
    for (const auto& [name, value] : variables) {
        std::printf("%s%s: %lld", separator, quoted(name).c_str(), value);
        separator = ", ";
    }
    std::printf("}, \"counter\": \"%s\", \"tick_ns\": %.9f, \"read_cost_ns\": %.3f, \"wait_cost_ns\": %.3f, ",
                idlewave::ticks_source(), clock.tick_ns, clock.read_cost * clock.tick_ns,
                clock.wait_cost * clock.tick_ns);
    std::printf("\"train\": %d, \"seed\": %lu, \"sizes\": %zu, \"max_size\": %d, \"repetitions\": %d, ", options.train,
                options.seed, sizes, options.max_size, run.repetitions);
    std::printf("\"samples\": %lld, \"complete\": %s}\n", run.samples, run.complete ? "true" : "false");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) fail("two ranks are needed (mpiexec -n 2), found " + std::to_string(ranks));
    const Options options = parse(argc, argv);
    const std::array<Place, 2> places = pin(rank);
    const bool one_node = same_node();
    if (one_node && places[0].cpu == places[1].cpu && places[0].cpu >= 0) {
        fail("both ranks are bound to CPU " + std::to_string(places[0].cpu) + "; they need one each");
    }
    Buffers buffers(options.max_size, options.train);
    const Clock clock = calibrate();
    if (rank == server) {
        serve(clock, buffers);
    } else {
        const auto variables = idlewave::protocol_variables();
        const Eager eager = eager_limit(variables, one_node);
        const std::vector<int> sizes = choose_sizes(options.max_size, eager.limit);
        Client measuring(options, sizes, clock, buffers);
        const Run run = measuring.run();
        print_summary(options, run, clock, eager, places, one_node, sizes.size(), variables);
    }
    MPI_Finalize();
    return 0;
}
