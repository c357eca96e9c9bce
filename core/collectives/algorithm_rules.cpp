#include "collectives/algorithm_rules.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace idlewave::collectives {
namespace {

auto key(const AlgorithmRule& rule) {
    return std::tuple(rule.collective, rule.ranks, rule.bytes);
}

/// Returns the call's own computation as the first step, and then the steps of its algorithm.
Step after_own_work(const CollectiveCall& call, StepNumber number) {
    return number == 0 ? steps::work(number, call.own_ns) : call.algorithm(call, number - 1).from(1);
}

std::string described(const AlgorithmRule& rule) {
    return std::string(name_of(rule.collective)) + " from " + std::to_string(rule.ranks) + " ranks and " +
           std::to_string(rule.bytes) + " bytes on";
}

void check_rule(const AlgorithmRule& rule) {
    for (const double cost : {rule.reduction_cost, rule.call_ns, rule.call_ns_per_byte}) {
        if (!std::isfinite(cost) || cost < 0) {
            throw InputError("a rule for " + std::string(name_of(rule.collective)) +
                             ": expected costs from 0 on, found " + std::to_string(cost));
        }
    }
    if (rule.algorithm == nullptr ? rule.fallback : rule.algorithm->collective != rule.collective) {
        throw InputError("expected an algorithm for " + std::string(name_of(rule.collective)));
    }
}

/// Refuses rules, which are in order, of which two are for the same calls or count bytes in different ways.
void check_neighbours(const std::vector<AlgorithmRule>& rules) {
    for (std::size_t i = 1; i < rules.size(); ++i) {
        const AlgorithmRule& before = rules[i - 1];
        const AlgorithmRule& rule = rules[i];
        if (key(before) == key(rule)) {
            throw InputError("two rules for " + described(rule));
        }
        if (before.collective == rule.collective && before.ranks == rule.ranks &&
            before.of_all_ranks != rule.of_all_ranks) {
            throw InputError("the rule for " + described(rule) +
                             ": expected all rules for the same ranks to count the bytes of all ranks, or none");
        }
    }
}

std::span<const AlgorithmRule> of_collective(const std::vector<AlgorithmRule>& rules, Collective collective) {
    return std::ranges::equal_range(rules, collective, {}, &AlgorithmRule::collective);
}

/// Finds the rule for a call among rules in order; null if there is none for the collective.
const AlgorithmRule* find_among(const std::vector<AlgorithmRule>& rules, Collective collective, std::uint32_t ranks,
                                std::uint64_t bytes) {
    const std::span<const AlgorithmRule> candidates = of_collective(rules, collective);
    if (candidates.empty()) {
        return nullptr;
    }
    const auto beyond = std::ranges::upper_bound(candidates, ranks, {}, &AlgorithmRule::ranks);
    const std::uint32_t nearest = beyond == candidates.begin() ? beyond->ranks : std::prev(beyond)->ranks;
    const auto of_ranks = std::ranges::equal_range(candidates, nearest, {}, &AlgorithmRule::ranks);
    const auto least_bytes = [ranks](const AlgorithmRule& rule) {
        const std::uint64_t count = rule.of_all_ranks ? std::max<std::uint32_t>(ranks, 1) : 1;
        return rule.bytes / count + (rule.bytes % count != 0 ? 1 : 0);
    };
    const auto larger = std::ranges::upper_bound(of_ranks, bytes, {}, least_bytes);
    return larger == of_ranks.begin() ? &*larger : &*std::prev(larger);
}

}  // namespace

AlgorithmRules::AlgorithmRules(const std::vector<AlgorithmRule>& rules) {
    for (const AlgorithmRule& rule : rules) {
        check_rule(rule);
        (rule.fallback ? fallback_ : rules_).push_back(rule);
    }
    for (std::vector<AlgorithmRule>* list : {&rules_, &fallback_}) {
        std::ranges::sort(*list, {}, key);
        check_neighbours(*list);
    }
    for (const AlgorithmRule& rule : rules_) {
        if (rule.algorithm == nullptr && of_collective(fallback_, rule.collective).empty()) {
            throw InputError("expected an algorithm for " + described(rule) + ", as no fallback has one");
        }
    }
}

bool AlgorithmRules::has(Collective collective) const {
    return !of_collective(rules_, collective).empty() || !of_collective(fallback_, collective).empty();
}

const AlgorithmRule* AlgorithmRules::find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const {
    const AlgorithmRule* found = find_among(rules_, collective, ranks, bytes);
    return found != nullptr && found->algorithm != nullptr ? found : find_among(fallback_, collective, ranks, bytes);
}

StepFunction follow(const AlgorithmRule& rule, CollectiveCall& call) {
    call.segment = call.segment == default_segment ? rule.segment : call.segment;
    call.reduction_cost = call.reduction_cost == 0 ? rule.reduction_cost : call.reduction_cost;
    return work_first(rule, rule.algorithm->step, call.bytes, call);
}

StepFunction work_first(const AlgorithmRule& rule, StepFunction algorithm, std::uint64_t bytes, CollectiveCall& call) {
    constexpr double longest = 9e18;  // ns; it exceeds simulated time, which the simulation reports
    const double own = rule.call_ns + rule.call_ns_per_byte * static_cast<double>(bytes);
    call.own_ns = static_cast<std::uint64_t>(std::llround(std::min(own, longest)));
    call.algorithm = algorithm;
    return call.own_ns > 0 ? after_own_work : call.algorithm;
}

}  // namespace idlewave::collectives
