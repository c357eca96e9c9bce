#include "loggopsim/simulate.hpp"

#include <utility>

#include "base/error.hpp"
#include "loggopsim/costs.hpp"
#include "loggopsim/simulator.hpp"
#include "standstill/standstill.hpp"

namespace idlewave::loggopsim {

Result simulate(const goal::Graph& schedule, const machine::Machine& machine, const std::function<void(Time)>& poll) {
    constexpr std::uint64_t steps_between_polls = 4096;
    if (schedule.has_one_sided()) {
        throw InputError("expected no one-sided ops, as the LogGOPSim dialect has none; use the dialect loggops");
    }
    Simulator simulator(schedule, costs_of(machine));
    for (std::uint64_t steps = 1; simulator.step(); ++steps) {
        if (poll && steps % steps_between_polls == 0) {
            poll(simulator.now());
        }
    }
    if (standstill::Unfinished unfinished = simulator.unfinished(); !unfinished.empty()) {
        throw standstill::standstill(
            std::move(unfinished),
            {.rank_schedule = [&](std::uint32_t rank) { return schedule.rank_schedule(rank); },
             .name = [&](std::uint32_t rank, goal::OpIndex op_index) { return schedule.name(rank, op_index); },
             .unmet = [&](std::uint32_t rank) { return simulator.unmet_requirements(rank); }});
    }
    return {.finish = simulator.finish(), .messages = simulator.messages()};
}

}  // namespace idlewave::loggopsim
