#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "goal/op.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::standstill {

/// The blocked ops of one rank, which have not become ready, and the *pending* ops that each of them waits for in the
/// end. A pending op has started and has not ended.
class BlockedOps {
  public:
    /// The cause of an op that waits for itself: it is in, or behind, a cycle of requirements.
    static constexpr std::uint32_t itself = 0xffffffff;

    /// A requirement that is not met: `op_index` waits for `other` to start or to end.
    struct Wait {
        goal::OpIndex op_index = 0;
        goal::OpIndex other = 0;
        goal::Edge edge = goal::Edge::end;
    };

    /// `pending` are places of `rank_schedule`, each once. `unmet` is the number of unmet requirements of each op; it
    /// is empty if this follows from the pending ops.
    BlockedOps(const goal::RankSchedule& rank_schedule, std::span<const goal::OpIndex> pending,
               std::vector<std::uint32_t> unmet = {});

    [[nodiscard]] bool blocks(goal::OpIndex op_index) const { return unmet_[op_index] > 0; }
    /// The number of unmet requirements of an op.
    [[nodiscard]] std::uint32_t unmet(goal::OpIndex op_index) const { return unmet_[op_index]; }
    /// The number of blocked ops.
    [[nodiscard]] std::uint64_t count() const { return count_; }

    /// The cause of a blocked op: a number for `pending_of`, or `itself`. Ops may share a cause.
    [[nodiscard]] std::uint32_t cause(goal::OpIndex op_index) const { return cause_[op_index]; }
    /// Indices into `pending`, ascending: all of these ops have to end before an op with that cause can start. The list
    /// may be incomplete, where the sets of a rank take too much memory.
    [[nodiscard]] std::span<const std::uint32_t> pending_of(std::uint32_t cause) const { return *sets_[cause]; }

    /// A cycle of requirements, if there is one: each op waits for the next, and the last for the first.
    [[nodiscard]] std::vector<Wait> cycle() const;

  private:
    using Set = std::vector<std::uint32_t>;

    /// The requirements of a rank, grouped by the waiting op or by the other op.
    struct Links {
        std::vector<std::uint32_t> begin;  ///< of each op, and the end
        std::vector<Wait> waits;
    };
    static Links links_by(const goal::RankSchedule& rank_schedule, goal::OpIndex goal::Requirement::* key);

    void find_blocked();
    void find_causes();
    [[nodiscard]] std::uint32_t cause_of(goal::OpIndex op_index);
    [[nodiscard]] std::uint32_t number_of(Set set);
    [[nodiscard]] std::span<const Wait> of(const Links& links, goal::OpIndex op_index) const {
        return std::span(links.waits).subspan(links.begin[op_index], links.begin[op_index + 1] - links.begin[op_index]);
    }
    [[nodiscard]] bool is_pending(goal::OpIndex op_index) const { return pending_[op_index] != not_pending; }
    [[nodiscard]] bool is_met(const Wait& wait) const {
        return !blocks(wait.other) && (wait.edge == goal::Edge::start || !is_pending(wait.other));
    }

    static constexpr std::uint32_t not_pending = 0xffffffff;
    static constexpr std::uint32_t unknown = 0xfffffffe;

    Links required_;    ///< by the op that waits
    Links successors_;  ///< by the other op
    std::vector<std::uint32_t> pending_;
    std::vector<std::uint32_t> unmet_;
    std::uint64_t count_ = 0;
    std::vector<std::uint32_t> cause_;
    std::map<Set, std::uint32_t> numbers_;
    std::vector<const Set*> sets_;
    std::size_t members_ = 0;  ///< of all sets
};

}  // namespace idlewave::standstill
