#include <utility>
#include <vector>

#include "collectives/expansion.hpp"
#include "collectives/program.hpp"

namespace idlewave::collectives {

/// Generates the schedule of one rank: the same ops with the same op indices as when the program runs.
class ProgramExpansion {
  public:
    ProgramExpansion(const ProgramSource& source, std::uint32_t rank)
        : source_(source),
          copy_(rank / source.base_),
          program_(source.program_->ranks[rank % source.base_]),
          slots_(program_.slots) {}

    goal::RankSchedule run() {
        for (const Instruction& instruction : program_.instructions) {
            add(instruction);
        }
        return out_.take();
    }

  private:
    void add(const Instruction& instruction) {
        switch (instruction.kind) {
            case Instruction::Kind::calc:
                out_.conditions() = {{out_.add(source_.op_of(copy_, instruction), out_.conditions()), goal::Edge::end}};
                break;
            case Instruction::Kind::send:
            case Instruction::Kind::recv: {
                const goal::OpIndex op_index = out_.add(source_.op_of(copy_, instruction), out_.conditions());
                slots_[instruction.slot] = {{op_index, goal::Edge::end}};
                out_.conditions() = {{op_index, goal::Edge::start}};
                break;
            }
            case Instruction::Kind::wait:
                for (std::uint32_t i = 0; i < instruction.count; ++i) {
                    Expansion::merge(out_.conditions(), slots_[program_.slot_lists[instruction.begin + i]]);
                }
                break;
            case Instruction::Kind::collective:
                collective(instruction);
                break;
        }
    }

    void collective(const Instruction& instruction) {
        const CollectiveSite& site = program_.collectives[instruction.begin];
        const auto [call, step] = source_.call_of(copy_, site);
        Expansion::Conditions conditions =
            out_.add_collective(step, call, [&](const goal::Op& op) { return source_.op_of(copy_, site, op); });
        (instruction.slot == no_slot ? out_.conditions() : slots_[instruction.slot]) = std::move(conditions);
    }

    const ProgramSource& source_;
    std::uint32_t copy_;
    const RankProgram& program_;
    Expansion out_;
    std::vector<Expansion::Conditions> slots_;
};

goal::RankSchedule ProgramSource::rank_schedule(std::uint32_t rank) const {
    return ProgramExpansion(*this, rank).run();
}

}  // namespace idlewave::collectives
