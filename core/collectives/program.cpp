#include "collectives/program.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace idlewave::collectives {
namespace {

/// The bytes that a rank copies to itself: its own block of an all-to-all with counts. The `bytes` of an allgather are
/// that block.
std::uint64_t own_block(Collective collective, const CollectiveCall& call) {
    return collective == Collective::alltoall && !call.send_counts.empty() ? call.bytes_to(call.rank) : call.bytes;
}

}  // namespace

std::size_t ranks_of(const Program& program) {
    if (program.structure) {
        return program.structure->programs.size();
    }
    return program.first_threads.empty() ? program.ranks.size() : program.first_threads.size() - 1;
}

ProgramSource::ProgramSource(std::shared_ptr<const Program> program, std::uint32_t copies)
    : program_(std::move(program)),
      base_(static_cast<std::uint32_t>(ranks_of(*program_))),
      copies_(copies),
      ranks_of_copy_(program_->structure ? 1 : base_),
      first_peer_(program_->structure ? Structure::distance_zero : 0) {
    if (program_->structure && copies != 1) {
        throw InputError("a program that was continued on more ranks has no copies");
    }
    const std::uint64_t total = std::uint64_t{base_} * copies_;
    if (total == 0 || total > std::numeric_limits<std::uint32_t>::max() - 1) {
        throw InputError("a schedule of " + std::to_string(total) + " ranks: expected 1 to 4294967294");
    }
}

std::uint64_t ProgramSource::least_ops() const {
    using Kind = Instruction::Kind;
    std::vector<std::uint64_t> ops;
    for (const RankProgram& rank : program_->ranks) {
        ops.push_back(0);
        rank.instructions.each([&ops](const Instruction& instruction) {
            const bool is_op = instruction.kind == Kind::calc || is_communication(instruction.kind);
            ops.back() += is_op ? 1 : 0;
        });
    }
    std::uint64_t all = 0;
    for (std::uint32_t rank = 0; rank < base_; ++rank) {
        all += ops[base_and_copy(rank).first];
    }
    return all * copies_;
}

std::uint32_t ProgramSource::peer_by_rule(std::uint32_t rank, const Instruction& instruction) const {
    const Structure& structure = *program_->structure;
    return *collectives::peer_of(structure.peers[instruction.peer], structure.grid, rank);
}

/// The rules choose among all ranks of an extrapolated communicator.
PreparedCall ProgramSource::call_of(std::uint32_t copy, const CollectiveSite& site) const {
    const Structure* const structure = program_->structure ? &*program_->structure : nullptr;
    const auto members = structure != nullptr
                             ? structure->communicators[site.communicator].size(structure->grid)
                             : static_cast<std::uint32_t>(program_->communicators[site.communicator].size());
    CollectiveCall call{.rank = site.rank,
                        .size = members,
                        .root = site.root,
                        .bytes = site.bytes,
                        .send_counts = site.send_counts,
                        .recv_counts = site.recv_counts,
                        .reduction_cost = program_->reduction_cost};
    if (structure != nullptr) [[unlikely]] {
        call.rank = structure->communicators[site.communicator].rank_in(structure->grid, copy);
        call.root = site.last_is_root ? members - 1 : site.root;
    } else if (members == base_) {
        call.rank += copy * members;
        call.size *= copies_;
    }
    StepFunction step = site.step;
    if (site.rules_used != UseOfRules::none) [[unlikely]] {
        const bool costs_only = site.rules_used == UseOfRules::costs;
        const std::uint64_t bytes = costs_only ? own_block(site.collective, call) : call.bytes;
        const AlgorithmRule& rule = *program_->rules.find(site.collective, call.size, bytes);
        step = costs_only ? work_first(rule, step, bytes, call) : follow(rule, call);
    }
    return {call, step};
}

/// Converts an op of a collective: its peer becomes a world rank.
goal::Op ProgramSource::op_of(std::uint32_t copy, const CollectiveSite& site, std::uint32_t tag,
                              const goal::Op& op) const {
    goal::Op result = op;
    if (op.kind == goal::OpKind::calc) {
        return result;
    }
    if (program_->structure) [[unlikely]] {
        const Structure& structure = *program_->structure;
        result.peer = structure.communicators[site.communicator].member(structure.grid, copy, op.peer);
        result.tag |= tag;
        return result;
    }
    const auto& members = program_->communicators[site.communicator];
    const auto size = static_cast<std::uint32_t>(members.size());
    if (size == 1) {
        result.peer = members[0] + (base_ == 1 ? op.peer : copy * base_);
    } else {
        const std::uint32_t peer_copy = size == base_ ? op.peer / size : copy;
        result.peer = members[op.peer % size] + peer_copy * base_;
    }
    result.tag |= tag;
    return result;
}

goal::Op ProgramSource::op_of(std::uint32_t copy, const Instruction& instruction) const {
    goal::Op op{.size = instruction.size, .kind = goal::OpKind::calc};
    if (instruction.kind == Instruction::Kind::calc) {
        return op;
    }
    op.kind = op_kind_of(instruction.kind);
    op.peer = peer_of(copy, instruction);
    op.tag = instruction.tag;
    return op;
}

goal::OpIndex ProgramSource::count_ops(std::uint32_t copy, const CollectiveSite& site) const {
    const auto [call, step_function] = call_of(copy, site);
    goal::OpIndex count = 0;
    for_each_step(step_function, call, [&count](const Step& step) { count += step.kind == Step::Kind::op ? 1 : 0; });
    return count;
}

std::string ProgramSource::name(std::uint32_t /*rank*/, goal::OpIndex op_index) {
    return "op " + std::to_string(op_index);
}

}  // namespace idlewave::collectives
