#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "goal/graph.hpp"
#include "goal/graph_run.hpp"
#include "loggopsim/agenda.hpp"
#include "loggopsim/costs.hpp"
#include "loggopsim/state.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::loggopsim {

/// One run by LogGOPSim's rules. Comments mark each difference from the model (docs/model.md).
class Simulator {
  public:
    Simulator(const goal::Graph& schedule, const Costs& costs);

    /// Executes the next event. Returns false if there is none.
    bool step();

    [[nodiscard]] Time now() const { return now_; }
    [[nodiscard]] std::uint64_t messages() const { return messages_; }

    /// By rank: the time from which the last CPU is free.
    [[nodiscard]] std::vector<Time> finish() const;

    /// Unmatched receives and messages, and ranks with ops that were never released.
    [[nodiscard]] standstill::Unfinished unfinished() const;
    /// The number of unmet requirements of each op of a rank.
    [[nodiscard]] std::vector<std::uint32_t> unmet_requirements(std::uint32_t rank) const {
        return requirements_.unmet(rank);
    }

  private:
    void calc(const Event& event);
    void send(const Event& event);
    void post(const Event& event);
    void receive(const Event& event);
    void release_send(std::uint32_t rank, goal::OpIndex op_index, std::uint8_t cpu, std::uint8_t nic, Time now);

    void started(std::uint32_t rank, goal::OpIndex op_index) { release(rank, op_index, goal::Edge::start); }
    void ended(std::uint32_t rank, goal::OpIndex op_index) { release(rank, op_index, goal::Edge::end); }
    void release(std::uint32_t rank, goal::OpIndex op_index, goal::Edge edge);
    void add_released();

    [[nodiscard]] goal::Op op_of(const Event& event) const;
    [[nodiscard]] Time free_from(const Event& event) const;
    [[nodiscard]] std::uint64_t resources_of(const Event& event) const;

    const goal::Graph& schedule_;
    Costs costs_;
    FreeTimes cpu_;
    FreeTimes tx_;
    FreeTimes rx_;
    std::vector<MatchQueue> posted_;
    std::vector<MatchQueue> unexpected_;
    Requirements requirements_;
    std::vector<std::pair<std::uint32_t, goal::OpIndex>>
        released_;  ///< ops that the present event has released, in order
    Agenda agenda_;
    Time now_ = 0;
    std::uint64_t messages_ = 0;
};

}  // namespace idlewave::loggopsim
