#include "trace/communicators.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "base/error.hpp"

namespace idlewave {

Communicators::Communicators(const Trace& trace) {
    const auto size = static_cast<std::uint32_t>(trace.ranks.size());
    Known world;
    world.members.resize(size);
    std::iota(world.members.begin(), world.members.end(), 0U);
    known_[world_id].push_back(std::move(world));
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        selves_.push_back({{rank}, false});
    }
    for (const RankTrace& rank : trace.ranks) {
        for (const TraceRecord& record : rank.records()) {
            if (record.call == Call::comm_def && (record.info & 1) != 0) {
                define(rank, record);
            }
        }
    }
}

void Communicators::define(const RankTrace& rank, const TraceRecord& record) {
    const auto size = static_cast<std::size_t>(std::max(record.pair(2).first, 0));
    if (record.words.size() != 3 + (size + 1) / 2) {
        throw InputError(rank.name() + ": a communicator of " + std::to_string(size) + " ranks lists " +
                         std::to_string(2 * (record.words.size() - 3)) + " members");
    }
    Known known{.members = {}, .intercommunicator = (record.info & 2) != 0};
    for (std::size_t i = 0; i < size; ++i) {
        const Pair two = record.pair(3 + i / 2);
        known.members.push_back(static_cast<std::uint32_t>(i % 2 == 0 ? two.first : two.second));
    }
    const std::set<std::uint32_t> distinct(known.members.begin(), known.members.end());
    if (distinct.size() != size || (size > 0 && *distinct.rbegin() >= selves_.size())) {
        throw InputError(rank.name() + ": a communicator has a member twice, or one that is no rank of the program");
    }
    std::vector<Known>& groups = known_[record.words[0]];
    if (!known.intercommunicator) {
        groups.clear();
    }
    groups.push_back(std::move(known));
}

const Communicators::Known* Communicators::find(std::uint64_t id, std::uint32_t rank) const {
    if (id == self_id) {
        return &selves_[rank];
    }
    const auto found = known_.find(id);
    if (found == known_.end()) {
        return nullptr;
    }
    for (const Known& group : found->second) {
        const bool member = std::find(group.members.begin(), group.members.end(), rank) != group.members.end();
        if (!group.intercommunicator || !member) {
            return &group;
        }
    }
    return nullptr;
}

std::uint32_t Communicators::use(std::uint64_t id, std::uint32_t rank) {
    const auto [place, added] =
        index_.try_emplace({id, id == self_id ? rank : 0}, static_cast<std::uint32_t>(used_.size()));
    if (added) {
        used_.push_back(find(id, rank)->members);
    }
    return place->second;
}

}  // namespace idlewave
