#pragma once

#include <cstdint>
#include <vector>

#include "models/epidemic.hpp"

namespace idlewave {

/// How many persons are what when a day begins.
struct EpidemicDay {
    std::uint64_t susceptible = 0;
    std::uint64_t exposed = 0;
    std::uint64_t infectious = 0;
    std::uint64_t recovered = 0;
    std::uint64_t immune = 0;  ///< vaccinated

    bool operator==(const EpidemicDay&) const = default;
};

/// Makes the curves of an epidemic out of what all persons have become: they keep when they became it.
class EpidemicCurve {
  public:
    /// For the days from 0 to `last_day`.
    explicit EpidemicCurve(std::uint32_t last_day);

    void add(const Epidemic::State& person);

    /// Of all persons that were added, day by day.
    [[nodiscard]] std::vector<EpidemicDay> days() const;

  private:
    std::uint64_t persons_ = 0;
    std::uint64_t immune_ = 0;
    std::vector<std::uint64_t> exposed_;  ///< by day: those that have been exposed since the day before began
    std::vector<std::uint64_t> infectious_;
    std::vector<std::uint64_t> recovered_;
};

}  // namespace idlewave
