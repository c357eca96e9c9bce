// Durations of one kind, with their median and its interval.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace idlewave::probe::network {

class SortedSample {
  public:
    void add(double value) { values_.insert(std::upper_bound(values_.begin(), values_.end(), value), value); }

    std::size_t size() const { return values_.size(); }

    double least() const { return values_.empty() ? std::numeric_limits<double>::quiet_NaN() : values_.front(); }

    double most() const { return values_.empty() ? std::numeric_limits<double>::quiet_NaN() : values_.back(); }

    double share_above(double value) const {
        const auto above = values_.end() - std::upper_bound(values_.begin(), values_.end(), value);
        return static_cast<double>(above) / static_cast<double>(values_.size());
    }

    double median() const {
        const std::size_t n = values_.size();
        if (n == 0) return std::numeric_limits<double>::quiet_NaN();
        return n % 2 == 1 ? values_[n / 2] : (values_[n / 2 - 1] + values_[n / 2]) / 2;
    }

    // The width of the median's 95 % interval, by order statistics: the number of n values that lie below the true
    // median is binomial (n, 1/2), whatever their distribution. Fewer than six values have no interval: then it is
    // infinite.
    double interval_width() const {
        const double n = static_cast<double>(values_.size());
        if (values_.size() < 6) return std::numeric_limits<double>::infinity();
        const double half = 1.959964 * std::sqrt(n) / 2;
        const auto low = static_cast<std::size_t>(std::max(std::floor(n / 2 - half), 0.0));
        const auto high = std::min(static_cast<std::size_t>(std::ceil(n / 2 + half)), values_.size() - 1);
        return values_[high] - values_[low];
    }

  private:
    std::vector<double> values_;
};

}  // namespace idlewave::probe::network
