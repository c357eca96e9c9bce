#include "collectives/algorithm_rules.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace idlewave::collectives {
namespace {

auto key(const AlgorithmRule& rule) {
    return std::tuple(rule.collective, rule.ranks, rule.bytes);
}

/// The call's own computation, then the steps of its algorithm.
Step after_own_work(const CollectiveCall& call, StepNumber number) {
    return number == 0 ? steps::work(number, call.own_ns) : call.algorithm(call, number - 1).from(1);
}

}  // namespace

AlgorithmRules::AlgorithmRules(std::vector<AlgorithmRule> rules) : rules_(std::move(rules)) {
    std::ranges::sort(rules_, {}, key);
    for (const AlgorithmRule& rule : rules_) {
        for (const double cost : {rule.reduction_cost, rule.call_ns, rule.call_ns_per_byte}) {
            if (!std::isfinite(cost) || cost < 0) {
                throw InputError("a rule for " + std::string(name_of(rule.collective)) +
                                 ": expected costs from 0 on, found " + std::to_string(cost));
            }
        }
        if (rule.algorithm == nullptr || rule.algorithm->collective != rule.collective) {
            throw InputError("expected an algorithm for " + std::string(name_of(rule.collective)));
        }
    }
    const auto same = std::ranges::adjacent_find(rules_, {}, key);
    if (same != rules_.end()) {
        throw InputError("two rules for " + std::string(name_of(same->collective)) + " from " +
                         std::to_string(same->ranks) + " ranks and " + std::to_string(same->bytes) + " bytes on");
    }
}

bool AlgorithmRules::has(Collective collective) const {
    return std::ranges::any_of(rules_,
                               [collective](const AlgorithmRule& rule) { return rule.collective == collective; });
}

const AlgorithmRule* AlgorithmRules::find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const {
    const auto of_collective = std::ranges::equal_range(rules_, collective, {}, &AlgorithmRule::collective);
    if (of_collective.empty()) {
        return nullptr;
    }
    const auto beyond = std::ranges::upper_bound(of_collective, ranks, {}, &AlgorithmRule::ranks);
    const std::uint32_t nearest = beyond == of_collective.begin() ? beyond->ranks : std::prev(beyond)->ranks;
    const auto of_ranks = std::ranges::equal_range(of_collective, nearest, {}, &AlgorithmRule::ranks);
    const auto larger = std::ranges::upper_bound(of_ranks, bytes, {}, &AlgorithmRule::bytes);
    return larger == of_ranks.begin() ? &*larger : &*std::prev(larger);
}

StepFunction follow(const AlgorithmRule& rule, CollectiveCall& call) {
    constexpr double longest = 9e18;  // ns; it exceeds simulated time, which the simulation reports
    call.segment = call.segment == default_segment ? rule.segment : call.segment;
    call.reduction_cost = call.reduction_cost == 0 ? rule.reduction_cost : call.reduction_cost;
    const double own = rule.call_ns + rule.call_ns_per_byte * static_cast<double>(call.bytes);
    call.own_ns = static_cast<std::uint64_t>(std::llround(std::min(own, longest)));
    call.algorithm = rule.algorithm->step;
    return call.own_ns > 0 ? after_own_work : call.algorithm;
}

}  // namespace idlewave::collectives
