#include "trace/site_cycles.hpp"

#include <algorithm>
#include <cstdlib>

namespace idlewave::trace {
namespace {

constexpr std::uint32_t longest_cycle = 12;
constexpr std::size_t least_rounds = 8;       ///< fewer of a cycle may be chance
constexpr std::size_t most_looked_at = 4096;  ///< computations of a rank that decide
constexpr double much_nearer = 0.5;
constexpr double about_as_near = 1.25;

/// The number of each computation since the cycle began.
std::vector<std::uint32_t> numbers_of(std::span<const SiteComputation> computations) {
    std::uint64_t usual = ~std::uint64_t{0};
    for (std::size_t i = 1; i < computations.size(); ++i) {
        usual = std::min(usual, computations[i].call - computations[i - 1].call);
    }
    std::vector<std::uint32_t> numbers(computations.size());
    for (std::size_t i = 1; i < computations.size(); ++i) {
        const bool goes_on = computations[i].call - computations[i - 1].call == usual;
        numbers[i] = goes_on ? numbers[i - 1] + 1 : 0;
    }
    return numbers;
}

/// The sum of the distances of values from their median.
double distance_from_median(std::vector<std::int64_t>& values) {
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    double sum = 0;
    for (const std::int64_t value : values) {
        sum += static_cast<double>(std::abs(value - *middle));
    }
    return sum;
}

/// The sum of the distances of computations from the median of their position in a cycle.
double distance(std::span<const SiteComputation> computations, std::span<const std::uint32_t> numbers,
                std::uint32_t length) {
    std::vector<std::vector<std::int64_t>> by_position(length);
    for (std::size_t i = 0; i < std::min(computations.size(), most_looked_at); ++i) {
        by_position[numbers[i] % length].push_back(computations[i].ns);
    }
    double sum = 0;
    for (std::vector<std::int64_t>& values : by_position) {
        sum += distance_from_median(values);
    }
    return sum;
}

}  // namespace

std::vector<SiteCycle> cycles_of(std::span<const std::vector<SiteComputation>> ranks) {
    std::vector<std::vector<std::uint32_t>> numbers;
    std::size_t most = 0;
    for (const std::vector<SiteComputation>& rank : ranks) {
        numbers.push_back(numbers_of(rank));
        most = std::max(most, rank.size());
    }
    const auto distance_with = [&](std::uint32_t length) {
        double sum = 0;
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            sum += distance(ranks[rank], numbers[rank], length);
        }
        return sum;
    };
    std::vector<double> distances{distance_with(1)};
    while (distances.size() < longest_cycle && (distances.size() + 1) * least_rounds <= most) {
        distances.push_back(distance_with(static_cast<std::uint32_t>(distances.size() + 1)));
    }
    const double nearest = *std::ranges::min_element(distances);
    std::uint32_t length = 1;
    if (nearest < much_nearer * distances.front()) {
        const auto near = [&](double found) { return found <= about_as_near * nearest; };
        length = static_cast<std::uint32_t>(std::ranges::find_if(distances, near) - distances.begin()) + 1;
    }
    std::vector<SiteCycle> found(ranks.size(), SiteCycle{.length = length, .positions = {}});
    for (std::size_t rank = 0; rank < ranks.size() && length > 1; ++rank) {
        for (const std::uint32_t number : numbers[rank]) {
            found[rank].positions.push_back(static_cast<std::uint8_t>(number % length));
        }
    }
    return found;
}

}  // namespace idlewave::trace
