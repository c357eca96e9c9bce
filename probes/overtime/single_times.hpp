// The single times of a phase: their number, extremes, mean and standard deviation, and the median, in constant memory.
//
// The median is that of a random sample of all times, of which each has the same chance (reservoir sampling, Li's
// algorithm L): a phase may have hundreds of millions of times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "common/median.hpp"

namespace idlewave::probe::overtime {

class SingleTimes {
  public:
    static constexpr std::size_t room = 1 << 16;

    explicit SingleTimes(std::uint64_t seed) : random_(seed) { chosen_.reserve(room); }

    void clear() {
        count_ = 0;
        mean_ = squares_ = most_ = 0;
        least_ = std::numeric_limits<double>::infinity();
        chosen_.clear();
    }

    void add(double seconds) {
        ++count_;
        const double off = seconds - mean_;
        mean_ += off / static_cast<double>(count_);
        squares_ += off * (seconds - mean_);
        least_ = std::min(least_, seconds);
        most_ = std::max(most_, seconds);
        if (chosen_.size() < room) {
            chosen_.push_back(seconds);
            if (chosen_.size() == room) plan_from(1.0);
        } else if (count_ == next_) {
            chosen_[random_() % room] = seconds;
            plan_from(threshold_);
        }
    }

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] double least() const { return least_; }
    [[nodiscard]] double most() const { return most_; }
    [[nodiscard]] double mean() const { return mean_; }
    [[nodiscard]] double median() const { return upper_median(chosen_); }
    // Of one time there is none: infinity, which JSON writes as null.
    [[nodiscard]] double standard_deviation() const {
        if (count_ < 2) return std::numeric_limits<double>::infinity();
        return std::sqrt(squares_ / static_cast<double>(count_ - 1));
    }

  private:
    // Which time is the next that replaces one of the chosen.
    void plan_from(double threshold) {
        threshold_ = threshold * std::exp(std::log(uniform()) / static_cast<double>(room));
        const double skipped = std::floor(std::log(uniform()) / std::log1p(-threshold_));
        next_ = count_ + 1 + static_cast<std::int64_t>(std::min(skipped, 1e15));
    }

    double uniform() {  // above 0, below 1
        return (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53;
    }

    std::mt19937_64 random_;
    std::vector<double> chosen_;
    std::int64_t count_ = 0;
    std::int64_t next_ = 0;
    double threshold_ = 1;
    double mean_ = 0;
    double squares_ = 0;  // the sum of squared distances from the mean
    double least_ = std::numeric_limits<double>::infinity();
    double most_ = 0;
};

}  // namespace idlewave::probe::overtime
