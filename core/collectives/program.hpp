#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/inline_vector.hpp"
#include "base/time.hpp"
#include "collectives/algorithm_rules.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/instructions.hpp"
#include "collectives/step.hpp"
#include "collectives/structure.hpp"
#include "goal/rank_schedule.hpp"
#include "goal/source.hpp"

namespace idlewave::collectives {

/// What a call takes from the rules of its program: nothing, what it costs beside its messages, or also its algorithm.
enum class UseOfRules : std::uint8_t { none, costs, algorithm_and_costs };

/// A collective that a rank calls, perhaps again and again.
struct CollectiveSite {
    StepFunction step = nullptr;
    std::uint32_t communicator = 0;  ///< index into Program::communicators
    std::uint32_t rank = 0;          ///< rank of the caller in the communicator
    std::uint32_t root = 0;
    std::uint32_t tag = 0;        ///< of the rank's first collective on this communicator; of each later one, one more
    std::uint32_t counter = 0;    ///< among the rank's counters, of which it has its own
    std::uint32_t by_others = 0;  ///< collectives on this communicator that other threads of the rank called before
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> send_counts = {};
    std::vector<std::uint64_t> recv_counts = {};
    Collective collective = Collective::barrier;
    UseOfRules rules_used = UseOfRules::none;  ///< with their algorithm `step` is not used
    bool last_is_root = false;                 ///< of a program with a structure: the last rank of the communicator

    /// After so many collectives tags are used again.
    static constexpr std::uint32_t tags = 1 << 16;

    bool operator==(const CollectiveSite&) const = default;
};

/// A collective call and the function of its steps.
struct PreparedCall {
    CollectiveCall call;
    StepFunction step = nullptr;
};

/// The slot of another thread of the rank that ends with what is in a shared slot. It is used once.
struct SharedSlot {
    std::uint32_t thread = 0;  ///< of the rank
    std::uint32_t slot = 0;
};

/// The program of one rank, or of one thread of a rank with several.
struct RankProgram {
    Instructions instructions;
    std::vector<std::uint32_t> slot_lists;
    std::vector<CollectiveSite> collectives;
    std::uint32_t slots = 0;
    std::uint32_t counters = 0;  ///< one for each communicator, persistent collective, window and file
    std::vector<SharedSlot> shared_slots = {};
    std::uint8_t cpu = 0;  ///< on which the thread runs
};

/// Calls of a traced run whose data are not simulated: the program has their time as computation.
struct TimedCalls {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    double ns = 0;  ///< of all ranks

    TimedCalls& operator+=(const TimedCalls& other) {
        calls += other.calls;
        bytes += other.bytes;
        ns += other.ns;
        return *this;
    }
};

/// A tag of a traced program that stands for one of another communicator, or of other messages than a call's own.
struct MappedTag {
    static constexpr std::uint32_t first = 0x30000000;  ///< the first one; the tags of collectives begin at `end`
    static constexpr std::uint32_t end = 0x40000000;

    std::uint32_t communicator = 0;  ///< index into Program::communicators; of MPI_COMM_WORLD all ones
    std::uint32_t space = 0;         ///< what kind of messages have it
    std::uint32_t ordinal = 0;       ///< among the requests or windows of this kind
    std::uint32_t tag = 0;           ///< that of the calls

    auto operator<=>(const MappedTag&) const = default;
};

/// The programs of all ranks; with a structure, those that they share.
struct Program {
    std::vector<RankProgram> ranks;
    /// Of a program with several threads: where in `ranks` the programs of each rank's threads begin, and where the
    /// last rank's end. Else empty.
    std::vector<std::uint32_t> first_threads = {};
    std::vector<std::vector<std::uint32_t>> communicators;  ///< world ranks of the members
    double reduction_cost = 0;                              ///< ns per byte
    AlgorithmRules rules = {};
    std::vector<MappedTag> mapped_tags = {};  ///< those from MappedTag::first on
    std::optional<Structure> structure = {};  ///< of a program that was continued on more ranks
    std::uint64_t wildcard_receives = 0;      ///< of the traced run: they named no source
    std::uint64_t unknown_receives = 0;       ///< of these, those whose message the trace does not have
    bool has_one_sided = false;               ///< some instructions are one-sided operations
    TimedCalls one_sided = {};                ///< puts, gets, accumulates, locks and flushes that are computation
    TimedCalls files = {};
    std::uint64_t calls = 0;           ///< that were recorded of a run that ended early; 0 if it was whole
    std::uint64_t calls_left_out = 0;  ///< those after its last consistent point
};

/// How many ranks a program has, without copies.
[[nodiscard]] std::size_t ranks_of(const Program& program);

/// A program as a source of ops. The messages of collectives are generated by their algorithms while the program runs;
/// the state of a rank is its position in the program.
///
/// With several copies the program is extrapolated as by LogGOPSim: rank r of copy c is rank r + c·n. Messages, and
/// collectives of a part of the ranks, stay inside a copy; collectives of all n ranks span all copies. A program with a
/// structure has one copy; its ranks share programs.
///
/// How a rank goes on when ops start and end is defined in program_run.hpp: a file that simulates a program includes
/// it.
class ProgramSource {
  public:
    /// Identifies the owner of an op: a slot of the rank, its computation, or a collective.
    using Cookie = std::uint32_t;
    struct Scratch {};
    static constexpr bool single_cpu_and_nic = true;
    static constexpr bool has_exchanges = false;

    template <class Moment>
    struct Slot {
        Moment end = {};
        bool ended = false;
        bool awaited = false;
    };

    /// For what a thread of control waits: the start or the end of an op, the ends of all ops of its collective, or of
    /// those in slots; nothing after its last instruction; or for nothing until the simulator executes its next op
    /// (ProgramOrderSource).
    enum class Blocked : std::uint8_t { start, end, join, slots, done, paused };

    /// A thread of control that executes instructions or steps in order: the rank itself, or a nonblocking collective.
    template <class Moment>
    struct Thread {
        Blocked blocked = Blocked::done;
        bool in_collective = false;
        std::uint32_t site = 0;         ///< index of the collective
        std::uint32_t tag = 0;          ///< of the collective's messages
        StepNumber step = 0;            ///< step in the collective
        std::uint32_t outstanding = 0;  ///< number of ops or slots that have not ended
        goal::OpIndex awaited = 0;      ///< op whose start or end it waits for
        goal::OpIndex next_op_index = 0;
        std::uint32_t slot = no_slot;  ///< slot of a nonblocking collective
        Moment ready_at = {};          ///< time at which it can continue: the latest of all it has waited for
        Moment last_end = {};          ///< latest end of an op of this collective
    };

    template <class Moment>
    struct State {
        std::uint32_t base = 0;  ///< index of the program that this rank executes
        std::uint32_t copy = 0;  ///< copy of the traced ranks to which it belongs; with a structure the rank itself
        Instructions::Position position;
        Thread<Moment> main;
        std::vector<Thread<Moment>> nonblocking;  ///< nonblocking collectives; entries that are done are reused
        InlineVector<Slot<Moment>, 4> slots;
        InlineVector<std::uint32_t, 2> begun;  ///< collectives, by counter
    };

    ProgramSource(std::shared_ptr<const Program> program, std::uint32_t copies);

    [[nodiscard]] std::uint32_t ranks() const { return base_ * copies_; }
    [[nodiscard]] bool has_one_sided() const { return program_->has_one_sided; }
    [[nodiscard]] std::uint32_t copies() const { return copies_; }
    [[nodiscard]] static std::uint32_t cpus() { return 1; }
    [[nodiscard]] static std::uint32_t nics() { return 1; }
    [[nodiscard]] const std::shared_ptr<const Program>& program() const { return program_; }

    template <class Moment>
    void begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool started(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const goal::Notice<Cookie, Moment>& notice,
                 goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const goal::Notice<Cookie, Moment>& notice,
               goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;

    // ---- program order (goal::ProgramOrderSource)

    /// Not of a collective, blocking or not: its steps have an order of their own.
    [[nodiscard]] static bool is_in_order(Cookie cookie) { return (cookie & collective_flag) == 0; }
    template <class Moment>
    static bool end_in_order(State<Moment>& state, Cookie cookie, const Moment& time);
    template <class Moment>
    [[nodiscard]] static Moment& ready_at(State<Moment>& state) {
        return state.main.ready_at;
    }
    template <class Moment>
    [[nodiscard]] const RankProgram& program_of(const State<Moment>& state) const {
        return program_->ranks[state.base];
    }
    template <class Moment, class Executor>
    goal::ProgramStep execute_next(State<Moment>& state, const RankProgram& program, Executor& executor) const;
    template <class Moment>
    bool hand_out(State<Moment>& state, goal::ReadyOp<Cookie, Moment>& next,
                  goal::ReadyOps<Cookie, Moment>& ready) const {
        return run(state, next, ready);
    }
    /// The rank waits for the end of its own op.
    template <class Moment>
    static void await_end(State<Moment>& state, goal::OpIndex op_index) {
        state.main.blocked = Blocked::end;
        state.main.awaited = op_index;
    }
    template <class Moment>
    static void pause(State<Moment>& state) {
        state.main.blocked = Blocked::paused;
    }
    template <class Moment>
    [[nodiscard]] static bool is_paused(const State<Moment>& state) {
        return state.main.blocked == Blocked::paused;
    }

    template <class Moment>
    [[nodiscard]] std::uint16_t call(std::uint32_t rank, const State<Moment>& state, const Cookie& cookie) const;
    [[nodiscard]] static std::string name(std::uint32_t rank, goal::OpIndex op_index);
    template <class Moment>
    [[nodiscard]] std::optional<goal::StopPosition> stop_position(std::uint32_t rank, const State<Moment>& state) const;
    template <class Moment, class Archive>
    void serialise(std::uint32_t rank, State<Moment>& state, Archive& archive) const;

    /// A lower bound of the number of ops of all ranks: without the ops of collectives.
    [[nodiscard]] std::uint64_t least_ops() const;

    /// How many receives of the traced run named no source, in all copies.
    [[nodiscard]] std::uint64_t wildcard_receives() const { return program_->wildcard_receives * copies_; }

    /// How many receives without a source there are whose message the trace does not have, in all copies.
    [[nodiscard]] std::uint64_t unknown_receives() const { return program_->unknown_receives * copies_; }

    /// The ops of one rank with their requirements: the same schedule in memory.
    [[nodiscard]] goal::RankSchedule rank_schedule(std::uint32_t rank) const;

  private:
    friend class ProgramExpansion;
    friend class ThreadedProgramSource;

    // A cookie is the index of a slot; or that of an op for whose end the rank itself waits, a calc or a blocking
    // message; or `collective_flag` with the index of a thread: 0 is the rank itself, i + 1 is nonblocking[i].
    static constexpr std::uint32_t collective_flag = 0x80000000;
    static constexpr std::uint32_t calc_cookie = 0x7fffffff;
    static constexpr std::uint32_t message_cookie = 0x7ffffffe;

    /// The program of a rank, and its copy as in State.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> base_and_copy(std::uint32_t rank) const {
        return program_->structure ? std::pair(program_->structure->programs[rank], rank)
                                   : std::pair(rank % base_, rank / base_);
    }
    [[nodiscard]] std::uint32_t peer_of(std::uint32_t copy, const Instruction& instruction) const {
        if (instruction.by_rule) [[unlikely]] {
            return peer_by_rule(copy, instruction);
        }
        return instruction.peer == goal::any ? goal::any : instruction.peer + copy * ranks_of_copy_ + first_peer_;
    }
    [[nodiscard, gnu::always_inline]] goal::ProgramMessage<Cookie> message_of(std::uint32_t copy,
                                                                              const Instruction& instruction) const {
        return {.size = instruction.size,
                .peer = peer_of(copy, instruction),
                .tag = instruction.tag,
                .cookie = instruction.blocking ? message_cookie : instruction.slot,
                .blocking = instruction.blocking};
    }
    [[nodiscard]] std::uint32_t peer_by_rule(std::uint32_t rank, const Instruction& instruction) const;
    [[nodiscard]] PreparedCall call_of(std::uint32_t copy, const CollectiveSite& site) const;
    [[nodiscard]] goal::Op op_of(std::uint32_t copy, const CollectiveSite& site, std::uint32_t tag,
                                 const goal::Op& op) const;
    template <class Counts>
    [[nodiscard]] static std::uint32_t next_tag(const CollectiveSite& site, Counts& begun) {
        return site.tag + (site.by_others + begun[site.counter]++) % CollectiveSite::tags;
    }
    [[nodiscard]] goal::Op op_of(std::uint32_t copy, const Instruction& instruction) const;
    template <class Moment>
    static void make_ready(Thread<Moment>& main, std::uint32_t cookie, Blocked blocked,
                           goal::ReadyOp<Cookie, Moment>& next);
    template <class Moment>
    void make_calc_ready(State<Moment>& state, std::uint64_t ns, goal::ReadyOp<Cookie, Moment>& next) const;
    template <class Moment>
    void make_message_ready(State<Moment>& state, const Instruction& instruction,
                            goal::ReadyOp<Cookie, Moment>& next) const;
    [[nodiscard]] goal::OpIndex count_ops(std::uint32_t copy, const CollectiveSite& site) const;

    template <class Moment>
    static Thread<Moment>& thread_of(State<Moment>& state, std::uint32_t cookie);
    /// What a thread of control does next: it goes on, has an op that is ready, or waits.
    enum class Then : std::uint8_t { goes_on, op_ready, waits };

    /// Reports that what is in a slot has ended, if the slot is shared. It stands among the ops that are ready, with no
    /// op index.
    template <class Moment>
    static void report_shared(std::uint32_t slot, const Moment& time, goal::ReadyOps<Cookie, Moment>& ready) {
        if (is_shared_slot(slot)) [[unlikely]] {
            ready.push_back({.op_index = goal::unknown_op_index, .at = time, .cookie = slot});
        }
    }
    template <class Moment>
    static void begin_slot(State<Moment>& state, std::uint32_t slot) {
        if (!is_shared_slot(slot)) [[likely]] {
            state.slots[slot] = {};
        }
    }

    // Each of these returns whether an op is ready, which is in `next`; those of other threads are in `ready`.
    template <class Moment>
    bool run(State<Moment>& state, goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool run_from(State<Moment>& state, const Instruction& instruction, goal::ReadyOp<Cookie, Moment>& next,
                  goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool run_on(State<Moment>& state, goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool run_thread(State<Moment>& state, std::uint32_t cookie, goal::ReadyOp<Cookie, Moment>& next,
                    goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool ended_in_collective(State<Moment>& state, const goal::Notice<Cookie, Moment>& notice,
                             goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool run_nonblocking(State<Moment>& state, std::uint32_t thread, goal::ReadyOp<Cookie, Moment>& next,
                         goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    Then run_instruction(State<Moment>& state, goal::ReadyOp<Cookie, Moment>& next,
                         goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    Then execute(State<Moment>& state, const Instruction& instruction, std::uint64_t ns,
                 goal::ReadyOp<Cookie, Moment>& next, goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    Then run_step(State<Moment>& state, std::uint32_t thread, goal::ReadyOp<Cookie, Moment>& next) const;
    template <class Moment>
    void begin_nonblocking(State<Moment>& state, const Instruction& instruction,
                           goal::ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment, class Executor>
    goal::ProgramStep execute_in_order(State<Moment>& state, const RankProgram& program, const Instruction& instruction,
                                       Executor& executor) const;
    template <class Moment>
    static bool wait(State<Moment>& state, const RankProgram& program, const Instruction& instruction);
    template <class Moment>
    static bool end_slot(State<Moment>& state, std::uint32_t slot, const Moment& time);

    std::shared_ptr<const Program> program_;
    std::uint32_t base_;  ///< ranks of the program
    std::uint32_t copies_;
    // The peer of an instruction is its number plus the number of the copy by the first, plus the second one.
    std::uint32_t ranks_of_copy_;
    std::uint32_t first_peer_;
};

static_assert(goal::ProgramOrderSource<ProgramSource>);

}  // namespace idlewave::collectives
