#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "base/word_arena.hpp"
#include "goal/known_follower.hpp"
#include "goal/listing.hpp"
#include "goal/op.hpp"
#include "goal/progress.hpp"
#include "goal/rank_block.hpp"
#include "goal/rank_encoder.hpp"
#include "goal/source.hpp"

namespace idlewave {

/// A schedule in memory: every rank's ops in order, and which waits for which, each rank as a RankBlock of some ten
/// bytes an op, or four where it differs from the rank before in its peers alone. Immutable once built (GraphBuilder).
class Graph {
  public:
    using Cookie = NoCookie;
    /// Of one Graph.
    struct Scratch {
        KnownFollowers known;
    };
    static constexpr bool one_of_each = false;
    static constexpr bool exchanges = true;

    template <class Moment>
    using State = Progress<Moment>;

    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(blocks_.size()); }
    [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
    [[nodiscard]] std::uint32_t nics() const { return nics_; }
    [[nodiscard]] std::uint64_t op_count() const { return op_count_; }

    /// How many bytes its ops, dependencies and labels take.
    [[nodiscard]] std::uint64_t memory() const { return arena_.bytes() + blocks_.capacity() * sizeof blocks_[0]; }

    /// One rank's part.
    [[nodiscard]] const RankBlock& block(std::uint32_t rank) const { return blocks_[rank]; }

    /// Bring what a rank needs of its schedule into the cache.
    template <class Moment>
    [[gnu::always_inline]] void prefetch(std::uint32_t rank, const State<Moment>& state) const {
        blocks_[rank].prefetch(state.near());
    }

    [[nodiscard]] Place size(std::uint32_t rank) const { return block(rank).size(); }
    [[nodiscard]] Op op(std::uint32_t rank, Place place) const { return block(rank).op(place); }

    template <class Moment>
    void begin(std::uint32_t rank, State<Moment>& state, Scratch& scratch, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool started(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const Notice<Cookie, Moment>& notice,
                 ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const;
    template <class Moment>
    bool ended(std::uint32_t rank, State<Moment>& state, Scratch& scratch, const Notice<Cookie, Moment>& notice,
               ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready) const;
    [[nodiscard]] std::string name(std::uint32_t rank, Place place) const;
    template <class Moment>
    [[nodiscard]] static std::uint16_t call(std::uint32_t /*rank*/, const State<Moment>& /*state*/,
                                            const Cookie& /*cookie*/) {
        return 0;
    }
    template <class Moment>
    [[nodiscard]] std::optional<Stand> stand(std::uint32_t rank, const State<Moment>& state) const;
    [[nodiscard]] Listing listing(std::uint32_t rank) const;
    template <class Moment, class Archive>
    void keep(std::uint32_t rank, State<Moment>& state, Archive& archive) const {
        state.keep(archive, block(rank).size());
    }

  private:
    friend class GraphBuilder;

    template <class Moment>
    static void place_ready(const RankBlock& own, Place place, bool with_send, State<Moment>& state,
                            ReadyOp<Cookie, Moment>& ready);
    template <class Moment>
    static void make_ready(const RankBlock& own, Place place, const Moment& at, State<Moment>& state,
                           ReadyOp<Cookie, Moment>& ready);
    template <Edge edge, class Moment>
    static bool release(const RankBlock& own, State<Moment>& state, Scratch& scratch,
                        const Notice<Cookie, Moment>& notice, ReadyOp<Cookie, Moment>& next,
                        ReadyOps<Cookie, Moment>& ready);
    template <Edge edge, class Moment>
    static bool release_all(const RankBlock& own, State<Moment>& state, const Notice<Cookie, Moment>& notice,
                            ReadyOp<Cookie, Moment>& next, ReadyOps<Cookie, Moment>& ready);

    WordArena arena_;
    std::vector<RankBlock> blocks_;  ///< one a rank, in the arena
    std::uint64_t op_count_ = 0;
    std::uint32_t cpus_ = 1;
    std::uint32_t nics_ = 1;
};

/// Builds a Graph rank by rank: op by op, or whole ranks.
class GraphBuilder {
  public:
    /// Begin the next rank; ops and requirements belong to it from now on.
    void begin_rank();

    /// Add an op, with a label or "". Returns its place.
    Place add(const Op& op, std::string_view label = {});

    /// `waiting` may start only after `other` has started or ended.
    void require(Place waiting, Place other, Edge edge);

    /// Add a whole rank. Throws InputError if it cannot be held (RankEncoder).
    void append(const Listing& listing);

    /// Add a whole rank in the form in which it will lie in memory; it has passed `check_block`.
    void append_checked(std::span<const std::uint64_t> words);

    /// Add the rank before once more, with other peers: one an op, 0 of a calc.
    void append_like_last(std::span<const std::uint32_t> peers);

    /// The finished schedule. Throws InputError naming rank and op where a peer does not exist.
    Graph finish();

  private:
    void end_rank();
    void add(const RankBlock& block, std::uint32_t highest_peer);
    void refuse_peer() const;

    Graph graph_;
    RankEncoder encoder_;
    Listing rank_;                      ///< the one that is being built
    std::vector<std::uint32_t> peers_;  ///< of a rank that is being added
    std::uint32_t highest_peer_ = 0;
    bool in_rank_ = false;
};

}  // namespace idlewave

#include "goal/graph_run.hpp"

namespace idlewave {

static_assert(Source<Graph>);

}  // namespace idlewave
