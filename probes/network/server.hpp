// The server's side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/failure.hpp"
#include "common/stop.hpp"
#include "network/foreign_load.hpp"
#include "network/orders.hpp"
#include "network/transport.hpp"

namespace idlewave::probe::network {

template <class S>
class Server {
  public:
    Server(S side, int cpu) : side_(side), load_(cpu) {}

    // Executes the client's orders until the order to stop.
    void serve() {
        while (true) {
            const Order order = receive_value<Order>(side_.control);
            if (order.part == ServerTask::stop) return;
            Report report;
            if (order.part == ServerTask::load) {
                report.value_ns = load_.since_last();
            } else {
                check(order);
                report.lost = sample(order, report) ? 0 : 1;
            }
            report.interrupted = stop_asked() ? 1 : 0;
            send_value(side_.control, report);
        }
    }

  private:
    // Checks an order. It may have come over a network that others use, so no buffer may be exceeded.
    void check(const Order& order) {
        constexpr double longest_ns = 3.6e12;
        constexpr std::int32_t most_warm = 16;
        const bool known = order.part >= ServerTask::answer && order.part <= ServerTask::sink;
        const bool fits = order.size >= S::DataType::traits.smallest && order.size <= side_.data.limit();
        const bool flies =
            fits && order.messages >= 1 && order.messages <= std::max(1, side_.data.in_flight(order.size));
        const bool warm = order.warm >= 0 && order.warm <= most_warm;
        if (known && flies && warm && order.delay_ns >= 0 && order.delay_ns <= longest_ns) return;
        throw failed("the other side asks for " + std::to_string(order.messages) + " messages of " +
                     std::to_string(order.size) + " B, which this one does not know how to take");
    }

    // Returns false if a message was lost.
    bool sample(const Order& order, Report& report) {
        if constexpr (S::DataType::traits.passive) {
            side_.data.serve(order.size, order.warm + order.messages);
            return true;
        }
        side_.data.start(order.sample);
        side_.data.refresh(order.size, 1);
        for (int i = 0; i < order.warm; ++i) {
            if (!side_.data.receive(order.size, 1)) return false;
            side_.data.send(order.size, 0);
            side_.data.flush();
        }
        const std::int64_t before = side_.clock.involuntary();
        const bool came = part(order, report);
        report.switches = side_.clock.involuntary() - before;
        return came;
    }

    bool part(const Order& order, Report& report) {
        switch (order.part) {
            case ServerTask::answer:
                return answer(order);
            case ServerTask::receive:
                return timed_receive(order, report);
            case ServerTask::complete:
                return timed_completion(order, report);
            case ServerTask::sink:
                return sink(order);
            default:
                return true;
        }
    }

    bool answer(const Order& order) {
        side_.data.refresh(order.size, 1);
        if (!side_.data.receive(order.size, order.messages)) return false;
        side_.data.send(order.size, 0);
        side_.data.flush();
        return true;
    }

    bool timed_receive(const Order& order, Report& report) {
        compute(order.delay_ns);
        const Ticks begin = side_.clock.now();
        const bool came = side_.data.receive(order.size, 1);
        report.value_ns = since(begin);
        return came;
    }

    // Times the completion of a receive that was posted before its message came.
    bool timed_completion(const Order& order, Report& report) {
        if constexpr (requires { side_.data.post(order.size); }) {
            side_.data.post(order.size);
            compute(order.delay_ns);
            const Ticks begin = side_.clock.now();
            const bool came = side_.data.wait(order.size);
            report.value_ns = since(begin);
            return came;
        } else {
            return timed_receive(order, report);
        }
    }

    bool sink(const Order& order) {
        if (order.delay_ns > 0) {
            side_.clock.settle();
            linger(order.delay_ns);
        }
        return side_.data.receive(order.size, order.messages);
    }

    // Waits before a late receive, and lets the library make progress meanwhile: Open MPI's sends of more than 256 B
    // within a node wait until the receiver calls MPI, though they are eager.
    void linger(double ns) {
        if constexpr (requires { side_.data.progress(); }) {
            const Ticks begin = side_.clock.now();
            const Ticks length = static_cast<Ticks>(ns / side_.clock.tick_ns);
            while (side_.clock.now() - begin < length) side_.data.progress();
        } else {
            compute(ns);
        }
    }

    void compute(double ns) { side_.clock.compute(static_cast<Ticks>(ns / side_.clock.tick_ns)); }

    double since(Ticks begin) {
        const double ticks = static_cast<double>(side_.clock.now() - begin) - side_.clock.read_cost;
        return side_.clock.observed(ticks * side_.clock.tick_ns);
    }

    S side_;
    ForeignLoad load_;
};

}  // namespace idlewave::probe::network
