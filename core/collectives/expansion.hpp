#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/step.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::collectives {

/// Generates the schedule of a rank, or of one of its threads, op by op, with the requirements of each op.
class Expansion {
  public:
    /// The ops get the indices from `first` on, and the CPU of the thread.
    explicit Expansion(goal::OpIndex first = 0, std::uint8_t cpu = 0) : first_(first), cpu_(cpu) {}

    /// The start or the end of an op.
    struct Condition {
        goal::OpIndex op_index;
        goal::Edge edge;
    };
    using Conditions = std::vector<Condition>;  ///< the requirements of the next op

    [[nodiscard]] Conditions& conditions() { return conditions_; }

    goal::OpIndex add(const goal::Op& op, const Conditions& conditions) {
        const auto op_index = first_ + static_cast<goal::OpIndex>(schedule_.ops.size());
        schedule_.ops.push_back(op);
        schedule_.ops.back().cpu = cpu_;
        for (const Condition& condition : conditions) {
            schedule_.requirements.push_back({op_index, condition.op_index, condition.edge});
        }
        return op_index;
    }

    /// Adds the ops of a collective, converted by `op_of`. Returns the conditions of an op that follows the collective.
    template <class OpOf>
    Conditions add_collective(StepFunction function, const CollectiveCall& call, OpOf op_of) {
        Conditions conditions = conditions_;
        Conditions ends;
        for_each_step(function, call, [&](const Step& step) {
            if (step.kind == Step::Kind::join) {
                merge(conditions, ends);
                ends.clear();
            } else if (step.kind == Step::Kind::op) {
                const goal::OpIndex op_index = add(op_of(step.op()), conditions);
                if (step.op_kind == goal::OpKind::calc) {
                    conditions = {{op_index, goal::Edge::end}};
                } else {
                    conditions = {{op_index, goal::Edge::start}};
                    ends.push_back({op_index, goal::Edge::end});
                }
            }
            if (step.joins) {
                merge(conditions, ends);
                ends.clear();
            }
        });
        merge(conditions, ends);
        return conditions;
    }

    /// The same for a blocking collective: the next op gets these conditions.
    template <class OpOf>
    void collective(StepFunction function, const CollectiveCall& call, OpOf op_of) {
        conditions_ = add_collective(function, call, op_of);
    }

    /// Adds conditions. The end of an op implies its start.
    static void merge(Conditions& conditions, const Conditions& more) {
        conditions.insert(conditions.end(), more.begin(), more.end());
        std::ranges::sort(conditions, [](const Condition& a, const Condition& b) {
            return a.op_index != b.op_index ? a.op_index < b.op_index
                                            : a.edge == goal::Edge::end && b.edge == goal::Edge::start;
        });
        const auto same_op = [](const Condition& a, const Condition& b) { return a.op_index == b.op_index; };
        conditions.erase(std::unique(conditions.begin(), conditions.end(), same_op), conditions.end());
    }

    [[nodiscard]] goal::RankSchedule take() { return std::move(schedule_); }

  private:
    goal::OpIndex first_;
    std::uint8_t cpu_;
    goal::RankSchedule schedule_;
    Conditions conditions_;
};

}  // namespace idlewave::collectives
