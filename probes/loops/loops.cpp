// Loops as the OSU benchmarks have them, of two ranks or more: what a measured machine's predictions are held against.
//
// mpiexec -n P idlewave-loops FILE SECONDS MAX_SIZE SEED
// It shares no code with the probes. Each loop is timed by rank 0 from a barrier on, after two repetitions that are
// not. A sample waits until no core is shared, and is taken again, up to five times, where one was. A barrier follows
// each broadcast and each reduction, so that no rank runs ahead. Before and after it the times of a ping-pong of one
// byte (pilot), of a barrier, and of a reference computation, of the slowest rank, say how fast the machine is. FILE
// gets a line a sample, with the columns below.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int window = 64;
constexpr int pilots = 8;
constexpr int most_tries = 6;          // until no core was shared
constexpr double longest_wait = 0.02;  // for unshared cores, s
constexpr const char* columns =
    "loop,size,repetitions,elapsed_ns,pilot_before_ns,pilot_after_ns,barrier_before_ns,barrier_after_ns,"
    "reference_before_ns,reference_after_ns\n";
const std::vector<std::string> point_to_point{"latency", "bandwidth", "bidirectional bandwidth"};
const std::vector<std::string> collectives{"barrier", "bcast", "reduce", "allreduce", "alltoall"};

struct Item {
    std::string loop;
    int size;
};

// Times in ns: of all repetitions, and of what shows the speed before and after them.
struct Sample {
    int repetitions = 0;
    double elapsed = 0;
    double pilot[2] = {};
    double barrier[2] = {};
    double reference[2] = {};
};

class Loops {
  public:
    explicit Loops(int most) : to_(static_cast<std::size_t>(most) / 4 + 1, 1.0F), from_(to_) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        all_to_.resize(to_.size() * static_cast<std::size_t>(ranks_));
        all_from_.resize(all_to_.size());
    }

    // Short: the machine's speed changes within milliseconds.
    Sample sample(const Item& item) {
        const int messages = item.loop.find("bandwidth") == std::string::npos ? 1 : window;
        Sample found{std::clamp((1 << 18) / std::max(item.size * messages, 1), 2, std::max(64 / messages, 2))};
        found.pilot[0] = pilot();
        found.barrier[0] = barrier();
        found.reference[0] = longest(reference());
        found.elapsed = time(item, found.repetitions);
        found.reference[1] = longest(reference());
        found.barrier[1] = barrier();
        found.pilot[1] = pilot();
        return found;
    }

    // Whether a core was shared beside the sample.
    bool shared(const Sample& sample) {
        const auto [lesser, greater] = std::minmax(sample.reference[0], sample.reference[1]);
        return takes_longer(lesser) || takes_longer(greater);
    }

    // Waits until no core is shared, for `longest_wait` at most. Returns whether that came.
    bool await_unshared() {
        const double begin = MPI_Wtime();
        while (takes_longer(longest(reference()))) {
            if (longest(MPI_Wtime() - begin) > longest_wait) return false;  // all ranks end alike
        }
        return true;
    }

    // The longest of all ranks.
    static double longest(double own) {
        double found = 0;
        MPI_Allreduce(&own, &found, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return found;
    }

  private:
    // Whether the reference computation took longer than on an unshared core.
    bool takes_longer(double time) {
        least_reference_ = std::min(least_reference_, time);
        return time > 1.12 * least_reference_;
    }

    double pilot() {
        for (int i = 0; i < 2; ++i) latency(1);
        const double begin = MPI_Wtime();
        for (int i = 0; i < pilots; ++i) latency(1);
        return (MPI_Wtime() - begin) / pilots * 1e9;
    }

    double barrier() { return time({"barrier", 0}, pilots) / pilots; }

    // The shortest time of some reference computations, as many additions as the probe's, ns.
    static double reference() {
        double least = additions();
        for (int i = 0; i < 5; ++i) least = std::min(least, additions());
        return least;
    }

    static double additions() {
        long a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
        const double begin = MPI_Wtime();
        for (int i = 0; i < 1000; ++i) {
            ++a, ++b, ++c, ++d, ++e, ++f;
            asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
        }
        return (MPI_Wtime() - begin) * 1e9;
    }

    double time(const Item& item, int repetitions) {
        for (int i = 0; i < 2; ++i) once(item);
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        for (int i = 0; i < repetitions; ++i) once(item);
        return (MPI_Wtime() - begin) * 1e9;
    }

    void once(const Item& item) {
        const int size = item.size;
        const int floats = std::max(size / 4, 1);
        if (item.loop == "latency") latency(size);
        if (item.loop == "bandwidth") bandwidth(size);
        if (item.loop == "bidirectional bandwidth") bidirectional(size);
        if (item.loop == "barrier") MPI_Barrier(MPI_COMM_WORLD);
        if (item.loop == "bcast") {
            MPI_Bcast(to_.data(), size, MPI_CHAR, 0, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (item.loop == "reduce") {
            MPI_Reduce(to_.data(), from_.data(), floats, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (item.loop == "allreduce") {
            MPI_Allreduce(to_.data(), from_.data(), floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }
        if (item.loop == "alltoall") {
            MPI_Alltoall(all_to_.data(), size, MPI_CHAR, all_from_.data(), size, MPI_CHAR, MPI_COMM_WORLD);
        }
    }

    // Ranks beyond the first two take no part in point-to-point loops.
    void latency(int size) {
        if (rank_ > 1) return;
        if (rank_ == 0) MPI_Send(to_.data(), size, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(from_.data(), size, MPI_CHAR, 1 - rank_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank_ == 1) MPI_Send(to_.data(), size, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }

    void bandwidth(int size) {
        if (rank_ > 1) return;
        char answer[4] = "";
        for (MPI_Request& request : requests_) {
            if (rank_ == 0) {
                MPI_Isend(to_.data(), size, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
            } else {
                MPI_Irecv(from_.data(), size, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
            }
        }
        MPI_Waitall(window, requests_, MPI_STATUSES_IGNORE);
        if (rank_ == 0) MPI_Recv(answer, 4, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank_ == 1) MPI_Send(answer, 4, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }

    void bidirectional(int size) {
        if (rank_ > 1) return;
        MPI_Request receives[window];
        const int peer = 1 - rank_;
        for (MPI_Request& request : receives) {
            MPI_Irecv(from_.data(), size, MPI_CHAR, peer, 4, MPI_COMM_WORLD, &request);
        }
        for (MPI_Request& request : requests_) {
            MPI_Isend(to_.data(), size, MPI_CHAR, peer, 4, MPI_COMM_WORLD, &request);
        }
        MPI_Waitall(window, requests_, MPI_STATUSES_IGNORE);
        MPI_Waitall(window, receives, MPI_STATUSES_IGNORE);
    }

    int rank_ = 0;
    int ranks_ = 0;
    double least_reference_ = 1e9;
    std::vector<float> to_;
    std::vector<float> from_;
    std::vector<float> all_to_;
    std::vector<float> all_from_;
    MPI_Request requests_[window] = {};
};

std::vector<Item> items(int most, int ranks) {
    std::vector<Item> found{{"barrier", 0}};
    for (int size = 1; size <= most; size *= size < 1024 ? 4 : 2) {
        for (const std::string& loop : collectives) {
            const bool floats = loop == "reduce" || loop == "allreduce";
            if (loop == "barrier" || (floats && size < 4)) continue;
            found.push_back({loop, size});
        }
        if (ranks > 2) continue;
        for (const std::string& loop : point_to_point) {
            if (loop == "latency" || size <= 262144) found.push_back({loop, size});
        }
    }
    return found;
}

void write(std::FILE* file, const Item& item, const Sample& sample) {
    std::fprintf(file, "%s,%d,%d,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n", item.loop.c_str(), item.size,
                 sample.repetitions, sample.elapsed, sample.pilot[0], sample.pilot[1], sample.barrier[0],
                 sample.barrier[1], sample.reference[0], sample.reference[1]);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    const double seconds = std::stod(argv[2]);
    const int most = std::stoi(argv[3]);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::FILE* const file = rank == 0 ? std::fopen(argv[1], "w") : nullptr;
    if (rank == 0 && file == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
    if (file != nullptr) std::fputs(columns, file);
    Loops loops(most);
    std::vector<Item> all = items(most, ranks);
    std::mt19937 random(static_cast<unsigned>(std::stoi(argv[4])));
    const double begin = MPI_Wtime();
    for (int go_on = 1, first = 1; go_on != 0; first = 0) {
        std::shuffle(all.begin(), all.end(), random);
        for (const Item& item : all) {
            go_on = first != 0 || MPI_Wtime() - begin < seconds ? 1 : 0;
            MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
            if (go_on == 0) break;
            for (int tries = 0; tries < most_tries; ++tries) {
                const bool late = loops.longest(MPI_Wtime() - begin) > seconds;
                const bool unshared = !late && loops.await_unshared();
                const Sample sample = loops.sample(item);
                if (file != nullptr) write(file, item, sample);
                if (!unshared || !loops.shared(sample)) break;
            }
        }
    }
    if (file != nullptr && std::fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
