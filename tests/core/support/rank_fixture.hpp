#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph.hpp"
#include "goal/graph_run.hpp"
#include "loggops/observer.hpp"
#include "loggops/rank.hpp"
#include "loggops/tables.hpp"
#include "machine/machine.hpp"
#include "pdes/event.hpp"

namespace idlewave::testing {

/// A schedule of `ranks` ranks without ops.
inline goal::Graph empty_schedule(std::uint32_t ranks) {
    goal::GraphBuilder builder;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        builder.begin_rank();
    }
    return builder.finish();
}

/// A machine with L = 1000, o_s = 20, o_r = 30, g = 50, G = 2 and O = 1, in picoseconds, and S = 100 bytes.
inline machine::Machine small_machine() {
    machine::Machine machine;
    machine.network.segments[0].parameters = {.L = 1000, .o_s = 20, .o_r = 30, .g = 50, .G = 2, .O_s = 1, .O_r = 1};
    machine.network.S = 100;
    return machine;
}

/// Stands for the kernel: keeps the messages that a rank sends.
struct SentMessages {
    struct Sent {
        std::uint32_t destination;
        Time time;
        loggops::Message message;
        std::uint32_t sequence;
    };
    const loggops::MessageClasses& classes;
    std::vector<Sent> messages = {};

    [[nodiscard]] std::uint32_t sent() const { return static_cast<std::uint32_t>(messages.size()); }
    void send(std::uint32_t destination, Time time, std::uint16_t code) {
        send(destination, time, classes[code].message);
    }
    void send(std::uint32_t destination, Time time, const loggops::Message& message) {
        messages.push_back({destination, time, message, sent()});
    }
};

/// Some ranks with one CPU and one NIC, for tests of a single part of a worker.
class RankFixture {
  public:
    using Tables = loggops::RankTables<goal::Graph, loggops::NoObserver>;
    using Current = loggops::CurrentRank<goal::Graph, Time>;
    using Event = pdes::Event<loggops::Message>;

    RankFixture(const machine::Machine& machine, std::uint32_t ranks)
        : graph_(empty_schedule(ranks)), machine_(machine), tables(graph_, machine_, 0, observer_), states_(ranks) {}

    Current current(std::uint32_t rank) {
        Current current;
        current.enter(states_[rank], rank, tables.free_times_of(rank, states_[rank]));
        return current;
    }
    loggops::Rank<goal::Graph, Time>& state(std::uint32_t rank) { return states_[rank]; }
    SentMessages context() { return {tables.classes}; }

  private:
    loggops::NoObserver observer_;
    goal::Graph graph_;
    machine::Machine machine_;

  public:
    Tables tables;

  private:
    std::vector<loggops::Rank<goal::Graph, Time>> states_;
};

}  // namespace idlewave::testing
