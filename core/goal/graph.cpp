#include "goal/graph.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/quote.hpp"

namespace idlewave::goal {

std::string Graph::name(std::uint32_t rank, OpIndex op_index) const {
    const std::string label = block(rank).label(op_index);
    return label.empty() ? "op " + std::to_string(op_index) : shown(label);
}

RankSchedule Graph::rank_schedule(std::uint32_t rank) const {
    RankSchedule schedule;
    block(rank).decode(schedule);
    return schedule;
}

void GraphBuilder::begin_rank() {
    end_rank();
    in_rank_ = true;
}

OpIndex GraphBuilder::add(const Op& op, std::string_view label) {
    rank_.ops.push_back(op);
    rank_.labels.add(label);
    return static_cast<OpIndex>(rank_.ops.size() - 1);
}

void GraphBuilder::require(OpIndex successor, OpIndex predecessor, Edge edge) {
    rank_.requirements.push_back({successor, predecessor, edge});
}

void GraphBuilder::append(const RankSchedule& schedule) {
    append_checked(encoder_.encode(schedule));
}

void GraphBuilder::append_checked(std::span<const std::uint64_t> words) {
    if (!graph_.blocks_.empty() && graph_.blocks_.back().differs_in_values_only(words)) {
        const RankBlock own(words.data());
        values_.resize(own.size());
        for (OpIndex op_index = 0; op_index < own.size(); ++op_index) {
            values_[op_index] = own.encoded_value(op_index);
        }
        append_with_other_values(values_);
        return;
    }
    const std::span<std::uint64_t> room = graph_.arena_.take(words.size());
    std::copy(words.begin(), words.end(), room.begin());
    const RankBlock block(room.data());
    const RankBlock::Limits limits = block.limits();
    graph_.cpus_ = std::max(graph_.cpus_, limits.cpu + 1U);
    graph_.nics_ = std::max(graph_.nics_, limits.nic + 1U);
    graph_.has_one_sided_ |= limits.one_sided;
    add(block, limits.peer);
}

void GraphBuilder::append_with_other_values(std::span<const std::uint32_t> values) {
    auto* const own = reinterpret_cast<std::uint32_t*>(graph_.arena_.take((values.size() + 1) / 2).data());
    std::copy(values.begin(), values.end(), own);
    const RankBlock block(graph_.blocks_.back(), own);
    add(block, block.limits().peer);
}

void GraphBuilder::add(const RankBlock& block, std::uint32_t highest_peer) {
    graph_.op_count_ += block.size();
    highest_peer_ = std::max(highest_peer_, highest_peer);
    graph_.blocks_.push_back(block);
}

void GraphBuilder::end_rank() {
    if (in_rank_) {
        append(rank_);
        rank_.clear();
        in_rank_ = false;
    }
}

Graph GraphBuilder::finish() {
    end_rank();
    if (highest_peer_ >= graph_.ranks()) {
        refuse_peer();
    }
    return std::move(graph_);
}

/// Throws an InputError with the first op whose peer does not exist.
void GraphBuilder::refuse_peer() const {
    for (std::uint32_t rank = 0; rank < graph_.ranks(); ++rank) {
        for (OpIndex op_index = 0; op_index < graph_.size(rank); ++op_index) {
            const Op op = graph_.op(rank, op_index);
            if (op.kind == OpKind::calc || op.peer < graph_.ranks() || (is_receiving(op.kind) && op.peer == any)) {
                continue;
            }
            throw InputError("rank " + std::to_string(rank) + ", " + graph_.name(rank, op_index) +
                             ": its peer is rank " + std::to_string(op.peer) + ", expected one below " +
                             std::to_string(graph_.ranks()));
        }
    }
}

}  // namespace idlewave::goal
