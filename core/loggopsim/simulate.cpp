#include "loggopsim/simulate.hpp"

#include <utility>

#include "base/error.hpp"
#include "loggopsim/costs.hpp"
#include "loggopsim/simulator.hpp"

namespace idlewave::loggopsim {

Result simulate(const Graph& schedule, const Machine& machine, const std::function<void(Time)>& poll) {
    constexpr std::uint64_t steps_between_polls = 4096;
    Simulator simulator(schedule, costs_of(machine));
    for (std::uint64_t steps = 1; simulator.step(); ++steps) {
        if (poll && steps % steps_between_polls == 0) {
            poll(simulator.now());
        }
    }
    std::vector<Waiting> waiting = simulator.unfinished();
    if (!waiting.empty()) {
        throw deadlock(std::move(waiting));
    }
    return {.finish = simulator.finish(), .messages = simulator.messages()};
}

}  // namespace idlewave::loggopsim
