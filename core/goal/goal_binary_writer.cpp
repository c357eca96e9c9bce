#include "goal/goal_binary_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "goal/goal_binary.hpp"

namespace idlewave::goal {

using namespace binary;

GoalBinaryWriter::GoalBinaryWriter(OutputFile& out, std::uint32_t ranks) : out_(out), ranks_(ranks) {
    out_.skip(table_begin + table_entry * ranks);
}

void GoalBinaryWriter::add(const RankSchedule& rank) {
    sort(rank);
    const std::uint64_t roots =
        static_cast<std::uint64_t>(std::count(indegree_.begin(), indegree_.end(), std::uint32_t{0}));
    bytes_.resize(rank_header + 4 * roots + node_size * rank.ops.size() + 4 * sorted_.size());
    std::byte* at = store(bytes_.data(), static_cast<std::uint32_t>(rank.ops.size()));
    at = store(at, static_cast<std::uint32_t>(roots));
    for (OpIndex op_index = 0; op_index < rank.ops.size(); ++op_index) {
        if (indegree_[op_index] == 0) {
            at = store(at, op_index);
        }
    }
    auto next = sorted_.begin();
    const auto take_list = [&](OpIndex op_index, Edge edge) {
        const auto begin = next;
        next = std::find_if(begin, sorted_.end(),
                            [&](const Requirement& r) { return r.predecessor != op_index || r.edge != edge; });
        return std::pair(static_cast<std::uint32_t>(next - begin), static_cast<std::uint32_t>(begin - sorted_.begin()));
    };
    for (OpIndex op_index = 0; op_index < rank.ops.size(); ++op_index) {
        const Op& op = rank.ops[op_index];
        if (is_one_sided(op.kind)) {
            throw InputError("rank " + std::to_string(table_.size()) + ", op " + std::to_string(op_index) +
                             ": expected no one-sided op, as LogGOPSim's format has none; use .goal or .idg");
        }
        const bool calc = op.kind == OpKind::calc;
        if (!calc && is_synchronous(op.size)) {
            throw InputError("rank " + std::to_string(table_.size()) + ", op " + std::to_string(op_index) +
                             ": expected no synchronous send, as LogGOPSim's format has none; use .goal or .idg");
        }
        highest_cpu_ = std::max(highest_cpu_, op.cpu);
        highest_nic_ = std::max(highest_nic_, op.nic);
        at = store(at, indegree_[op_index]);
        at = store(at, static_cast<std::uint8_t>(static_cast<unsigned>(op.kind) + 1));
        at = store(at, calc ? 0 : op.peer);
        at = store(at, op.size);
        at = store(at, calc ? 0 : op.tag);
        at = store(at, op.cpu);
        at = store(at, op.nic);
        for (const Edge edge : {Edge::end, Edge::start}) {
            const auto [count, begin] = take_list(op_index, edge);
            at = store(at, count);
            at = store(at, begin);
        }
    }
    for (const Requirement& r : sorted_) {
        at = store(at, r.successor);
    }
    table_.push_back({out_.size() - base, out_.size() - base + bytes_.size()});
    out_.append(bytes_);
}

/// Sorts the requirements in the order of the appendix: by predecessor, first those on its end, then in the order in
/// which the successors become ready.
void GoalBinaryWriter::sort(const RankSchedule& rank) {
    if (rank.requirements.size() > 0xffffffff) {
        throw InputError("rank " + std::to_string(table_.size()) +
                         " has more dependencies than LogGOPSim's format can hold (2^32)");
    }
    indegree_.assign(rank.ops.size(), 0);
    for (const Requirement& r : rank.requirements) {
        ++indegree_[r.successor];
    }
    sorted_ = rank.requirements;
    std::stable_sort(sorted_.begin(), sorted_.end(), [](const Requirement& a, const Requirement& b) {
        return a.predecessor != b.predecessor ? a.predecessor < b.predecessor
                                              : a.edge == Edge::end && b.edge == Edge::start;
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

}  // namespace idlewave::goal
