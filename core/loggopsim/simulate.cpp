#include "loggopsim/simulate.hpp"

#include <utility>

#include "base/error.hpp"
#include "loggopsim/costs.hpp"
#include "loggopsim/simulator.hpp"
#include "standstill/standstill.hpp"

namespace idlewave::loggopsim {
namespace {

bool has_synchronous_sends(const goal::Graph& schedule) {
    for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank) {
        for (goal::OpIndex op_index = 0; op_index < schedule.size(rank); ++op_index) {
            const goal::Op op = schedule.op(rank, op_index);
            if (op.kind == goal::OpKind::send && goal::is_synchronous(op.size)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

Result simulate(const goal::Graph& schedule, const machine::Machine& machine, const std::function<void(Time)>& poll) {
    constexpr std::uint64_t steps_between_polls = 4096;
    if (has_synchronous_sends(schedule)) {
        throw InputError("expected no synchronous sends, as the LogGOPSim dialect has none; use the dialect loggops");
    }
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
