#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"

namespace idlewave {

/// A schedule in memory: every rank's ops in order, and which waits for which. Immutable once built (GraphBuilder).
class Graph {
  public:
    using Cookie = NoCookie;
    struct Scratch {};

    /// What changes while a rank runs.
    struct State {
        std::vector<std::uint32_t> waits;  ///< requirements not yet met, per op
        std::vector<Time> ready_at;        ///< the latest of those met, per op
    };

    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(first_op_.size() - 1); }
    [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
    [[nodiscard]] std::uint32_t nics() const { return nics_; }
    [[nodiscard]] std::uint64_t op_count() const { return ops_.size(); }

    /// The ops of `rank`, in order.
    [[nodiscard]] std::span<const Op> ops(std::uint32_t rank) const {
        return std::span(ops_).subspan(first_op_[rank], first_op_[rank + 1] - first_op_[rank]);
    }

    /// The ops of `rank` that wait for op `place`'s start or end.
    [[nodiscard]] std::span<const Place> followers(std::uint32_t rank, Place place, Edge edge) const;

    /// The label of an op, "" if it has none.
    [[nodiscard]] std::string_view label(std::uint32_t rank, Place place) const;

    void begin(std::uint32_t rank, State& state, Scratch& scratch, std::vector<ReadyOp<Cookie>>& ready) const;
    void started(std::uint32_t rank, State& state, Scratch& scratch, const Notice<Cookie>& notice,
                 std::vector<ReadyOp<Cookie>>& ready) const;
    void ended(std::uint32_t rank, State& state, Scratch& scratch, const Notice<Cookie>& notice,
               std::vector<ReadyOp<Cookie>>& ready) const;
    [[nodiscard]] std::string name(std::uint32_t rank, Place place) const;
    void unfinished(std::uint32_t rank, const State& state, std::vector<Waiting>& waiting) const;

  private:
    friend class GraphBuilder;

    void release(std::uint32_t rank, State& state, const Notice<Cookie>& notice, Edge edge,
                 std::vector<ReadyOp<Cookie>>& ready) const;

    std::vector<std::size_t> first_op_{0};  ///< where each rank's ops begin; one entry more than ranks
    std::vector<Op> ops_;
    std::vector<std::uint32_t> requirements_;     ///< how many each op has
    std::vector<std::size_t> first_follower_{0};  ///< two entries an op (after its start, after its end), and one more
    std::vector<Place> followers_;
    std::vector<std::uint32_t> label_begin_;  ///< into label_text_, one an op
    std::string label_text_;                  ///< labels, each zero-terminated; the first is ""
    std::uint32_t cpus_ = 1;
    std::uint32_t nics_ = 1;
};

static_assert(Source<Graph>);

/// Builds a Graph rank by rank, op by op.
class GraphBuilder {
  public:
    /// Begin the next rank; ops and edges belong to it from now on.
    void begin_rank();

    /// Add an op, with a label or "". Returns its place.
    Place add(const Op& op, std::string_view label = {});

    /// `waiting` may start only after `other` has started or ended.
    void require(Place waiting, Place other, Edge edge);

    [[nodiscard]] Place size() const { return static_cast<Place>(graph_.ops_.size() - rank_begin_); }
    [[nodiscard]] std::string_view label(Place place) const;

    /// The finished schedule. Throws InputError naming the rank where a peer does not exist.
    Graph finish();

  private:
    struct Requirement {
        Place other;
        Edge edge;
        Place waiting;
    };

    void end_rank();

    Graph graph_;
    std::vector<Requirement> requirements_;
    std::size_t rank_begin_ = 0;
    bool in_rank_ = false;
};

}  // namespace idlewave
