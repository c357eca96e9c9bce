// A short assessment of the path between two ranks: PRTT(n,d,s) at a handful of sizes (T. Hoefler, A. Lichei, W. Rehm:
// Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks, 2007). No clocks are compared.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "common/switches.hpp"
#include "common/ticks.hpp"
#include "network/processor_clock.hpp"
#include "network/slots.hpp"
#include "network/sorted_sample.hpp"

namespace idlewave::probe {

constexpr int command_tag = 20;
constexpr int data_tag = 21;
constexpr int switches_tag = 22;

enum class QuickSeries : std::int32_t { round_trip, train, paced };
constexpr std::array<const char*, 3> quick_series_names = {"rtt", "train", "paced"};

struct QuickExchange {
    QuickSeries series = QuickSeries::round_trip;
    int size = 1;
};

struct QuickSample {
    QuickExchange job;
    double value_ns = 0;
    double delay_ns = 0;         // real delay between two messages, on average
    std::int64_t start_ns = 0;   // since the measurement began, on the client's clock
    std::int64_t disturbed = 0;  // involuntary context switches of both ranks meanwhile
};

struct Visit {
    double seconds = 0.1;
    double precision = 0.02;  // the relative width of every median's 95 % interval at which it ends; 0: never
    int passes = 64;          // passes whose samples are recorded
    std::uint64_t seed = 1;
};

// The settings that all visits have in common.
struct QuickAssessment {
    std::vector<int> sizes;
    int train = 8;
    network::ProcessorClock clock;
    std::int64_t begin_ns = 0;
};

// The buffers of messages.
class Buffers {
  public:
    explicit Buffers(const QuickAssessment& assessment)
        : slots_(*std::max_element(assessment.sizes.begin(), assessment.sizes.end())) {}

    void refresh(int size, int messages) { slots_.refresh(size, messages); }
    void send(int size, int peer, int message) {
        MPI_Send(slots_.outgoing(message), size, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD);
    }
    void receive(int size, int peer) {
        MPI_Recv(slots_.incoming(), size, MPI_CHAR, peer, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

  private:
    network::Slots slots_;
};

struct Command {
    std::int32_t messages = 0;  // 0: the end of the visit
    std::int32_t size = 0;
};

// ---- the server

inline void serve_visit(Buffers& buffers, int client) {
    std::vector<std::int64_t> switches;
    while (true) {
        Command command;
        MPI_Recv(&command, 2, MPI_INT32_T, client, command_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (command.messages == 0) break;
        buffers.receive(command.size, client);
        buffers.send(command.size, client, 0);
        buffers.refresh(command.size, 1);
        const std::int64_t before = involuntary_switches();
        for (int i = 0; i < command.messages; ++i) buffers.receive(command.size, client);
        buffers.send(command.size, client, 0);
        switches.push_back(involuntary_switches() - before);
    }
    MPI_Send(switches.data(), static_cast<int>(switches.size()), MPI_INT64_T, client, switches_tag, MPI_COMM_WORLD);
}

// ---- the client

class ClientVisit {
  public:
    ClientVisit(const QuickAssessment& assessment, Buffers& buffers, int server, const Visit& visit)
        : assessment_(assessment), buffers_(buffers), server_(server), visit_(visit), random_(visit.seed) {
        for (const int size : assessment.sizes) {
            jobs_.push_back({QuickSeries::round_trip, size});
            jobs_.push_back({QuickSeries::train, size});
        }
        jobs_.push_back({QuickSeries::paced, assessment.sizes.front()});
    }

    // Returns the samples of the recorded passes. If a visit must last its time, it continues after them.
    std::vector<QuickSample> run() {
        const double begin = seconds_now();
        warm_up();
        std::vector<network::SortedSample> values(jobs_.size());
        std::vector<std::size_t> order(jobs_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        for (int pass = 0; pass == 0 || seconds_now() - begin < visit_.seconds; ++pass) {
            std::shuffle(order.begin(), order.end(), random_);
            for (const std::size_t i : order) {
                const QuickSample sample = measure(jobs_[i]);
                if (pass >= visit_.passes) continue;
                kept_.push_back({sample, count_ - 1});
                values[i].add(sample.value_ns);
            }
            if (visit_.precision > 0 && (pass + 1 >= visit_.passes || settled(values))) break;
        }
        return finish();
    }

  private:
    struct KeptSample {
        QuickSample sample;
        std::size_t number;  // among all exchanges of the visit
    };

    static double seconds_now() { return 1e-9 * static_cast<double>(nanoseconds(CLOCK_MONOTONIC)); }

    // Sets up connections, fills caches, and finds the pause of the paced train: PRTT(2,0,s), which is longer than a
    // round trip and than a gap.
    void warm_up() {
        for (const int size : assessment_.sizes) exchange(size, assessment_.train, 0);
        constexpr int tries = 5;
        network::SortedSample values;
        for (int i = 0; i < tries; ++i) values.add(exchange(assessment_.sizes.front(), 2, 0).value_ns);
        pause_ns_ = values.median();
    }

    QuickSample measure(const QuickExchange& job) {
        const int messages = job.series == QuickSeries::round_trip ? 1 : assessment_.train;
        QuickSample sample = exchange(job.size, messages, job.series == QuickSeries::paced ? pause_ns_ : 0);
        sample.job = job;
        return sample;
    }

    QuickSample exchange(int size, int messages, double delay_ns) {
        const Command command{messages, size};
        MPI_Send(&command, 2, MPI_INT32_T, server_, command_tag, MPI_COMM_WORLD);
        ++count_;
        buffers_.send(size, server_, 0);
        buffers_.receive(size, server_);
        buffers_.refresh(size, messages);
        assessment_.clock.settle();
        QuickSample sample;
        sample.start_ns = nanoseconds(CLOCK_MONOTONIC) - assessment_.begin_ns;
        const std::int64_t before = involuntary_switches();
        const Ticks delay = ticks(delay_ns);
        Ticks waited = 0;
        const Ticks begin = read_ticks_ordered();
        buffers_.send(size, server_, 0);
        for (int i = 1; i < messages; ++i) {
            if (delay > 0) waited += assessment_.clock.compute(delay);
            buffers_.send(size, server_, i);
        }
        buffers_.receive(size, server_);
        const Ticks end = read_ticks_ordered();
        sample.disturbed = involuntary_switches() - before;
        sample.value_ns = (static_cast<double>(end - begin) - assessment_.clock.read_cost) * assessment_.clock.tick_ns;
        if (delay > 0) {
            const double each = static_cast<double>(waited) / (messages - 1) + assessment_.clock.wait_cost;
            sample.delay_ns = each * assessment_.clock.tick_ns;
        }
        return sample;
    }

    bool settled(const std::vector<network::SortedSample>& values) const {
        constexpr std::size_t least = 8;
        return std::all_of(values.begin(), values.end(), [&](const network::SortedSample& of_job) {
            return of_job.size() >= least && of_job.interval_width() <= visit_.precision * of_job.median();
        });
    }

    std::vector<QuickSample> finish() {
        const Command over;
        MPI_Send(&over, 2, MPI_INT32_T, server_, command_tag, MPI_COMM_WORLD);
        std::vector<std::int64_t> theirs(count_);
        MPI_Recv(theirs.data(), static_cast<int>(count_), MPI_INT64_T, server_, switches_tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        std::vector<QuickSample> samples;
        for (KeptSample& kept : kept_) {
            kept.sample.disturbed += theirs[kept.number];
            samples.push_back(kept.sample);
        }
        return samples;
    }

    Ticks ticks(double ns) const { return static_cast<Ticks>(ns / assessment_.clock.tick_ns); }

    const QuickAssessment& assessment_;
    Buffers& buffers_;
    int server_;
    Visit visit_;
    std::mt19937_64 random_;
    std::vector<QuickExchange> jobs_;
    std::vector<KeptSample> kept_;
    std::size_t count_ = 0;
    double pause_ns_ = 0;
};

}  // namespace idlewave::probe
