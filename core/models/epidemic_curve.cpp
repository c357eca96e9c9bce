#include "models/epidemic_curve.hpp"

#include <cstddef>

namespace idlewave::models {
namespace {

/// Adds 1 to the first day that begins at `time` or later, if there is one.
void count(std::vector<std::uint64_t>& days, Time time) {
    constexpr Time day = EpidemicParameters::day;
    const auto first = static_cast<std::uint64_t>(time / day + (time % day > 0 ? 1 : 0));
    if (first < days.size()) {
        ++days[first];
    }
}

}  // namespace

EpidemicCurve::EpidemicCurve(std::uint32_t last_day)
    : exposed_(std::size_t{last_day} + 1), infectious_(exposed_), recovered_(exposed_) {}

void EpidemicCurve::add(const Epidemic::State& person) {
    ++persons_;
    immune_ += person.immune ? 1 : 0;
    count(exposed_, person.exposed);
    count(infectious_, person.infectious);
    count(recovered_, person.recovered);
}

std::vector<EpidemicDay> EpidemicCurve::days() const {
    std::vector<EpidemicDay> days(exposed_.size());
    std::uint64_t exposed = 0;
    std::uint64_t infectious = 0;
    std::uint64_t recovered = 0;
    for (std::size_t i = 0; i < days.size(); ++i) {
        exposed += exposed_[i];
        infectious += infectious_[i];
        recovered += recovered_[i];
        days[i] = {persons_ - immune_ - exposed, exposed - infectious, infectious - recovered, recovered, immune_};
    }
    return days;
}

}  // namespace idlewave::models
