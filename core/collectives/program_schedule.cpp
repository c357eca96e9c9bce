#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/expansion.hpp"
#include "collectives/program.hpp"
#include "collectives/threaded_program.hpp"

namespace idlewave::collectives {

/// Generates the schedule of a rank, or of one of its threads: the same ops with the same op indices as when the
/// program runs.
class ProgramExpansion {
  public:
    /// The end of what is in a shared slot.
    struct SharedEnd {
        SharedSlot slot;
        Expansion::Conditions conditions;
    };

    ProgramExpansion(const ProgramSource& source, const RankProgram& program, std::uint32_t copy,
                     goal::OpIndex first = 0)
        : source_(source),
          copy_(copy),
          program_(program),
          out_(first, program.cpu),
          slots_(program.slots),
          open_(program.slots),
          begun_(program.counters) {}

    ProgramExpansion(const ProgramSource& source, std::uint32_t rank)
        : ProgramExpansion(source, source.program_->ranks[source.base_and_copy(rank).first],
                           source.base_and_copy(rank).second) {}

    goal::RankSchedule run() {
        program_.instructions.each([this](const Instruction& instruction) { add(instruction); });
        return out_.take();
    }

    /// Adds instructions up to the end, or to a wait for another thread that has not come so far. Returns whether it
    /// has added one.
    bool go_on() {
        Instructions::Position before = position_;
        std::uint64_t ns = 0;
        bool went_on = false;
        while (const Instruction* next = program_.instructions.next(position_, ns)) {
            Instruction instruction = *next;
            if (instruction.kind == Instruction::Kind::calc) {
                instruction.size = ns;
            }
            if (waits_for_thread(instruction)) {
                position_ = before;
                return went_on;
            }
            add(instruction);
            before = position_;
            went_on = true;
        }
        return went_on;
    }

    /// The slot ends with what is in a shared slot of another thread, which has not come so far.
    void open(std::uint32_t slot) { open_[slot] = true; }
    void end(std::uint32_t slot, Expansion::Conditions conditions) {
        slots_[slot] = std::move(conditions);
        open_[slot] = false;
    }

    /// The shared slots that have got their contents since the last call.
    [[nodiscard]] std::vector<SharedEnd> take_shared() { return std::exchange(shared_, {}); }
    [[nodiscard]] goal::RankSchedule take() { return out_.take(); }

  private:
    [[nodiscard]] bool waits_for_thread(const Instruction& instruction) const {
        if (instruction.kind != Instruction::Kind::wait) {
            return false;
        }
        const auto first = program_.slot_lists.begin() + instruction.begin;
        return std::any_of(first, first + instruction.count, [this](std::uint32_t slot) { return open_[slot]; });
    }

    /// What is in a slot ends under these conditions.
    void put(std::uint32_t slot, Expansion::Conditions conditions) {
        if (is_shared_slot(slot)) {
            shared_.push_back({program_.shared_slots[slot & ~shared_slot], std::move(conditions)});
        } else {
            slots_[slot] = std::move(conditions);
        }
    }

    void add(const Instruction& instruction) {
        switch (instruction.kind) {
            case Instruction::Kind::calc:
                out_.conditions() = {{out_.add(source_.op_of(copy_, instruction), out_.conditions()), goal::Edge::end}};
                break;
            case Instruction::Kind::send:
            case Instruction::Kind::recv:
            case Instruction::Kind::put:
            case Instruction::Kind::get:
            case Instruction::Kind::lock:
            case Instruction::Kind::shared_lock:
            case Instruction::Kind::unlock: {
                const goal::OpIndex op_index = out_.add(source_.op_of(copy_, instruction), out_.conditions());
                out_.conditions() = {{op_index, goal::Edge::start}};
                if (instruction.blocking) {
                    Expansion::merge(out_.conditions(), {{op_index, goal::Edge::end}});
                } else {
                    put(instruction.slot, {{op_index, goal::Edge::end}});
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
            case Instruction::Kind::signal:
                put(instruction.slot, out_.conditions());
                break;
        }
    }

    void collective(const Instruction& instruction) {
        const CollectiveSite& site = program_.collectives[instruction.begin];
        const auto [call, step] = source_.call_of(copy_, site);
        const std::uint32_t tag = ProgramSource::next_tag(site, begun_);
        Expansion::Conditions conditions =
            out_.add_collective(step, call, [&](const goal::Op& op) { return source_.op_of(copy_, site, tag, op); });
        if (instruction.slot == no_slot) {
            out_.conditions() = std::move(conditions);
        } else {
            put(instruction.slot, std::move(conditions));
        }
    }

    const ProgramSource& source_;
    std::uint32_t copy_;
    const RankProgram& program_;
    Expansion out_;
    std::vector<Expansion::Conditions> slots_;
    std::vector<bool> open_;  ///< by slot: it waits for another thread
    std::vector<SharedEnd> shared_;
    std::vector<std::uint32_t> begun_;  ///< collectives, by counter
    Instructions::Position position_;
};

goal::RankSchedule ProgramSource::rank_schedule(std::uint32_t rank) const {
    return ProgramExpansion(*this, rank).run();
}

/// Each thread goes on as long as no other has to come before. A program whose threads wait for each other in a circle
/// has no schedule; a traced one has none of these, as it was executed.
goal::RankSchedule ThreadedProgramSource::rank_schedule(std::uint32_t rank) const {
    const auto [base, copy] = own_.base_and_copy(rank);
    const std::vector<goal::OpIndex> first = first_ops(base, copy);
    std::vector<ProgramExpansion> threads;
    threads.reserve(threads_of(base));
    for (std::uint32_t thread = 0; thread < threads_of(base); ++thread) {
        threads.emplace_back(own_, program_of(base, thread), copy, first[thread]);
    }
    for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
        for (const SharedSlot& shared : program_of(base, thread).shared_slots) {
            threads[shared.thread].open(shared.slot);
        }
    }
    bool went_on = true;
    while (went_on) {
        went_on = false;
        for (ProgramExpansion& thread : threads) {
            went_on = thread.go_on() || went_on;
            for (ProgramExpansion::SharedEnd& shared : thread.take_shared()) {
                threads[shared.slot.thread].end(shared.slot.slot, std::move(shared.conditions));
            }
        }
    }
    goal::RankSchedule all;
    for (ProgramExpansion& thread : threads) {
        const goal::RankSchedule own = thread.take();
        all.ops.insert(all.ops.end(), own.ops.begin(), own.ops.end());
        all.requirements.insert(all.requirements.end(), own.requirements.begin(), own.requirements.end());
    }
    return all;
}

}  // namespace idlewave::collectives
