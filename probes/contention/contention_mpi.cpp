// The same with MPI's puts as traffic: rank 0 computes, rank 1 puts into rank 0's window at the rate.
//
// mpiexec -n 2 idlewave-contention-mpi --victim NAME --output FILE --rate B/S ...

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "common/arguments.hpp"
#include "common/stop.hpp"
#include "contention/measurement.hpp"
#include "contention/token_bucket.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::contention;

constexpr const char* program = "idlewave-contention-mpi";
constexpr int start_tag = 1;
constexpr int stop_tag = 2;

// The memory into which the origin puts, and behind it the count of bytes that it has put.
class Window {
  public:
    explicit Window(std::size_t buffer) : buffer_(whole_pages(buffer)) {
        const std::size_t own = rank_of(MPI_COMM_WORLD) == 0 ? buffer_ + page_size() : 0;
        MPI_Win_allocate(static_cast<MPI_Aint>(own), 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory_),
                         &window_);
        if (own > 0) std::memset(memory_, 0, own);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window() {
        if (std::uncaught_exceptions() > 0) return;  // the abort that follows ends all
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    void put(const char* from, std::size_t bytes, std::size_t at) {
        MPI_Put(from, static_cast<int>(bytes), MPI_CHAR, 0, static_cast<MPI_Aint>(at), static_cast<int>(bytes),
                MPI_CHAR, window_);
    }
    void put_count(const std::uint64_t& count) {
        MPI_Win_flush(0, window_);
        MPI_Put(&count, 1, MPI_UINT64_T, 0, static_cast<MPI_Aint>(buffer_), 1, MPI_UINT64_T, window_);
        MPI_Win_flush(0, window_);
    }
    [[nodiscard]] std::uint64_t count() const {
        return *reinterpret_cast<const volatile std::uint64_t*>(memory_ + buffer_);
    }
    void progress() {
        int found = 0;
        MPI_Iprobe(1, stop_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        MPI_Win_sync(window_);
    }

  private:
    std::size_t buffer_;
    MPI_Win window_ = MPI_WIN_NULL;
    char* memory_ = nullptr;
};

// The target's side of the puts.
class Puts {
  public:
    explicit Puts(Window& window) : window_(window) {}

    void start() { MPI_Send(nullptr, 0, MPI_CHAR, 1, start_tag, MPI_COMM_WORLD); }
    [[nodiscard]] std::uint64_t bytes() const { return window_.count(); }
    void check() { window_.progress(); }  // an MPI whose puts need the target goes on here
    void stop() { MPI_Send(nullptr, 0, MPI_CHAR, 1, stop_tag, MPI_COMM_WORLD); }

  private:
    Window& window_;
};

bool has_message(int tag) {
    int there = 0;
    MPI_Iprobe(0, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there != 0) MPI_Recv(nullptr, 0, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return there != 0;
}

// Puts at the rate until the target says stop.
void put_at_rate(const TrafficOptions& options, Window& window) {
    while (!has_message(start_tag)) nap();
    if (options.rate == 0) {
        while (!has_message(stop_tag)) nap();
        return;
    }
    const std::size_t chunk = chunk_of(options.rate, 2e-5, std::min<std::size_t>(options.buffer, 64 << 10));
    const PageMemory own = new_pages(chunk);
    const std::size_t piece = options.pattern == Pattern::random ? line_bytes : chunk;
    LineOrder order(options.pattern, options.buffer, options.seed);
    const double depth = std::max(options.rate * bucket_seconds, 2.0 * static_cast<double>(chunk));
    TokenBucket bucket(options.rate, depth, nanoseconds(CLOCK_MONOTONIC));
    std::uint64_t written = 0;
    std::size_t at = 0;
    while (!has_message(stop_tag)) {
        if (!bucket.has(static_cast<double>(chunk), nanoseconds(CLOCK_MONOTONIC))) continue;
        for (std::size_t done = 0; done < chunk; done += piece) {
            if (options.pattern == Pattern::random) {
                at = order.next();
            } else if (at + piece > options.buffer) {
                at = 0;
            }
            window.put(own.get() + done, piece, at);
            at += piece;
        }
        bucket.take(static_cast<double>(chunk));
        written += chunk;
        window.put_count(written);
    }
}

void measure(int argc, char* const* argv) {
    RunOptions options;
    const CommandLine described{program, "Puts of rank 1 into the memory of rank 0, beside which rank 0 computes.",
                                arguments_of(options)};
    const int own = split_command(argc, argv, options.victim.command);
    const bool target = rank_of(MPI_COMM_WORLD) == 0;
    if (!parse(described, own, argv, target)) return;
    if (size_of(MPI_COMM_WORLD) != 2) throw wrong_number_of_ranks("two ranks are needed");
    complete(options);
    if (options.victim.name == "command") throw refused("--victim command: expected no command beside puts");
    if (options.traffic.cpus.size() > 1) throw refused("--writer-cpus: expected one CPU for the puts of one rank");
    if (options.traffic.cpus.empty()) options.traffic.cpus = {allowed_cpus().back()};
    if (shares_core(options)) throw refused("--writer-cpus: expected another CPU than the victim's");
    pin(target ? options.victim_cpu : options.traffic.cpus.front());
    stop_on_signals(patience_after_stop);
    Window window(options.traffic.buffer);
    if (!target) {
        put_at_rate(options.traffic, window);
        return;
    }
    Puts puts(window);
    KernelCounters source;
    Run<Puts> run(options, puts, source);
    print_line(run.measure().add("mpi", true).text().text);
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, measure);
}
