#include "trace/communicators.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "base/error.hpp"

namespace idlewave::trace {

Communicators::Communicators(const Trace& trace) {
    const auto size = static_cast<std::uint32_t>(trace.ranks.size());
    Group world;
    world.members.resize(size);
    std::iota(world.members.begin(), world.members.end(), 0U);
    groups_[world_id].push_back(std::move(world));
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        self_groups_.push_back({{rank}, false});
    }
    for (const RankTrace& rank : trace.ranks) {
        if (!rank.defines_communicators()) {
            continue;
        }
        rank.each([&](const TraceRecord& record) {
            if (record.call == Call::comm_def && (record.info & 1) != 0) {
                define(rank, record);
            } else if (record.call == Call::cart || record.call == Call::neighbors) {
                topologies_.add(rank, record);
            }
        });
    }
}

void Communicators::define(const RankTrace& rank, const TraceRecord& record) {
    const auto size = static_cast<std::size_t>(std::max(record.pair(2).first, 0));
    if (record.words.size() != 3 + (size + 1) / 2) {
        throw InputError(rank.name() + ": a communicator of " + std::to_string(size) + " ranks lists " +
                         std::to_string(2 * (record.words.size() - 3)) + " members");
    }
    Group group{.members = {}, .intercommunicator = (record.info & 2) != 0};
    for (const std::int32_t member : record.listed(3, size)) {
        group.members.push_back(static_cast<std::uint32_t>(member));
    }
    const std::set<std::uint32_t> distinct(group.members.begin(), group.members.end());
    if (distinct.size() != size || (size > 0 && *distinct.rbegin() >= self_groups_.size())) {
        throw InputError(rank.name() + ": a communicator has a member twice, or one that is no rank of the program");
    }
    std::vector<Group>& groups = groups_[record.words[0]];
    if (!group.intercommunicator) {
        groups.clear();
    }
    const bool overlap = std::ranges::any_of(groups, [&distinct](const Group& other) {
        return std::ranges::any_of(other.members, [&distinct](std::uint32_t m) { return distinct.contains(m); });
    });
    if (overlap || groups.size() == 2) {
        throw InputError(rank.name() + ": the groups of an intercommunicator overlap, or are more than two");
    }
    groups.push_back(std::move(group));
}

const Communicators::Group* Communicators::find(std::uint64_t id, std::uint32_t rank) const {
    if (id == self_id) {
        return &self_groups_[rank];
    }
    const auto found = groups_.find(id);
    if (found == groups_.end()) {
        return nullptr;
    }
    for (const Group& group : found->second) {
        if (!group.intercommunicator || std::ranges::find(group.members, rank) == group.members.end()) {
            return &group;
        }
    }
    return nullptr;
}

const Communicators::Group* Communicators::find_own(std::uint64_t id, std::uint32_t rank) const {
    const auto found = groups_.find(id);
    if (found == groups_.end()) {
        return nullptr;
    }
    const auto own = std::ranges::find_if(found->second, [rank](const Group& group) {
        return std::ranges::find(group.members, rank) != group.members.end();
    });
    return own == found->second.end() ? nullptr : &*own;
}

std::uint32_t Communicators::use(std::uint64_t id, std::uint32_t rank) {
    return use({id, Members::communicator, id == self_id ? rank : 0}, find(id, rank)->members);
}

std::uint32_t Communicators::use_both(std::uint64_t id, std::uint32_t rank) {
    std::vector<std::uint32_t> first = find_own(id, rank)->members;
    std::vector<std::uint32_t> second = find(id, rank)->members;
    if (second.front() < first.front()) {
        first.swap(second);
    }
    first.insert(first.end(), second.begin(), second.end());
    return use({id, Members::both_groups, 0}, std::move(first));
}

std::uint32_t Communicators::use_root(std::uint64_t id, std::uint32_t root, std::vector<std::uint32_t> others) {
    others.insert(others.begin(), root);
    return use({id, Members::root_and_others, root}, std::move(others));
}

std::uint32_t Communicators::use(const Key& key, std::vector<std::uint32_t> members) {
    const auto [entry, added] = index_.try_emplace(key, static_cast<std::uint32_t>(used_.size()));
    if (added) {
        used_.push_back(std::move(members));
    }
    return entry->second;
}

}  // namespace idlewave::trace
