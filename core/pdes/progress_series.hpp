#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace idlewave::pdes {

/// How far a partition, or a run, was after a round of GVT.
struct ProgressSample {
    double seconds = 0;  ///< since the partition was made; in a run's series since the run began
    Time gvt = 0;
    std::uint64_t committed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t log_bytes = 0;
};

/// Samples of a run of any length: when the series is full, every second sample is dropped, and from then on half as
/// many rounds are sampled. All partitions count the same rounds of GVT, so they sample the same ones.
class ProgressSeries {
  public:
    /// Counts a round of GVT; returns whether it is to be sampled.
    bool is_next() { return rounds_++ % stride_ == 0; }

    void add(const ProgressSample& sample) {
        samples_.push_back(sample);
        if (samples_.size() < capacity) {
            return;
        }
        for (std::size_t i = 0; i < capacity / 2; ++i) {
            samples_[i] = samples_[2 * i];
        }
        samples_.resize(capacity / 2);
        stride_ *= 2;
    }

    [[nodiscard]] const std::vector<ProgressSample>& samples() const { return samples_; }

  private:
    static constexpr std::size_t capacity = 1 << 9;

    std::vector<ProgressSample> samples_;
    std::uint64_t rounds_ = 0;
    std::uint64_t stride_ = 1;
};

/// Adds the counts of another partition, sample by sample.
inline void add_samples(std::vector<ProgressSample>& sum, const std::vector<ProgressSample>& other) {
    if (sum.empty()) {
        sum = other;
        return;
    }
    for (std::size_t i = 0; i < sum.size() && i < other.size(); ++i) {
        sum[i].committed += other[i].committed;
        sum[i].rolled_back += other[i].rolled_back;
        sum[i].log_bytes += other[i].log_bytes;
    }
}

}  // namespace idlewave::pdes
