#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "collectives/program.hpp"
#include "extrapolation/actions.hpp"
#include "extrapolation/symbolic_program.hpp"

namespace idlewave::extrapolation {

/// The program of a traced run, with the actions of its ranks.
class TracedRun {
  public:
    explicit TracedRun(const collectives::Program& program);

    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(actions_.size()); }
    [[nodiscard]] const RankActions& rank(std::uint32_t rank) const { return actions_[rank]; }
    [[nodiscard]] bool has_messages() const;
    [[nodiscard]] const collectives::Program& program() const { return *program_; }

    /// How many communicators with the same ranks come before this one.
    [[nodiscard]] std::uint32_t duplicate(std::uint32_t communicator) const { return duplicates_[communicator]; }
    /// How many ranges of tags of collectives on the communicator are below this tag.
    [[nodiscard]] std::uint32_t tags(std::uint32_t communicator, std::uint32_t tag) const {
        return ranges_.at(communicator).at(tag);
    }

  private:
    const collectives::Program* program_;
    std::vector<RankActions> actions_;
    std::vector<std::uint32_t> duplicates_;  ///< by communicator
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> ranges_;
};

/// Whether all counts of a v-variant are the same.
bool are_equal(std::span<const std::uint64_t> counts);

/// A traced run on a grid: its messages, tags and collectives as rules. Where they are none, a rule is missing.
class RunOnGrid {
  public:
    RunOnGrid(const TracedRun& run, const ProcessGrid& grid);

    [[nodiscard]] const TracedRun& run() const { return *run_; }
    [[nodiscard]] const ProcessGrid& grid() const { return grid_; }

    [[nodiscard]] std::optional<TagRule> tag(std::uint32_t tag) const;
    [[nodiscard]] std::optional<CollectiveRule> collective(const collectives::CollectiveSite& site,
                                                           bool nonblocking) const;

  private:
    const TracedRun* run_;
    ProcessGrid grid_;
    std::vector<std::optional<CommunicatorRule>> communicators_;
};

}  // namespace idlewave::extrapolation
