#include "standstill/blocked_ops.hpp"

#include <algorithm>
#include <utility>

namespace idlewave::standstill {
namespace {

constexpr std::size_t most_members = std::size_t{1} << 22;

void make_unique(std::vector<std::uint32_t>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

BlockedOps::BlockedOps(const goal::RankSchedule& rank_schedule, std::span<const goal::OpIndex> pending,
                       std::vector<std::uint32_t> unmet)
    : required_(links_by(rank_schedule, &goal::Requirement::successor)),
      successors_(links_by(rank_schedule, &goal::Requirement::predecessor)),
      pending_(rank_schedule.ops.size(), not_pending),
      unmet_(std::move(unmet)),
      cause_(rank_schedule.ops.size(), unknown) {
    for (std::uint32_t i = 0; i < pending.size(); ++i) {
        pending_[pending[i]] = i;
    }
    if (unmet_.empty()) {
        find_blocked();
    }
    count_ = static_cast<std::uint64_t>(std::count_if(unmet_.begin(), unmet_.end(), [](auto n) { return n > 0; }));
    find_causes();
}

auto BlockedOps::links_by(const goal::RankSchedule& rank_schedule, goal::OpIndex goal::Requirement::* key) -> Links {
    Links links{std::vector<std::uint32_t>(rank_schedule.ops.size() + 1),
                std::vector<Wait>(rank_schedule.requirements.size())};
    for (const goal::Requirement& r : rank_schedule.requirements) {
        ++links.begin[r.*key + 1];
    }
    for (std::size_t i = 1; i < links.begin.size(); ++i) {
        links.begin[i] += links.begin[i - 1];
    }
    std::vector<std::uint32_t> next(links.begin.begin(), links.begin.end() - 1);
    for (const goal::Requirement& r : rank_schedule.requirements) {
        links.waits[next[r.*key]++] = {r.successor, r.predecessor, r.edge};
    }
    return links;
}

/// Every op that has become ready has started; it has ended, too, unless it is pending.
void BlockedOps::find_blocked() {
    unmet_.resize(pending_.size());
    std::vector<goal::OpIndex> ready;
    for (goal::OpIndex op_index = 0; op_index < unmet_.size(); ++op_index) {
        unmet_[op_index] = static_cast<std::uint32_t>(of(required_, op_index).size());
        if (unmet_[op_index] == 0) {
            ready.push_back(op_index);
        }
    }
    while (!ready.empty()) {
        const goal::OpIndex op_index = ready.back();
        ready.pop_back();
        for (const Wait& wait : of(successors_, op_index)) {
            if (is_met(wait) && --unmet_[wait.op_index] == 0) {
                ready.push_back(wait.op_index);
            }
        }
    }
}

/// Handles the ops in topological order. Ops that this order never reaches wait for themselves.
void BlockedOps::find_causes() {
    std::vector<std::uint32_t> before(unmet_.size());  // by op: the number of its required ops whose cause is not known
    std::vector<goal::OpIndex> known;
    for (goal::OpIndex op_index = 0; op_index < unmet_.size(); ++op_index) {
        if (!blocks(op_index)) {
            continue;
        }
        const auto required = of(required_, op_index);
        before[op_index] = static_cast<std::uint32_t>(
            std::count_if(required.begin(), required.end(), [this](const Wait& wait) { return blocks(wait.other); }));
        if (before[op_index] == 0) {
            known.push_back(op_index);
        }
    }
    while (!known.empty()) {
        const goal::OpIndex op_index = known.back();
        known.pop_back();
        cause_[op_index] = cause_of(op_index);
        for (const Wait& wait : of(successors_, op_index)) {
            if (blocks(wait.op_index) && --before[wait.op_index] == 0) {
                known.push_back(wait.op_index);
            }
        }
    }
    for (goal::OpIndex op_index = 0; op_index < unmet_.size(); ++op_index) {
        if (blocks(op_index) && cause_[op_index] == unknown) {
            cause_[op_index] = itself;
        }
    }
}

/// The cause of an op whose required ops all have one.
std::uint32_t BlockedOps::cause_of(goal::OpIndex op_index) {
    Set own;
    Set inherited;
    for (const Wait& wait : of(required_, op_index)) {
        if (blocks(wait.other)) {
            inherited.push_back(cause_[wait.other]);
        } else if (!is_met(wait)) {
            own.push_back(pending_[wait.other]);
        }
    }
    make_unique(inherited);
    if (own.empty() && !inherited.empty() && (inherited.size() == 1 || members_ > most_members)) {
        return inherited.front();
    }
    if (members_ <= most_members) {
        for (const std::uint32_t cause : inherited) {
            const auto more = pending_of(cause);
            own.insert(own.end(), more.begin(), more.end());
        }
    }
    make_unique(own);
    return number_of(std::move(own));
}

std::uint32_t BlockedOps::number_of(Set set) {
    const std::size_t members = set.size();
    const auto [found, added] = numbers_.try_emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
    if (added) {
        sets_.push_back(&found->first);
        members_ += members;
    }
    return found->second;
}

auto BlockedOps::cycle() const -> std::vector<Wait> {
    const auto first = std::find(cause_.begin(), cause_.end(), itself);
    if (first == cause_.end()) {
        return {};
    }
    const auto next = [this](goal::OpIndex op_index) {
        const auto required = of(required_, op_index);
        return *std::find_if(required.begin(), required.end(),
                             [this](const Wait& wait) { return cause_[wait.other] == itself; });
    };
    auto op_index = static_cast<goal::OpIndex>(first - cause_.begin());
    for (std::vector<bool> seen(cause_.size()); !seen[op_index]; op_index = next(op_index).other) {
        seen[op_index] = true;
    }
    std::vector<Wait> waits;
    do {
        waits.push_back(next(op_index));
        op_index = waits.back().other;
    } while (op_index != waits.front().op_index);
    std::rotate(waits.begin(),
                std::min_element(waits.begin(), waits.end(),
                                 [](const Wait& a, const Wait& b) { return a.op_index < b.op_index; }),
                waits.end());
    return waits;
}

}  // namespace idlewave::standstill
