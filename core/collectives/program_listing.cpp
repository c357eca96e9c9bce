#include <utility>
#include <vector>

#include "collectives/expansion.hpp"
#include "collectives/program.hpp"

namespace idlewave {

/// Writes one rank's program out: the same ops in the same places as when it runs, and what each waits for.
class ProgramExpansion {
  public:
    ProgramExpansion(const ProgramSource& source, std::uint32_t rank)
        : source_(source),
          copy_(rank / source.base_),
          program_(source.program_->ranks[rank % source.base_]),
          slots_(program_.slots) {}

    Listing run() {
        for (const Instruction& instruction : program_.instructions) {
            add(instruction);
        }
        return out_.take();
    }

  private:
    void add(const Instruction& instruction) {
        switch (instruction.kind) {
            case Instruction::Kind::calc:
                out_.gate() = {{out_.add(source_.op_of(copy_, instruction), out_.gate()), Edge::end}};
                break;
            case Instruction::Kind::send:
            case Instruction::Kind::recv: {
                const Place place = out_.add(source_.op_of(copy_, instruction), out_.gate());
                slots_[instruction.slot] = {{place, Edge::end}};
                out_.gate() = {{place, Edge::start}};
                break;
            }
            case Instruction::Kind::wait:
                for (std::uint32_t i = 0; i < instruction.count; ++i) {
                    Expansion::merge(out_.gate(), slots_[program_.slot_lists[instruction.begin + i]]);
                }
                break;
            case Instruction::Kind::collective:
                collective(instruction);
                break;
        }
    }

    void collective(const Instruction& instruction) {
        const CollectiveSite& site = program_.collectives[instruction.begin];
        Expansion::Gate gate = out_.beside(site.step, source_.call_of(copy_, site),
                                           [&](const Op& op) { return source_.op_of(copy_, site, op); });
        (instruction.slot == no_slot ? out_.gate() : slots_[instruction.slot]) = std::move(gate);
    }

    const ProgramSource& source_;
    std::uint32_t copy_;
    const RankProgram& program_;
    Expansion out_;
    std::vector<Expansion::Gate> slots_;
};

Listing ProgramSource::listing(std::uint32_t rank) const {
    return ProgramExpansion(*this, rank).run();
}

}  // namespace idlewave
