#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/inline_vector.hpp"
#include "base/time.hpp"
#include "collectives/step.hpp"
#include "goal/listing.hpp"
#include "goal/source.hpp"

namespace idlewave {

inline constexpr std::uint32_t no_slot = 0xffffffff;

/// What an MPI rank executes, one thing after the other. A send or a receive goes on beside what follows; a wait ends
/// when all that is in its slots has ended.
struct Instruction {
    enum class Kind : std::uint8_t { calc, send, recv, wait, collective };
    Kind kind = Kind::calc;
    std::uint32_t slot = no_slot;  ///< where to find it again; of a collective `no_slot`: wait for it here
    std::uint32_t peer = 0;        ///< send, recv: world rank, or `any`
    std::uint32_t tag = 0;
    std::uint64_t size = 0;   ///< bytes; of a calc nanoseconds
    std::uint32_t begin = 0;  ///< wait: its first entry in `slot_lists`; collective: its entry in `collectives`
    std::uint32_t count = 0;  ///< wait: how many entries
};

/// A collective call in a rank's program.
struct CollectiveSite {
    StepFunction step = nullptr;
    std::uint32_t communicator = 0;  ///< index into Program::communicators
    std::uint32_t rank = 0;          ///< of the caller in the communicator
    std::uint32_t root = 0;
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> send_counts;
    std::vector<std::uint64_t> recv_counts;
};

/// The program of one rank.
struct RankProgram {
    std::vector<Instruction> instructions;
    std::vector<std::uint32_t> slot_lists;
    std::vector<CollectiveSite> collectives;
    std::uint32_t slots = 0;
};

/// Programs of a number of ranks.
struct Program {
    std::vector<RankProgram> ranks;
    std::vector<std::vector<std::uint32_t>> communicators;  ///< the members' world ranks
    double reduction_cost = 0;                              ///< ns per byte
};

/// A program as a source of ops: collectives are replaced by their algorithms' messages while it runs, and nothing is
/// kept but where each rank stands.
///
/// With more than one copy it is extrapolated as LogGOPSim does it: rank r of copy c is rank r + c·n; messages stay
/// inside a copy, and so do collectives of part of the ranks; collectives of all n ranks span all copies.
class ProgramSource {
  public:
    /// Says whose op it is: a slot of the rank itself, its computation, or a collective's.
    using Cookie = std::uint32_t;
    struct Scratch {};
    static constexpr bool one_of_each = true;
    static constexpr bool exchanges = false;

    template <class Moment>
    struct Slot {
        Moment end = {};
        bool ended = false;
        bool awaited = false;
    };

    enum class Blocked : std::uint8_t { start, end, join, slots, done };

    /// Something that goes through steps or instructions in order: the rank itself, or a nonblocking collective.
    template <class Moment>
    struct Thread {
        Blocked blocked = Blocked::done;
        bool in_collective = false;
        std::uint32_t at = 0;    ///< the instruction
        std::uint32_t site = 0;  ///< the collective
        StepNumber step = 0;     ///< in the collective
        std::uint32_t open = 0;  ///< ops or slots that have not ended
        Place awaited = 0;       ///< the op whose start or end lets it go on
        Place next_place = 0;
        std::uint32_t slot = no_slot;  ///< of a nonblocking collective
        Moment gate = {};              ///< when it may go on: the latest of what it has waited for
        Moment last_end = {};          ///< of the ops of this collective
    };

    template <class Moment>
    struct State {
        std::uint32_t base = 0;  ///< the traced rank whose program this one runs
        std::uint32_t copy = 0;  ///< which copy of the traced ranks it belongs to
        Thread<Moment> main;
        std::vector<Thread<Moment>> beside;  ///< nonblocking collectives; those that are done may be used again
        InlineVector<Slot<Moment>, 4> slots;
    };

    ProgramSource(std::shared_ptr<const Program> program, std::uint32_t copies);

    [[nodiscard]] std::uint32_t ranks() const { return base_ * copies_; }
    [[nodiscard]] static std::uint32_t cpus() { return 1; }
    [[nodiscard]] static std::uint32_t nics() { return 1; }
    [[nodiscard]] const std::shared_ptr<const Program>& program() const { return program_; }

    template <class Moment>
    void begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool started(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const Notice<Cookie, Moment>& notice,
                 ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const Notice<Cookie, Moment>& notice,
               ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    [[nodiscard]] std::uint16_t call(std::uint32_t rank, const State<Moment>& state, const Cookie& cookie) const;
    [[nodiscard]] static std::string name(std::uint32_t rank, Place place);
    template <class Moment>
    [[nodiscard]] std::optional<Stand> stand(std::uint32_t rank, const State<Moment>& state) const;
    template <class Moment, class Archive>
    void keep(std::uint32_t rank, State<Moment>& state, Archive& archive) const;

    /// How many ops all ranks have at least: their own, without those that collectives are replaced by.
    [[nodiscard]] std::uint64_t least_ops() const;

    /// The ops of one rank and their requirements: the same schedule, written out.
    [[nodiscard]] Listing listing(std::uint32_t rank) const;

  private:
    friend class ProgramExpansion;

    // A cookie says whose op it is: a slot of the rank itself, its computation, or a collective's. A collective's
    // carries the thread that it runs in: 0 is the rank itself, i + 1 is beside[i].
    static constexpr std::uint32_t collective_flag = 0x80000000;
    static constexpr std::uint32_t calc_cookie = 0x7fffffff;

    template <class Moment>
    [[nodiscard]] const RankProgram& program_of(const State<Moment>& state) const {
        return program_->ranks[state.base];
    }
    [[nodiscard]] CollectiveCall call_of(std::uint32_t copy, const CollectiveSite& site) const;
    [[nodiscard]] Op op_of(std::uint32_t copy, const CollectiveSite& site, const Op& op) const;
    [[nodiscard]] Op op_of(std::uint32_t copy, const Instruction& instruction) const;
    [[nodiscard]] Place count_ops(std::uint32_t copy, const CollectiveSite& site) const;

    template <class Moment>
    static Thread<Moment>& thread_of(State<Moment>& state, std::uint32_t cookie);
    template <class Moment>
    void run(State<Moment>& state, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool run_instruction(State<Moment>& state, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool run_step(State<Moment>& state, std::uint32_t thread, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    void begin_beside(State<Moment>& state, const Instruction& instruction, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    void run_beside(State<Moment>& state, std::uint32_t thread, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    static bool wait(State<Moment>& state, const RankProgram& program, const Instruction& instruction);
    template <class Moment>
    static bool end_slot(State<Moment>& state, std::uint32_t slot, const Moment& time);

    std::shared_ptr<const Program> program_;
    std::uint32_t base_;
    std::uint32_t copies_;
};

}  // namespace idlewave

#include "collectives/program_run.hpp"

namespace idlewave {

static_assert(Source<ProgramSource>);

}  // namespace idlewave
