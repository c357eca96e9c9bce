// The client's side: it takes one sample of a series.
#pragma once

#include <optional>

#include "network/orders.hpp"
#include "network/series.hpp"
#include "network/transport.hpp"

namespace idlewave::probe::network {

struct Sample {
    double value_ns = 0;
    double delay_ns = 0;  // real length of the delay; in trains the mean between two messages
    double start_ns = 0;  // on the clock's own axis
    std::int64_t disturbed = 0;
};

template <class S>
class Client {
  public:
    explicit Client(S side) : side_(side) {}

    // Returns nothing if a message was lost.
    std::optional<Sample> sample(const Exchange& job) {
        const Order order{part_of(job.series),
                          job.size,
                          job.messages,
                          job.size > large ? 1 : 2,
                          ++count_,
                          0,
                          server_waits(job.series) ? job.delay_ns : 0};
        send_value(side_.control, order);
        side_.data.start(order.sample);
        side_.data.refresh(job.size, 1);
        Sample sample;
        Report report;
        if constexpr (S::DataType::traits.passive) report = receive_value<Report>(side_.control);  // all is there
        bool came = warm_up(order);
        if (came) came = timed(job, sample);
        if constexpr (!S::DataType::traits.passive) report = receive_value<Report>(side_.control);
        server_interrupted_ = server_interrupted_ || report.interrupted != 0;
        if (!came || report.lost != 0) return std::nullopt;
        sample.disturbed += report.switches;
        if (order.part == ServerTask::receive || order.part == ServerTask::complete) sample.value_ns = report.value_ns;
        return sample;
    }

    double server_load() {
        send_value(side_.control, Order{ServerTask::load, 1, 1, 0, 0, 0, 0});
        return receive_value<Report>(side_.control).value_ns;
    }

    void stop() { send_value(side_.control, Order{}); }

    bool server_interrupted() const { return server_interrupted_; }

  private:
    static constexpr int large = 65536;

    static ServerTask part_of(Series series) {
        if (series == Series::recv) return ServerTask::receive;
        if (series == Series::wait) return ServerTask::complete;
        const bool unanswered = series == Series::late || series == Series::send || series == Series::few;
        return unanswered ? ServerTask::sink : ServerTask::answer;
    }

    static bool server_waits(Series series) {
        return series == Series::recv || series == Series::wait || series == Series::late;
    }

    // Sets up connections, fills caches, and wakes the other side.
    bool warm_up(const Order& order) {
        for (int i = 0; i < order.warm; ++i) {
            side_.data.send(order.size, 0);
            side_.data.flush();
            if (!side_.data.receive(order.size, 1)) return false;
        }
        return true;
    }

    bool timed(const Exchange& job, Sample& sample) {
        side_.data.refresh(job.size, job.messages);
        if (job.series == Series::recv || job.series == Series::wait) {
            sample.start_ns = ns(side_.clock.now());
            sample.delay_ns = job.delay_ns;
            side_.data.send(job.size, 0);
            side_.data.flush();
            return true;
        }
        side_.clock.settle();
        const std::int64_t before = side_.clock.involuntary();
        const bool came = part_of(job.series) == ServerTask::sink ? sends(job, sample) : exchange(job, sample);
        sample.disturbed = side_.clock.involuntary() - before;
        return came;
    }

    // PRTT(n,d,s). In the series `delayed` the client computes for the delay before it receives the answer.
    bool exchange(const Exchange& job, Sample& sample) {
        const Ticks delay = static_cast<Ticks>(job.delay_ns / side_.clock.tick_ns);
        Ticks waited = 0;
        int waits = 0;
        const Ticks begin = side_.clock.now();
        side_.data.send(job.size, 0);
        for (int i = 1; i < job.messages; ++i) {
            if (delay > 0) {
                waited += side_.clock.compute(delay);
                ++waits;
            }
            side_.data.send(job.size, i);
        }
        side_.data.flush();
        if (job.series == Series::delayed) {
            waited = side_.clock.compute(delay);
            waits = 1;
        }
        const bool came = side_.data.receive(job.size, 1);
        const Ticks end = side_.clock.now();
        finish(sample, begin, end, static_cast<double>(waited) + waits * side_.clock.wait_cost);
        if (waits > 0) sample.delay_ns = sample.delay_ns / waits;
        return came;
    }

    bool sends(const Exchange& job, Sample& sample) {
        const Ticks begin = side_.clock.now();
        for (int i = 0; i < job.messages; ++i) side_.data.send(job.size, i);
        const Ticks end = side_.clock.now();
        side_.data.flush();
        finish(sample, begin, end, 0);
        sample.delay_ns = job.delay_ns;
        if constexpr (S::DataType::traits.passive) return side_.data.receive(job.size, 1);
        return true;
    }

    void finish(Sample& sample, Ticks begin, Ticks end, double waited) {
        const double tick = side_.clock.tick_ns;
        const double whole = (static_cast<double>(end - begin) - side_.clock.read_cost) * tick;
        sample.start_ns = ns(begin);
        sample.delay_ns = waited * tick;
        sample.value_ns = side_.clock.observed(whole - sample.delay_ns) + sample.delay_ns;
    }

    double ns(Ticks ticks) const { return static_cast<double>(ticks) * side_.clock.tick_ns; }

    S side_;
    std::uint32_t count_ = 0;
    bool server_interrupted_ = false;
};

}  // namespace idlewave::probe::network
