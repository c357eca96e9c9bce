#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "collectives/step.hpp"
#include "goal/rank_schedule.hpp"
#include "goal/source.hpp"

namespace idlewave::collectives {

/// The ranks of a job that take part in an operation together: a communicator.
struct Group {
    enum class Kind : std::uint8_t {
        all,
        blocks,  ///< blocks of `size` consecutive ranks
        strided  ///< ranks with the same remainder modulo `size`
    };
    Kind kind = Kind::all;
    std::uint32_t size = 1;
};

/// An operation that all ranks of a job execute `times` times in a row.
struct Stage {
    StepFunction step = nullptr;
    CollectiveCall call = {};  ///< rank and size are set for each rank
    std::uint32_t times = 1;
    bool rotating_root = false;  ///< the root advances by one each time
    Group group = {};
    std::uint32_t tag = 0;
    std::vector<std::uint64_t> send_counts = {};  ///< the data of the call's spans
    std::vector<std::uint64_t> recv_counts = {};
    std::uint32_t row = 0;                ///< if not 0: the counts are a matrix; length of a rank's row
    bool own_bytes = false;               ///< a rank's bytes are its own count
    std::uint16_t number = 0;             ///< number of the operation (call_name.hpp)
    std::optional<GridShape> shape = {};  ///< of halo exchanges, sweeps and slabs; fits the group's size
    bool one_sided = false;               ///< whether its messages are puts
};

/// The placement of a job: which ranks of the machine it uses.
struct JobPlacement {
    std::uint32_t first = 0;
    std::uint32_t stride = 1;
    std::vector<std::uint32_t> table;  ///< if not empty: the machine's rank of each rank of the job
};

/// Ranks that execute the same stages in sequence; the whole sequence is repeated `repetitions` times.
struct Job {
    std::uint32_t ranks = 1;
    JobPlacement placement = {};
    std::vector<Stage> stages = {};
    std::uint32_t repetitions = 1;
};

/// A source of the ops of concurrent jobs. Ops are generated on demand: the state of a rank is its position in the
/// stages.
class Composition {
  public:
    using Cookie = goal::NoCookie;
    static constexpr bool single_cpu_and_nic = true;
    static constexpr bool has_exchanges = true;
    static constexpr std::uint32_t no_job = 0xffffffff;

    template <class Moment>
    struct State {
        Moment latest = {};          ///< latest end of an op so far
        std::uint32_t position = 0;  ///< number of stages done
        StepNumber step = 0;         ///< step in the present stage
        goal::OpIndex next_op_index = 0;
        std::uint32_t outstanding = 0;  ///< number of messages that have not ended, with the flags below
    };

    /// The stage of the last rank that a thread has simulated, prepared for the next rank.
    struct Scratch {
        const Stage* stage = nullptr;
        std::uint32_t job = no_job;
        std::uint32_t position = no_job;
        std::uint32_t root_shift = 0;  ///< by how much the root has advanced
        bool plain = false;            ///< ranks differ in their number only: one group, root 0, equal bytes
        CollectiveCall call;
    };

    /// Throws InputError if a placement has the wrong length, or uses a rank that does not exist or belongs to another
    /// job.
    explicit Composition(std::vector<Job> jobs, std::uint32_t machine_ranks = 0);

    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
    [[nodiscard]] static std::uint32_t cpus() { return 1; }
    [[nodiscard]] static std::uint32_t nics() { return 1; }
    [[nodiscard]] bool has_one_sided() const { return has_one_sided_; }

    template <class Moment>
    void begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
               goal::ReadyOps<Cookie, Moment>& ready) const {
        advance_step_by_step(rank, state, scratch, Moment{}, ready);
    }

    template <class Moment>
    [[gnu::always_inline]] bool started(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                        const goal::Notice<Cookie, Moment>& notice, goal::ReadyOp<Cookie, Moment>& next,
                                        goal::ReadyOps<Cookie, Moment>& ready) const {
        // The next op becomes ready by the start of the last one. After a computation or before a join it needs ends.
        return (state.outstanding & (computing | joining)) == 0 && notice.op_index + 1 == state.next_op_index &&
               advance(rank, state, scratch, notice.time, next, ready);
    }

    template <class Moment>
    [[gnu::always_inline]] bool ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                      const goal::Notice<Cookie, Moment>& notice, goal::ReadyOp<Cookie, Moment>& next,
                                      goal::ReadyOps<Cookie, Moment>& ready) const {
        state.latest = latest(state.latest, notice.time);
        if ((state.outstanding & computing) != 0 && notice.op_index + 1 == state.next_op_index) [[unlikely]] {
            state.outstanding &= ~computing;
            return advance(rank, state, scratch, notice.time, next, ready);
        }
        if ((--state.outstanding & ~joining) == 0) {
            // All issued ops have started, so the rank is at a join.
            state.outstanding = 0;
            return advance(rank, state, scratch, state.latest, next, ready);
        }
        return false;
    }

    /// An op starts before the next one is issued, so the rank is still in the op's stage.
    template <class Moment>
    [[nodiscard]] std::uint16_t call(std::uint32_t rank, const State<Moment>& state, const Cookie& /*cookie*/) const {
        const std::uint32_t job = local(rank).job;
        return jobs_[job].stages[stage_at(job, state.position)].number;
    }
    [[nodiscard]] static std::string name(std::uint32_t rank, goal::OpIndex op_index);
    template <class Moment>
    [[nodiscard]] std::optional<goal::StopPosition> stop_position(std::uint32_t rank,
                                                                  const State<Moment>& state) const {
        if (has_ended(rank, state.position)) {
            return std::nullopt;
        }
        return goal::StopPosition{.kind = goal::StopPosition::Kind::operation, .at = state.position};
    }

    /// The ops of one rank with their requirements: the same schedule in memory.
    [[nodiscard]] goal::RankSchedule rank_schedule(std::uint32_t rank) const;

  private:
    static constexpr std::uint32_t computing = 0x80000000;  ///< a computation has not ended
    static constexpr std::uint32_t joining = 0x40000000;    ///< no op is issued until all have ended
    /// A rank of the machine as a rank of its job.
    struct Local {
        std::uint32_t job;
        std::uint32_t rank;
    };

    [[nodiscard]] Local local(std::uint32_t rank) const {
        if (alone_) {
            return {0, rank};
        }
        return {job_of_[rank], local_of_[rank]};
    }

    /// Issues the next op if its conditions are met. Returns true if the op is in `next`; otherwise it is in `ready`,
    /// or there is none. The fast path holds when the rank is in the same stage as the last one and its next step is an
    /// op.
    template <class Moment>
    [[gnu::always_inline]] bool advance(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                        const Moment& ready_at, goal::ReadyOp<Cookie, Moment>& next,
                                        goal::ReadyOps<Cookie, Moment>& ready) const {
        if (alone_ && scratch.plain && scratch.position == state.position) [[likely]] {
            scratch.call.rank = rank;
            const Step step = scratch.stage->step(scratch.call, state.step);
            if (step.kind == Step::Kind::op) [[likely]] {
                issue(state, *scratch.stage, step, ready_at, next);
                return true;
            }
        }
        advance_step_by_step(rank, state, scratch, ready_at, ready);
        return false;
    }

    /// Executes steps until one issues an op, or a join has to wait for outstanding ops.
    template <class Moment>
    [[gnu::noinline]] void advance_step_by_step(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                                Moment ready_at, goal::ReadyOps<Cookie, Moment>& ready) const {
        const Local self = local(rank);
        while (true) {
            if (scratch.position != state.position || scratch.job != self.job) [[unlikely]] {
                if (self.job == no_job || !open_stage(scratch, self.job, state.position)) {
                    return;
                }
            }
            const Stage& stage = *scratch.stage;
            enter_group(scratch, self);
            const Step step = stage.step(scratch.call, state.step);
            if (step.kind == Step::Kind::op) [[likely]] {
                goal::ReadyOp<Cookie, Moment>& next = ready.add();
                issue(state, stage, step, ready_at, next);
                if (step.op_kind != goal::OpKind::calc && (!alone_ || stage.group.kind != Group::Kind::all)) {
                    next.op.peer = world(self, stage.group, step.peer);
                    if (step.exchange) {
                        next.exchange.send_to = world(self, stage.group, step.send_to());
                    }
                }
                return;
            }
            if (step.kind != Step::Kind::skip) {
                if (state.outstanding > 0) {
                    return;
                }
                ready_at = latest(ready_at, state.latest);
            }
            state.step = step.after(state.step);
            if (step.kind == Step::Kind::done) {
                state.step = 0;
                ++state.position;
            }
        }
    }

    // Member by member: a wide load of narrow stores would stall until all stores are done.
    template <class Moment>
    [[gnu::always_inline]] static void issue(State<Moment>& state, const Stage& stage, const Step& step,
                                             const Moment& ready_at, goal::ReadyOp<Cookie, Moment>& next) {
        const bool calc = step.op_kind == goal::OpKind::calc;
        next.at = ready_at;
        next.op.size = step.size;
        next.op.peer = step.peer;
        next.op.tag = calc ? 0 : stage.tag | step.tag();
        next.op.kind = step.op_kind;
        next.op.cpu = 0;
        next.op.nic = 0;
        next.op.reduction = step.reduction;
        next.op.start_has_successors = !calc && !step.joins;
        next.op.end_has_successors = true;
        next.op_index = state.next_op_index++;
        if (step.exchange) {
            next.exchange.send_to = step.send_to();
            ++state.next_op_index;
            state.step += 2;
            state.outstanding = (state.outstanding + 2) | joining;
            return;
        }
        next.exchange.send_to = goal::no_rank;
        state.step = step.next;
        if (calc) [[unlikely]] {
            state.outstanding |= computing;
        } else {
            state.outstanding = (state.outstanding + 1) | (step.joins ? joining : 0);
        }
    }

    /// Makes the call in `scratch` that of one rank.
    [[gnu::always_inline]] void enter_group(Scratch& scratch, const Local& self) const {
        CollectiveCall& call = scratch.call;
        call.rank = self.rank;
        if (scratch.plain) [[likely]] {
            return;
        }
        const Stage& stage = *scratch.stage;
        if (stage.group.kind != Group::Kind::all) {
            call.rank =
                stage.group.kind == Group::Kind::blocks ? self.rank % stage.group.size : self.rank / stage.group.size;
            call.size = group_size(stage.group, self);
        }
        if (stage.row != 0) [[unlikely]] {
            const std::size_t begin = std::size_t{stage.row} * call.rank;
            call.send_counts = std::span(stage.send_counts).subspan(begin, call.size);
            call.recv_counts = std::span(stage.recv_counts).subspan(begin, call.size);
        }
        if (stage.own_bytes) {
            const auto& counts = stage.recv_counts.empty() ? stage.send_counts : stage.recv_counts;
            call.bytes = counts[call.rank % counts.size()];
        }
        if (stage.rotating_root || stage.call.root != 0) {
            call.root = (stage.call.root + scratch.root_shift) % call.size;
        }
    }

    void assign_ranks();
    [[nodiscard]] bool has_ended(std::uint32_t rank, std::uint32_t position) const;
    [[nodiscard]] std::uint32_t on_machine(std::uint32_t job, std::uint32_t rank) const;
    [[nodiscard]] std::uint32_t group_size(const Group& group, const Local& self) const;
    [[nodiscard]] std::uint32_t world(const Local& self, const Group& group, std::uint32_t peer) const;
    [[nodiscard]] std::size_t stage_at(std::uint32_t job, std::uint32_t position) const;
    bool open_stage(Scratch& scratch, std::uint32_t job, std::uint32_t position) const;

    std::vector<Job> jobs_;
    std::vector<std::vector<std::uint32_t>> stage_ends_;  ///< by job: number of operations up to the end of each stage
    std::vector<std::uint32_t> executions_;               ///< by job: number of operations of one repetition
    std::uint32_t ranks_ = 0;
    bool has_one_sided_ = false;
    bool alone_ = true;                    ///< there is one job, on all ranks in order
    std::vector<std::uint32_t> job_of_;    ///< by rank of the machine; empty if alone_
    std::vector<std::uint32_t> local_of_;  ///< rank in the job, by rank of the machine
};

static_assert(goal::Source<Composition>);

}  // namespace idlewave::collectives
