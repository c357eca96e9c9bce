#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "goal/op.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave {

/// Of one rank that cannot go on: which of its ops have not become ready, and on which of its *pending* ops, which have
/// started and not ended, each of them waits in the end.
class BlockedOps {
  public:
    /// The cause of an op that waits for itself.
    static constexpr std::uint32_t itself = 0xffffffff;

    /// An op that waits for another one to start or to end.
    struct Wait {
        OpIndex op_index = 0;
        OpIndex other = 0;
        Edge edge = Edge::end;
    };

    /// `pending`: places of `listing`, each once. `left`: of each op how many requirements are not met, if that does
    /// not follow from what is pending; else empty.
    BlockedOps(const RankSchedule& rank_schedule, std::span<const OpIndex> pending,
               std::vector<std::uint32_t> left = {});

    [[nodiscard]] bool blocks(OpIndex op_index) const { return left_[op_index] > 0; }
    /// How many requirements of an op are not met.
    [[nodiscard]] std::uint32_t left(OpIndex op_index) const { return left_[op_index]; }
    /// How many ops are blocked.
    [[nodiscard]] std::uint64_t count() const { return count_; }

    /// What a blocked op waits for in the end: a number for `pending_of`, or `itself`. Ops may share it.
    [[nodiscard]] std::uint32_t cause(OpIndex op_index) const { return cause_[op_index]; }
    /// Places in `pending`, ascending, all of which have to end before an op with that cause can start. There may be
    /// more, but not fewer: where the sets of a rank take too much memory some are cut short.
    [[nodiscard]] std::span<const std::uint32_t> pending_of(std::uint32_t cause) const { return *sets_[cause]; }

    /// Ops that require each other in a circle, if there are any: each waits for the next, and the last for the first.
    [[nodiscard]] std::vector<Wait> cycle() const;

  private:
    using Set = std::vector<std::uint32_t>;

    /// The requirements of a rank, by the op that waits, or by the other.
    struct Links {
        std::vector<std::uint32_t> begin;  ///< of each op, and the end
        std::vector<Wait> waits;
    };
    static Links links_by(const RankSchedule& rank_schedule, OpIndex Requirement::* key);

    void find_blocked();
    void find_causes();
    [[nodiscard]] std::uint32_t cause_of(OpIndex op_index);
    [[nodiscard]] std::uint32_t number_of(Set set);
    [[nodiscard]] std::span<const Wait> of(const Links& links, OpIndex op_index) const {
        return std::span(links.waits).subspan(links.begin[op_index], links.begin[op_index + 1] - links.begin[op_index]);
    }
    [[nodiscard]] bool is_pending(OpIndex op_index) const { return pending_[op_index] != not_pending; }
    [[nodiscard]] bool is_met(const Wait& wait) const {
        return !blocks(wait.other) && (wait.edge == Edge::start || !is_pending(wait.other));
    }

    static constexpr std::uint32_t not_pending = 0xffffffff;
    static constexpr std::uint32_t unknown = 0xfffffffe;

    Links required_;   ///< by the op that waits
    Links followers_;  ///< by the other op
    std::vector<std::uint32_t> pending_;
    std::vector<std::uint32_t> left_;
    std::uint64_t count_ = 0;
    std::vector<std::uint32_t> cause_;
    std::map<Set, std::uint32_t> numbers_;
    std::vector<const Set*> sets_;
    std::size_t members_ = 0;  ///< of all sets
};

}  // namespace idlewave
