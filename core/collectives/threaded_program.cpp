#include "collectives/threaded_program.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace idlewave::collectives {

ThreadedProgramSource::ThreadedProgramSource(const std::shared_ptr<const Program>& program, std::uint32_t copies)
    : own_(program, copies) {
    using Kind = Instruction::Kind;
    for (const RankProgram& thread : program->ranks) {
        OpCount& count =
            counts_.emplace_back(OpCount{.plain = 0, .calls = std::vector<std::uint64_t>(thread.collectives.size())});
        thread.instructions.each([&count](const Instruction& instruction) {
            const bool is_op =
                instruction.kind == Kind::calc || instruction.kind == Kind::send || instruction.kind == Kind::recv;
            count.plain += is_op ? 1 : 0;
            if (instruction.kind == Kind::collective) {
                ++count.calls[instruction.begin];
            }
        });
        cpus_ = std::max<std::uint32_t>(cpus_, thread.cpu + 1U);
    }
}

/// Returns the index of the first op of each thread, for a rank of this copy that has this program.
std::vector<goal::OpIndex> ThreadedProgramSource::first_ops(std::uint32_t base, std::uint32_t copy) const {
    std::vector<goal::OpIndex> first;
    std::uint64_t ops = 0;
    for (std::uint32_t thread = 0; thread < threads_of(base); ++thread) {
        first.push_back(static_cast<goal::OpIndex>(ops));
        const std::uint32_t number = program()->first_threads[base] + thread;
        const OpCount& count = counts_[number];
        ops += count.plain;
        for (std::size_t site = 0; site < count.calls.size(); ++site) {
            ops += count.calls[site] * own_.count_ops(copy, program()->ranks[number].collectives[site]);
        }
        if (ops > goal::most_ops) {
            throw InputError("rank " + std::to_string(base) + " has more than 4 billion ops");
        }
    }
    return first;
}

std::uint64_t ThreadedProgramSource::least_ops() const {
    std::uint64_t all = 0;
    for (const OpCount& count : counts_) {
        all += count.plain;
    }
    return all * copies();
}

std::uint32_t ThreadedProgramSource::first_threaded_rank() const {
    std::uint32_t rank = 0;
    while (threads_of(rank) == 1) {
        ++rank;
    }
    return rank;
}

}  // namespace idlewave::collectives
