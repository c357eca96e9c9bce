#include <algorithm>
#include <vector>

#include "collectives/program.hpp"

namespace idlewave {

/// Writes one rank's program out: the same ops in the same places as when it runs, and what each waits for.
class Expansion {
  public:
    Expansion(const ProgramSource& source, std::uint32_t rank)
        : source_(source),
          copy_(rank / source.base_),
          program_(source.program_->ranks[rank % source.base_]),
          slots_(program_.slots) {}

    Listing run() {
        for (const Instruction& instruction : program_.instructions) {
            switch (instruction.kind) {
                case Instruction::Kind::calc:
                    gate_ = {{add(source_.op_of(copy_, instruction), gate_), Edge::end}};
                    break;
                case Instruction::Kind::send:
                case Instruction::Kind::recv: {
                    const Place place = add(source_.op_of(copy_, instruction), gate_);
                    slots_[instruction.slot] = {{place, Edge::end}};
                    gate_ = {{place, Edge::start}};
                    break;
                }
                case Instruction::Kind::wait:
                    for (std::uint32_t i = 0; i < instruction.count; ++i) {
                        merge(gate_, slots_[program_.slot_lists[instruction.begin + i]]);
                    }
                    break;
                case Instruction::Kind::collective:
                    collective(instruction);
                    break;
            }
        }
        return std::move(listing_);
    }

  private:
    struct Met {
        Place place;
        Edge edge;
        bool operator==(const Met&) const = default;
    };
    using Gate = std::vector<Met>;  ///< what must have happened before the next op may start

    void collective(const Instruction& instruction) {
        const CollectiveSite& site = program_.collectives[instruction.begin];
        const CollectiveCall call = source_.call_of(copy_, site);
        Gate gate = gate_;
        Gate open;
        for (Step step = site.step(call, 0); step.kind != Step::Kind::done; step = site.step(call, step.next)) {
            if (step.kind == Step::Kind::join) {
                merge(gate, open);
                open.clear();
            } else if (step.kind == Step::Kind::op) {
                const Place place = add(source_.op_of(copy_, site, step.op), gate);
                if (step.op.kind == OpKind::calc) {
                    gate = {{place, Edge::end}};
                } else {
                    gate = {{place, Edge::start}};
                    open.push_back({place, Edge::end});
                }
            }
        }
        merge(gate, open);
        if (instruction.slot == no_slot) {
            gate_ = std::move(gate);
        } else {
            slots_[instruction.slot] = std::move(gate);
        }
    }

    /// An end says more than a start of the same op.
    static void merge(Gate& gate, const Gate& more) {
        for (const Met& met : more) {
            std::erase(gate, Met{met.place, Edge::start});
            if (std::find(gate.begin(), gate.end(), Met{met.place, Edge::end}) == gate.end()) {
                gate.push_back(met);
            }
        }
    }

    Place add(const Op& op, const Gate& gate) {
        const auto place = static_cast<Place>(listing_.ops.size());
        listing_.ops.push_back(op);
        for (const Met& met : gate) {
            listing_.requirements.push_back({place, met.place, met.edge});
        }
        return place;
    }

    const ProgramSource& source_;
    std::uint32_t copy_;
    const RankProgram& program_;
    Listing listing_;
    Gate gate_;
    std::vector<Gate> slots_;
};

Listing ProgramSource::listing(std::uint32_t rank) const {
    return Expansion(*this, rank).run();
}

}  // namespace idlewave
