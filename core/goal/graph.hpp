#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "base/word_arena.hpp"
#include "goal/decoded_ops.hpp"
#include "goal/op.hpp"
#include "goal/progress.hpp"
#include "goal/rank_block.hpp"
#include "goal/rank_encoder.hpp"
#include "goal/rank_schedule.hpp"
#include "goal/source.hpp"

namespace idlewave::goal {

/// A schedule in memory: the ops of every rank in order, with their requirements. A rank is a RankBlock of some ten
/// bytes an op, or of four bytes an op if it differs from the rank before it in its values only. A GraphBuilder builds
/// it; then it is immutable. How a rank goes on when ops start and end is defined in graph_run.hpp: a file that
/// simulates a graph includes it.
class Graph {
  public:
    using Cookie = NoCookie;
    /// Valid for one Graph only.
    struct Scratch {
        DecodedOps ops;
    };
    static constexpr bool single_cpu_and_nic = false;
    static constexpr bool has_exchanges = true;

    template <class Moment>
    using State = Progress<Moment>;

    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(blocks_.size()); }
    [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
    [[nodiscard]] std::uint32_t nics() const { return nics_; }
    [[nodiscard]] std::uint64_t op_count() const { return op_count_; }
    [[nodiscard]] bool has_one_sided() const { return has_one_sided_; }

    /// The memory of its ops, requirements and labels in bytes.
    [[nodiscard]] std::uint64_t memory() const { return arena_.bytes() + blocks_.capacity() * sizeof blocks_[0]; }

    /// The encoded schedule of one rank.
    [[nodiscard]] const RankBlock& block(std::uint32_t rank) const { return blocks_[rank]; }

    /// Brings a rank's block into the cache.
    [[gnu::always_inline]] void prefetch(std::uint32_t rank) const { __builtin_prefetch(&blocks_[rank]); }
    /// Brings the part of the schedule that a rank needs next into the cache.
    template <class Moment>
    [[gnu::always_inline]] void prefetch(std::uint32_t rank, const State<Moment>& state) const {
        blocks_[rank].prefetch(state.near());
    }
    template <class Moment>
    [[gnu::always_inline]] void prefetch_further(std::uint32_t rank, const State<Moment>& state) const {
        blocks_[rank].prefetch_shape(state.near());
    }

    [[nodiscard]] OpIndex size(std::uint32_t rank) const { return block(rank).size(); }
    [[nodiscard]] Op op(std::uint32_t rank, OpIndex op_index) const { return block(rank).op(op_index); }

    template <class Moment>
    void begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool started(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const Notice<Cookie, Moment>& notice,
                 ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const Notice<Cookie, Moment>& notice,
               ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const;
    [[nodiscard]] std::string name(std::uint32_t rank, OpIndex op_index) const;
    template <class Moment>
    [[nodiscard]] static std::uint16_t call(std::uint32_t /*rank*/, const State<Moment>& /*state*/,
                                            const Cookie& /*cookie*/) {
        return 0;
    }
    template <class Moment>
    [[nodiscard]] std::optional<StopPosition> stop_position(std::uint32_t rank, const State<Moment>& state) const;
    [[nodiscard]] RankSchedule rank_schedule(std::uint32_t rank) const;
    template <class Moment, class Archive>
    void serialise(std::uint32_t /*rank*/, State<Moment>& state, Archive& archive) const {
        state.serialise(archive);
    }

  private:
    friend class GraphBuilder;

    template <class Moment>
    static void make_ready(const RankBlock& own, const DecodedOp& decoded, const Moment& at, State<Moment>& state,
                           ReadyOp<Cookie, Moment>& ready);
    template <class Moment, class Count>
    static bool meet_requirement(const RankBlock& own, OpIndex op_index, Count requirements, State<Moment>& state,
                                 Moment& at);
    template <class Moment>
    static bool release_next(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                             const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next);
    template <Edge edge, class Moment>
    static bool release(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                        const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                        ReadyOps<Cookie, Moment>& ready);
    template <Edge edge, class Moment>
    static bool release_many(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                             const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                             ReadyOps<Cookie, Moment>& ready);

    WordArena arena_;
    std::vector<RankBlock> blocks_;  ///< by rank; the words lie in the arena
    std::uint64_t op_count_ = 0;
    std::uint32_t cpus_ = 1;
    std::uint32_t nics_ = 1;
    bool has_one_sided_ = false;
};

/// Builds a Graph rank by rank: op by op, or whole ranks.
class GraphBuilder {
  public:
    /// Begins the next rank, to which all further ops and requirements belong.
    void begin_rank();

    /// Adds an op with a label, or with none (""). Returns its index.
    OpIndex add(const Op& op, std::string_view label = {});

    /// Adds a requirement: `successor` may start only after `predecessor` has started or ended.
    void require(OpIndex successor, OpIndex predecessor, Edge edge);

    /// Adds a whole rank. Throws InputError if it is too large for a block (RankEncoder).
    void append(const RankSchedule& schedule);

    /// Adds a whole rank in its encoded form, which must have passed `check_block`.
    void append_checked(std::span<const std::uint64_t> words);

    /// Adds a copy of the last rank with other values, one for each op: the peer of a message, the nanoseconds of a
    /// calc.
    void append_with_other_values(std::span<const std::uint32_t> values);

    /// Returns the finished schedule. Throws an InputError with rank and op if a peer does not exist.
    Graph finish();

  private:
    void end_rank();
    void add(const RankBlock& block, std::uint32_t highest_peer);
    void refuse_peer() const;

    Graph graph_;
    RankEncoder encoder_;
    RankSchedule rank_;                  ///< the rank that is being built
    std::vector<std::uint32_t> values_;  ///< of the rank that is being added
    std::uint32_t highest_peer_ = 0;
    bool in_rank_ = false;
};

static_assert(Source<Graph>);

}  // namespace idlewave::goal
