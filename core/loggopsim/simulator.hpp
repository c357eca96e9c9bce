#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "goal/graph.hpp"
#include "loggopsim/agenda.hpp"
#include "loggopsim/costs.hpp"
#include "loggopsim/state.hpp"
#include "standstill/left.hpp"

namespace idlewave::loggopsim {

/// One run by LogGOPSim's rules. What it does that the model (docs/model.md) does not is said where it is done.
class Simulator {
  public:
    Simulator(const Graph& schedule, const Costs& costs);

    /// Carry out the next event. Returns false when nothing can happen any more.
    bool step();

    [[nodiscard]] Time now() const { return now_; }
    [[nodiscard]] std::uint64_t messages() const { return messages_; }

    /// When each rank's last CPU is free.
    [[nodiscard]] std::vector<Time> finish() const;

    /// What is left: receives, messages, and ranks with ops that never became free.
    [[nodiscard]] Left unfinished() const;
    /// How many requirements of each op of a rank are not met.
    [[nodiscard]] std::vector<std::uint32_t> left(std::uint32_t rank) const { return requirements_.left(rank); }

  private:
    void calc(const Event& event);
    void send(const Event& event);
    void post(const Event& event);
    void receive(const Event& event);
    void release_send(std::uint32_t rank, OpIndex op_index, std::uint8_t cpu, std::uint8_t nic, Time now);

    void started(std::uint32_t rank, OpIndex op_index) { release(rank, op_index, Edge::start); }
    void ended(std::uint32_t rank, OpIndex op_index) { release(rank, op_index, Edge::end); }
    void release(std::uint32_t rank, OpIndex op_index, Edge edge);
    void add_released();

    [[nodiscard]] Op op_of(const Event& event) const;
    [[nodiscard]] Time free_from(const Event& event) const;
    [[nodiscard]] std::uint64_t things_of(const Event& event) const;

    const Graph& schedule_;
    Costs costs_;
    Clocks cpu_;
    Clocks tx_;
    Clocks rx_;
    std::vector<Halves> posted_;
    std::vector<Halves> unexpected_;
    Requirements requirements_;
    std::vector<std::pair<std::uint32_t, OpIndex>> released_;  ///< by the present event, in this order
    Agenda agenda_;
    Time now_ = 0;
    std::uint64_t messages_ = 0;
};

}  // namespace idlewave::loggopsim
