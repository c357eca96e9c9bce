#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "collectives/step.hpp"
#include "goal/listing.hpp"
#include "goal/source.hpp"

namespace idlewave {

/// Which ranks of a job take part in an operation together: a communicator.
struct Group {
    enum class Kind : std::uint8_t {
        all,
        blocks,  ///< `size` neighbours each
        strided  ///< those of equal remainder by `size`
    };
    Kind kind = Kind::all;
    std::uint32_t size = 1;
};

/// Something that all ranks of a job do, `times` times in a row.
struct Stage {
    StepFunction step = nullptr;
    CollectiveCall call = {};  ///< rank and size are set for each rank
    std::uint32_t times = 1;
    bool rotating_root = false;  ///< the root moves on by one each time
    Group group = {};
    std::uint32_t tag = 0;
    std::vector<std::uint64_t> send_counts = {};  ///< for the call's spans
    std::vector<std::uint64_t> recv_counts = {};
    std::uint32_t row = 0;                ///< if not 0: every rank has counts of its own, so many apart
    bool own_bytes = false;               ///< a rank's part is what the counts say of it
    std::uint16_t number = 0;             ///< of its operation (call_name.hpp)
    std::optional<GridShape> shape = {};  ///< of halo exchanges and sweeps, fitted to the group's size
};

/// Where the ranks of a job are on the machine.
struct Placement {
    std::uint32_t first = 0;
    std::uint32_t stride = 1;
    std::vector<std::uint32_t> table;  ///< if not empty: the machine's rank of each of the job's
};

/// Ranks that do the same stages, one after the other, the whole sequence `repetitions` times.
struct Job {
    std::uint32_t ranks = 1;
    Placement placement = {};
    std::vector<Stage> stages = {};
    std::uint32_t repetitions = 1;
};

/// Jobs beside each other as a source of ops, made on the fly: a rank needs to know only where in its stages it stands.
class Composition {
  public:
    using Cookie = NoCookie;
    static constexpr bool one_of_each = true;
    static constexpr bool exchanges = true;
    static constexpr std::uint32_t no_job = 0xffffffff;

    template <class Moment>
    struct State {
        Moment latest = {};          ///< of the ends of ops so far
        std::uint32_t position = 0;  ///< stages done
        StepNumber step = 0;         ///< in the present stage
        Place next_place = 0;
        std::uint32_t open = 0;  ///< messages that have not ended; `computing`: and a computation; `joining`
    };

    /// What a thread keeps of the stage that the last rank was in.
    struct Scratch {
        const Stage* stage = nullptr;
        std::uint32_t job = no_job;
        std::uint32_t position = no_job;
        std::uint32_t turn = 0;  ///< by how much the root has moved on
        bool plain = false;      ///< ranks differ in their number alone: all of the job, root 0, the same bytes
        CollectiveCall call;
    };

    /// Throws InputError if a placement is not one: on a rank that does not exist or is taken, or of the wrong length.
    explicit Composition(std::vector<Job> jobs, std::uint32_t machine_ranks = 0);

    [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
    [[nodiscard]] static std::uint32_t cpus() { return 1; }
    [[nodiscard]] static std::uint32_t nics() { return 1; }

    template <class Moment>
    void begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch, ReadyOps<Cookie, Moment>& ready) const {
        go_on_step_by_step(rank, state, scratch, Moment{}, ready);
    }

    template <class Moment>
    [[gnu::always_inline]] bool started(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                        const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                        ReadyOps<Cookie, Moment>& ready) const {
        // The next op follows the start of the last one; what follows a computation or a join waits for ends.
        return (state.open & (computing | joining)) == 0 && notice.place + 1 == state.next_place &&
               go_on(rank, state, scratch, notice.time, next, ready);
    }

    template <class Moment>
    [[gnu::always_inline]] bool ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch,
                                      const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                                      ReadyOps<Cookie, Moment>& ready) const {
        state.latest = latest(state.latest, notice.time);
        if ((state.open & computing) != 0 && notice.place + 1 == state.next_place) [[unlikely]] {
            state.open &= ~computing;
            return go_on(rank, state, scratch, notice.time, next, ready);
        }
        if ((--state.open & ~joining) == 0) {
            // All that were issued have started, so the rank stands at a join.
            state.open = 0;
            return go_on(rank, state, scratch, state.latest, next, ready);
        }
        return false;
    }

    /// What is issued starts before anything else is, so the rank still stands in its stage.
    template <class Moment>
    [[nodiscard]] std::uint16_t call(std::uint32_t rank, const State<Moment>& state, const Cookie& /*cookie*/) const {
        const std::uint32_t job = local(rank).job;
        return jobs_[job].stages[stage_at(job, state.position)].number;
    }
    [[nodiscard]] static std::string name(std::uint32_t rank, Place place);
    template <class Moment>
    [[nodiscard]] std::optional<Stand> stand(std::uint32_t rank, const State<Moment>& state) const {
        if (has_ended(rank, state.position)) {
            return std::nullopt;
        }
        return Stand{.kind = Stand::Kind::operation, .at = state.position};
    }

    /// The ops of one rank and their requirements: the same schedule, written out.
    [[nodiscard]] Listing listing(std::uint32_t rank) const;

  private:
    static constexpr std::uint32_t computing = 0x80000000;
    static constexpr std::uint32_t joining = 0x40000000;  ///< nothing more is issued until all has ended
    /// A rank of the machine as its job sees it.
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

    /// Issues the next op, when all before it lets it: to `next` if it says so, else to the list. Most often the rank
    /// stands in the stage in which the last one stood, and its next step is an op.
    template <class Moment>
    [[gnu::always_inline]] bool go_on(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const Moment& gate,
                                      ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const {
        if (alone_ && scratch.plain && scratch.position == state.position) [[likely]] {
            scratch.call.rank = rank;
            const Step step = scratch.stage->step(scratch.call, state.step);
            if (step.kind == Step::Kind::op) [[likely]] {
                issue(state, *scratch.stage, step, gate, next);
                return true;
            }
        }
        go_on_step_by_step(rank, state, scratch, gate, ready);
        return false;
    }

    /// Goes through steps until one is an op, or all that is open has to end.
    template <class Moment>
    [[gnu::noinline]] void go_on_step_by_step(std::uint32_t rank, State<Moment>& state, Scratch& scratch, Moment gate,
                                              ReadyOps<Cookie, Moment>& ready) const {
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
                ReadyOp<Cookie, Moment>& next = ready.add();
                issue(state, stage, step, gate, next);
                if (step.op_kind != OpKind::calc && (!alone_ || stage.group.kind != Group::Kind::all)) {
                    next.op.peer = world(self, stage.group, step.peer);
                    if (step.exchanges) {
                        next.along.to = world(self, stage.group, step.send_to());
                    }
                }
                return;
            }
            if (step.kind != Step::Kind::skip) {
                if (state.open > 0) {
                    return;
                }
                gate = latest(gate, state.latest);
            }
            state.step = step.after(state.step);
            if (step.kind == Step::Kind::done) {
                state.step = 0;
                ++state.position;
            }
        }
    }

    // Field by field: a wide load of several narrow stores that are still under way would wait for all of them.
    template <class Moment>
    [[gnu::always_inline]] static void issue(State<Moment>& state, const Stage& stage, const Step& step,
                                             const Moment& gate, ReadyOp<Cookie, Moment>& next) {
        const bool calc = step.op_kind == OpKind::calc;
        next.at = gate;
        next.op.size = step.size;
        next.op.peer = step.peer;
        next.op.tag = calc ? 0 : stage.tag;
        next.op.kind = step.op_kind;
        next.op.cpu = 0;
        next.op.nic = 0;
        next.op.reduction = step.reduction;
        next.place = state.next_place++;
        if (step.exchanges) {
            next.along.to = step.send_to();
            ++state.next_place;
            state.step += 2;
            state.open = (state.open + 2) | joining;
            return;
        }
        next.along.to = nobody;
        state.step = step.next;
        if (calc) [[unlikely]] {
            state.open |= computing;
        } else {
            state.open = (state.open + 1) | (step.joins ? joining : 0);
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
            call.root = (stage.call.root + scratch.turn) % call.size;
        }
    }

    void place();
    [[nodiscard]] bool has_ended(std::uint32_t rank, std::uint32_t position) const;
    [[nodiscard]] std::uint32_t on_machine(std::uint32_t job, std::uint32_t rank) const;
    [[nodiscard]] std::uint32_t group_size(const Group& group, const Local& self) const;
    [[nodiscard]] std::uint32_t world(const Local& self, const Group& group, std::uint32_t peer) const;
    [[nodiscard]] std::size_t stage_at(std::uint32_t job, std::uint32_t position) const;
    bool open_stage(Scratch& scratch, std::uint32_t job, std::uint32_t position) const;

    std::vector<Job> jobs_;
    std::vector<std::vector<std::uint32_t>> stage_ends_;  ///< of each job: executions up to the end of each stage
    std::vector<std::uint32_t> executions_;               ///< of each job: of all stages, one repetition
    std::uint32_t ranks_ = 0;
    bool alone_ = true;                    ///< one job, rank for rank
    std::vector<std::uint32_t> job_of_;    ///< by the machine's rank, unless alone_
    std::vector<std::uint32_t> local_of_;  ///< its rank in its job
};

static_assert(Source<Composition>);

}  // namespace idlewave
