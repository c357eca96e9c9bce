#include "collectives/composition.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "collectives/call_name.hpp"
#include "collectives/expansion.hpp"

namespace idlewave::collectives {
namespace {

std::string job_name(std::size_t job) {
    return "job " + std::to_string(job);
}

}  // namespace

Composition::Composition(std::vector<Job> jobs, std::uint32_t machine_ranks) : jobs_(std::move(jobs)) {
    std::uint64_t last = machine_ranks;
    for (Job& job : jobs_) {
        std::vector<std::uint32_t>& ends = stage_ends_.emplace_back();
        std::uint64_t sum = 0;
        for (Stage& stage : job.stages) {
            stage.number = call_number(stage.step, stage.call);
            stage.call.send_counts = stage.send_counts;
            stage.call.recv_counts = stage.recv_counts;
            stage.call.shape = stage.shape ? &*stage.shape : nullptr;
            has_one_sided_ |= stage.one_sided;
            sum += stage.times;
            ends.push_back(static_cast<std::uint32_t>(sum));
        }
        if (sum * job.repetitions > std::numeric_limits<std::uint32_t>::max()) {
            throw InputError(job_name(ends.size() - 1) + " has more than 2^32 operations a rank");
        }
        executions_.push_back(static_cast<std::uint32_t>(sum));
        const JobPlacement& p = job.placement;
        if (!p.table.empty() && p.table.size() != job.ranks) {
            throw InputError(job_name(stage_ends_.size() - 1) + " has " + std::to_string(job.ranks) +
                             " ranks, and its placement is a table of " + std::to_string(p.table.size()));
        }
        for (const std::uint32_t rank : p.table) {
            last = std::max(last, std::uint64_t{rank} + 1);
        }
        if (p.table.empty() && job.ranks > 0) {
            last = std::max(last, p.first + std::uint64_t{job.ranks - 1} * p.stride + 1);
        }
    }
    if (last == 0 || last >= goal::any) {
        throw InputError("a schedule of " + std::to_string(last) + " ranks: expected 1 to 4294967294");
    }
    if (machine_ranks != 0 && last > machine_ranks) {
        throw InputError("the jobs need " + std::to_string(last) + " ranks, and there are " +
                         std::to_string(machine_ranks));
    }
    ranks_ = static_cast<std::uint32_t>(last);
    alone_ = jobs_.size() == 1 && jobs_[0].ranks == ranks_ && jobs_[0].placement.table.empty();
    if (!alone_) {
        assign_ranks();
    }
}

void Composition::assign_ranks() {
    job_of_.assign(ranks_, no_job);
    local_of_.assign(ranks_, 0);
    for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
        for (std::uint32_t rank = 0; rank < jobs_[job].ranks; ++rank) {
            const std::uint32_t at = on_machine(job, rank);
            if (job_of_[at] != no_job) {
                throw InputError(job_name(job) + " wants rank " + std::to_string(at) + " of the machine, which " +
                                 job_name(job_of_[at]) + " has");
            }
            job_of_[at] = job;
            local_of_[at] = rank;
        }
    }
}

std::uint32_t Composition::on_machine(std::uint32_t job, std::uint32_t rank) const {
    const JobPlacement& placement = jobs_[job].placement;
    return placement.table.empty() ? placement.first + rank * placement.stride : placement.table[rank];
}

std::uint32_t Composition::group_size(const Group& group, const Local& self) const {
    const std::uint32_t ranks = jobs_[self.job].ranks;
    switch (group.kind) {
        case Group::Kind::blocks:
            return std::min(group.size, ranks - self.rank / group.size * group.size);
        case Group::Kind::strided:
            return (ranks - self.rank % group.size + group.size - 1) / group.size;
        default:
            return ranks;
    }
}

/// The rank on the machine of `peer`, a rank of self's group.
std::uint32_t Composition::world(const Local& self, const Group& group, std::uint32_t peer) const {
    std::uint32_t rank = peer;
    if (group.kind == Group::Kind::blocks) {
        rank = self.rank / group.size * group.size + peer;
    } else if (group.kind == Group::Kind::strided) {
        rank = self.rank % group.size + peer * group.size;
    }
    return alone_ ? rank : on_machine(self.job, rank);
}

/// The index of the stage in which a job is at `position`.
std::size_t Composition::stage_at(std::uint32_t job, std::uint32_t position) const {
    const std::vector<std::uint32_t>& ends = stage_ends_[job];
    return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), position % executions_[job]) -
                                    ends.begin());
}

/// Prepares `scratch` for the stage of a job at `position`. False at the job's end.
bool Composition::open_stage(Scratch& scratch, std::uint32_t job, std::uint32_t position) const {
    const std::uint32_t once = executions_[job];
    if (position >= once * jobs_[job].repetitions) {
        return false;
    }
    const std::uint32_t within = position % once;
    const std::size_t number = stage_at(job, position);
    const Stage& stage = jobs_[job].stages[number];
    const std::uint32_t before = number == 0 ? 0 : stage_ends_[job][number - 1];
    scratch.stage = &stage;
    scratch.job = job;
    scratch.position = position;
    scratch.call = stage.call;
    scratch.call.size = jobs_[job].ranks;
    scratch.root_shift = stage.rotating_root ? position / once * stage.times + (within - before) : 0;
    scratch.plain = stage.group.kind == Group::Kind::all && !stage.own_bytes && stage.row == 0 &&
                    !stage.rotating_root && stage.call.root == 0;
    return true;
}

std::string Composition::name(std::uint32_t /*rank*/, goal::OpIndex op_index) {
    return "op " + std::to_string(op_index);
}

bool Composition::has_ended(std::uint32_t rank, std::uint32_t position) const {
    const Local self = local(rank);
    return self.job == no_job || position >= executions_[self.job] * jobs_[self.job].repetitions;
}

goal::RankSchedule Composition::rank_schedule(std::uint32_t rank) const {
    Expansion expansion;
    const Local self = local(rank);
    Scratch scratch;
    for (std::uint32_t position = 0; self.job != no_job && open_stage(scratch, self.job, position); ++position) {
        const Stage& stage = *scratch.stage;
        enter_group(scratch, self);
        expansion.collective(stage.step, scratch.call, [&](const goal::Op& op) {
            goal::Op result = op;
            if (op.kind != goal::OpKind::calc) {
                result.tag |= stage.tag;
                result.peer = world(self, stage.group, op.peer);
            }
            return result;
        });
    }
    return expansion.take();
}

}  // namespace idlewave::collectives
