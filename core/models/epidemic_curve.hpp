#pragma once

#include <cstdint>
#include <vector>

#include "models/epidemic.hpp"

namespace idlewave::models {

/// Numbers of persons at the beginning of a day.
struct EpidemicDay {
    std::uint64_t susceptible = 0;
    std::uint64_t exposed = 0;
    std::uint64_t infectious = 0;
    std::uint64_t recovered = 0;
    std::uint64_t immune = 0;  ///< vaccinated

    bool operator==(const EpidemicDay&) const = default;
};

/// Computes the curves of an epidemic from the final states of all persons, which have the times of all transitions.
class EpidemicCurve {
  public:
    /// Has the days from 0 to `last_day`.
    explicit EpidemicCurve(std::uint32_t last_day);

    void add(const Epidemic::State& person);

    /// The curve of all persons that were added, day by day.
    [[nodiscard]] std::vector<EpidemicDay> days() const;

  private:
    std::uint64_t persons_ = 0;
    std::uint64_t immune_ = 0;
    std::vector<std::uint64_t> exposed_;  ///< by day: persons that became exposed after the day before began
    std::vector<std::uint64_t> infectious_;
    std::vector<std::uint64_t> recovered_;
};

}  // namespace idlewave::models
