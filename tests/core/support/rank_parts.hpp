#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph.hpp"
#include "loggops/observer.hpp"
#include "loggops/rank.hpp"
#include "loggops/tables.hpp"
#include "machine/machine.hpp"
#include "pdes/event.hpp"

namespace idlewave::testing {

/// A schedule of `ranks` ranks without ops.
inline Graph empty_schedule(std::uint32_t ranks) {
    GraphBuilder builder;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        builder.begin_rank();
    }
    return builder.finish();
}

/// A machine with L = 1000, o_s = 20, o_r = 30, g = 50, G = 2 and O = 1, in picoseconds, and S = 100 bytes.
inline Machine small_machine() {
    Machine machine;
    machine.network.segments[0].parameters = {.L = 1000, .o_s = 20, .o_r = 30, .g = 50, .G = 2, .O = 1};
    machine.network.S = 100;
    return machine;
}

/// Stands for the kernel: keeps the messages that a rank sends.
struct SentMessages {
    struct Sent {
        std::uint32_t destination;
        Time time;
        Message message;
        std::uint32_t sequence;
    };
    const MessageClasses& classes;
    std::vector<Sent> messages = {};

    [[nodiscard]] std::uint32_t sent() const { return static_cast<std::uint32_t>(messages.size()); }
    void send(std::uint32_t destination, Time time, std::uint16_t code) {
        send(destination, time, classes[code].message);
    }
    void send(std::uint32_t destination, Time time, const Message& message) {
        messages.push_back({destination, time, message, sent()});
    }
};

/// Some ranks with one CPU and one NIC, for tests of a single part of a worker.
class RankParts {
  public:
    using Tables = RankTables<Graph, NoObserver>;
    using Current = CurrentRank<Graph, Time>;
    using Event = pdes::Event<Message>;

    RankParts(const Machine& machine, std::uint32_t ranks)
        : graph_(empty_schedule(ranks)), machine_(machine), tables(graph_, machine_, 0, observer_), states_(ranks) {}

    Current current(std::uint32_t rank) {
        Current current;
        current.enter(states_[rank], rank, tables.free_times_of(rank, states_[rank]));
        return current;
    }
    Rank<Graph, Time>& state(std::uint32_t rank) { return states_[rank]; }
    SentMessages context() { return {tables.classes}; }

  private:
    NoObserver observer_;
    Graph graph_;
    Machine machine_;

  public:
    Tables tables;

  private:
    std::vector<Rank<Graph, Time>> states_;
};

}  // namespace idlewave::testing
