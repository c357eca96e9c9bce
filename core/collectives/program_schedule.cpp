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
          copy_(source.base_and_copy(rank).second),
          program_(source.program_->ranks[source.base_and_copy(rank).first]),
          slots_(program_.slots),
          begun_(program_.counters) {}

    goal::RankSchedule run() {
        program_.instructions.each([this](const Instruction& instruction) { add(instruction); });
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
                out_.conditions() = {{op_index, goal::Edge::start}};
                if (instruction.blocking) {
                    Expansion::merge(out_.conditions(), {{op_index, goal::Edge::end}});
                } else {
                    slots_[instruction.slot] = {{op_index, goal::Edge::end}};
                }
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
        const std::uint32_t tag = ProgramSource::next_tag(site, begun_);
        Expansion::Conditions conditions =
            out_.add_collective(step, call, [&](const goal::Op& op) { return source_.op_of(copy_, site, tag, op); });
        (instruction.slot == no_slot ? out_.conditions() : slots_[instruction.slot]) = std::move(conditions);
    }

    const ProgramSource& source_;
    std::uint32_t copy_;
    const RankProgram& program_;
    Expansion out_;
    std::vector<Expansion::Conditions> slots_;
    std::vector<std::uint32_t> begun_;  ///< collectives, by counter
};

goal::RankSchedule ProgramSource::rank_schedule(std::uint32_t rank) const {
    return ProgramExpansion(*this, rank).run();
}

}  // namespace idlewave::collectives
