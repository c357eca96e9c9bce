#include "extrapolation/traced_run.hpp"

#include <algorithm>

#include "goal/op.hpp"

namespace idlewave::extrapolation {

TracedRun::TracedRun(const collectives::Program& program) : program_(&program) {
    actions_.reserve(program.ranks.size());
    for (const collectives::RankProgram& rank : program.ranks) {
        actions_.emplace_back(rank);
        for (const collectives::CollectiveSite& site : rank.collectives) {
            ranges_[site.communicator][site.tag] = 0;
        }
    }
    for (auto& [communicator, tags] : ranges_) {
        std::uint32_t number = 0;
        for (auto& [tag, range] : tags) {
            range = number++;
        }
    }
    std::map<std::vector<std::uint32_t>, std::uint32_t> seen;
    for (const std::vector<std::uint32_t>& members : program.communicators) {
        duplicates_.push_back(seen[members]++);
    }
}

bool TracedRun::has_messages() const {
    return std::ranges::any_of(actions_, [](const RankActions& rank) {
        return std::ranges::any_of(rank.all(), [](const Action& action) { return is_message(action.kind); });
    });
}

bool are_equal(std::span<const std::uint64_t> counts) {
    return std::ranges::all_of(counts, [&](std::uint64_t count) { return count == counts.front(); });
}

RunOnGrid::RunOnGrid(const TracedRun& run, const ProcessGrid& grid) : run_(&run), grid_(grid) {
    for (const std::vector<std::uint32_t>& members : run.program().communicators) {
        communicators_.push_back(communicator_rule(members, grid));
    }
}

std::optional<TagRule> RunOnGrid::tag(std::uint32_t tag) const {
    using collectives::MappedTag;
    TagRule rule{.tag = tag};
    if (tag == goal::any || tag < MappedTag::first) {
        return rule;
    }
    const std::uint32_t number = tag - MappedTag::first;
    if (number >= run_->program().mapped_tags.size()) {
        return std::nullopt;
    }
    const MappedTag& mapped = run_->program().mapped_tags[number];
    rule.space = mapped.space;
    rule.ordinal = mapped.ordinal;
    rule.tag = mapped.tag;
    if (mapped.communicator < communicators_.size()) {
        if (!communicators_[mapped.communicator]) {
            return std::nullopt;
        }
        rule.world = false;
        rule.communicator = *communicators_[mapped.communicator];
        rule.duplicate = run_->duplicate(mapped.communicator);
    }
    return rule;
}

std::optional<CollectiveRule> RunOnGrid::collective(const collectives::CollectiveSite& site, bool nonblocking) const {
    const auto differs = [&](const std::vector<std::uint64_t>& counts) {
        return !counts.empty() && counts.front() != site.bytes;
    };
    if (!communicators_[site.communicator] || !are_equal(site.send_counts) || !are_equal(site.recv_counts)) {
        return std::nullopt;
    }
    const std::size_t members = run_->program().communicators[site.communicator].size();
    const bool last = members > 1 && site.root == members - 1;
    return CollectiveRule{.communicator = *communicators_[site.communicator],
                          .duplicate = run_->duplicate(site.communicator),
                          .tags = run_->tags(site.communicator, site.tag),
                          .collective = site.collective,
                          .step = site.step,
                          .rules_used = site.rules_used,
                          .nonblocking = nonblocking,
                          .root = last ? 0 : site.root,
                          .last_is_root = last,
                          .sends_counts = differs(site.send_counts),
                          .recvs_counts = differs(site.recv_counts)};
}

}  // namespace idlewave::extrapolation
