#include "goal/goal_binary_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "goal/goal_binary.hpp"

namespace idlewave {

using namespace goal_binary;

GoalBinaryWriter::GoalBinaryWriter(OutputFile& out, std::uint32_t ranks) : out_(out), ranks_(ranks) {
    out_.skip(table_begin + table_entry * ranks);
}

void GoalBinaryWriter::add(const Listing& rank) {
    sort(rank);
    const std::uint64_t roots =
        static_cast<std::uint64_t>(std::count(indegree_.begin(), indegree_.end(), std::uint32_t{0}));
    bytes_.resize(rank_header + 4 * roots + node_size * rank.ops.size() + 4 * sorted_.size());
    std::byte* at = store(bytes_.data(), static_cast<std::uint32_t>(rank.ops.size()));
    at = store(at, static_cast<std::uint32_t>(roots));
    for (Place place = 0; place < rank.ops.size(); ++place) {
        if (indegree_[place] == 0) {
            at = store(at, place);
        }
    }
    auto next = sorted_.begin();
    const auto take_list = [&](Place place, Edge edge) {
        const auto begin = next;
        next = std::find_if(begin, sorted_.end(),
                            [&](const Requirement& r) { return r.other != place || r.edge != edge; });
        return std::pair(static_cast<std::uint32_t>(next - begin), static_cast<std::uint32_t>(begin - sorted_.begin()));
    };
    for (Place place = 0; place < rank.ops.size(); ++place) {
        const Op& op = rank.ops[place];
        const bool calc = op.kind == OpKind::calc;
        highest_cpu_ = std::max(highest_cpu_, op.cpu);
        highest_nic_ = std::max(highest_nic_, op.nic);
        at = store(at, indegree_[place]);
        at = store(at, static_cast<std::uint8_t>(static_cast<unsigned>(op.kind) + 1));
        at = store(at, calc ? 0 : op.peer);
        at = store(at, op.size);
        at = store(at, calc ? 0 : op.tag);
        at = store(at, op.cpu);
        at = store(at, op.nic);
        for (const Edge edge : {Edge::end, Edge::start}) {
            const auto [count, begin] = take_list(place, edge);
            at = store(at, count);
            at = store(at, begin);
        }
    }
    for (const Requirement& r : sorted_) {
        at = store(at, r.waiting);
    }
    table_.push_back({out_.size() - base, out_.size() - base + bytes_.size()});
    out_.append(bytes_);
}

/// The appendix has each op's followers together, first those that wait for its end, in the order in which they become
/// ready.
void GoalBinaryWriter::sort(const Listing& rank) {
    if (rank.requirements.size() > 0xffffffff) {
        throw InputError("rank " + std::to_string(table_.size()) +
                         " has more dependencies than LogGOPSim's format can hold (2^32)");
    }
    indegree_.assign(rank.ops.size(), 0);
    for (const Requirement& r : rank.requirements) {
        ++indegree_[r.waiting];
    }
    sorted_ = rank.requirements;
    std::stable_sort(sorted_.begin(), sorted_.end(), [](const Requirement& a, const Requirement& b) {
        return a.other != b.other ? a.other < b.other : a.edge == Edge::end && b.edge == Edge::start;
    });
}

void GoalBinaryWriter::finish() {
    if (table_.size() != ranks_) {
        throw LogicError("as many ranks must be written as were announced");
    }
    std::vector<std::byte> head(table_begin + table_entry * table_.size());
    std::byte* at = store(head.data(), magic);
    at = store(at, ranks_);
    at = store(at, highest_cpu_);
    at = store(at, highest_nic_);
    for (const Range& range : table_) {
        at = store(at, range.begin);
        at = store(at, range.end);
    }
    out_.write_at(0, head);
}

}  // namespace idlewave
