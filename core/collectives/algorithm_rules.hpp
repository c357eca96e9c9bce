#pragma once

#include <cstdint>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/step.hpp"

namespace idlewave::collectives {

/// What an MPI library does for a collective operation of at least `bytes` bytes (as CollectiveCall counts them) on a
/// communicator of at least `ranks` ranks: the algorithm, and what the call costs beside its messages. A rule without
/// an algorithm leaves the choice to the rules with `fallback`.
struct AlgorithmRule {
    Collective collective = Collective::barrier;
    std::uint32_t ranks = 1;
    std::uint64_t bytes = 0;
    const Algorithm* algorithm = nullptr;
    std::uint64_t segment = default_segment;
    double reduction_cost = 0;    ///< ns of computation per byte reduced
    double call_ns = 0;           ///< CPU time of each rank before its first message: the call itself
    double call_ns_per_byte = 0;  ///< the same for each byte: copies within the rank
    bool of_all_ranks = false;    ///< `bytes` are the call's times the number of ranks
    bool fallback = false;        ///< holds only where the rules without `fallback` choose no algorithm
};

/// The rules of an MPI library. Of a collective those for the most ranks that a communicator has hold, or if it has
/// fewer ranks than all rules, those for the fewest; of these the one for the most bytes that the call has.
class AlgorithmRules {
  public:
    AlgorithmRules() = default;
    /// Throws InputError if an algorithm is not one of its collective, or no rule has one for a collective whose rules
    /// leave the choice, if a cost is negative or not finite, if two rules are for the same ranks and bytes, or if only
    /// some of those for the same ranks count the bytes of all ranks.
    explicit AlgorithmRules(const std::vector<AlgorithmRule>& rules);

    [[nodiscard]] bool empty() const { return rules_.empty() && fallback_.empty(); }
    [[nodiscard]] bool has(Collective collective) const;
    /// Null if there is no rule for the collective.
    [[nodiscard]] const AlgorithmRule* find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const;

  private:
    // Both by collective, ranks and bytes.
    std::vector<AlgorithmRule> rules_;
    std::vector<AlgorithmRule> fallback_;
};

/// Makes `call` one that follows the rule; a cost of reductions and a segment size that it has, other than the
/// defaults, stay. Returns its step function.
StepFunction follow(const AlgorithmRule& rule, CollectiveCall& call);

/// Makes `call` one by `algorithm` that has the rule's own work, for `bytes`, before its first message. Returns its
/// step function.
StepFunction work_first(const AlgorithmRule& rule, StepFunction algorithm, std::uint64_t bytes, CollectiveCall& call);

}  // namespace idlewave::collectives
