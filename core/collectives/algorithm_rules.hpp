#pragma once

#include <cstdint>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/step.hpp"

namespace idlewave::collectives {

/// What an MPI library does for a collective operation of at least `bytes` bytes (as CollectiveCall counts them) on a
/// communicator of at least `ranks` ranks: the algorithm, and what the call costs beside its messages.
struct AlgorithmRule {
    Collective collective = Collective::barrier;
    std::uint32_t ranks = 1;
    std::uint64_t bytes = 0;
    const Algorithm* algorithm = nullptr;
    std::uint64_t segment = default_segment;
    double reduction_cost = 0;    ///< ns of computation per byte reduced
    double call_ns = 0;           ///< CPU time of each rank before its first message: the call itself
    double call_ns_per_byte = 0;  ///< the same for each byte: copies within the rank
};

/// The rules of an MPI library. Of a collective those for the most ranks that a communicator has hold, or if it has
/// fewer ranks than all rules, those for the fewest; of these the one for the most bytes that the call has.
class AlgorithmRules {
  public:
    AlgorithmRules() = default;
    /// Throws InputError if an algorithm is not one of its collective, if a cost is negative or not finite, or if two
    /// rules are for the same ranks and bytes.
    explicit AlgorithmRules(std::vector<AlgorithmRule> rules);

    [[nodiscard]] bool empty() const { return rules_.empty(); }
    [[nodiscard]] bool has(Collective collective) const;
    /// Null if there is no rule for the collective.
    [[nodiscard]] const AlgorithmRule* find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const;

  private:
    std::vector<AlgorithmRule> rules_;  ///< by collective, ranks and bytes
};

/// Makes `call` one that follows the rule; a cost of reductions and a segment size that it has, other than the
/// defaults, stay. Returns its step function.
StepFunction follow(const AlgorithmRule& rule, CollectiveCall& call);

}  // namespace idlewave::collectives
