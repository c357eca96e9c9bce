#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace idlewave::pdes {

/// How far a partition, or a run, was after a round of GVT.
struct Sample {
    double seconds = 0;  ///< since its partition was made; later since the run began
    Time gvt = 0;
    std::uint64_t committed = 0;
    std::uint64_t rolled_back = 0;
    std::uint64_t log_bytes = 0;
};

/// Samples of a run that may be long: when there are many, every second one goes. Rounds of GVT are the same ones for
/// all partitions, and so are those of which there are samples.
class Series {
  public:
    /// Whether the round that is next is one of which there is a sample.
    bool is_next() { return rounds_++ % stride_ == 0; }

    void add(const Sample& sample) {
        samples_.push_back(sample);
        if (samples_.size() < most) {
            return;
        }
        for (std::size_t i = 0; i < most / 2; ++i) {
            samples_[i] = samples_[2 * i];
        }
        samples_.resize(most / 2);
        stride_ *= 2;
    }

    [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

  private:
    static constexpr std::size_t most = 1 << 9;

    std::vector<Sample> samples_;
    std::uint64_t rounds_ = 0;
    std::uint64_t stride_ = 1;
};

/// Adds what another partition counted meanwhile.
inline void add_samples(std::vector<Sample>& sum, const std::vector<Sample>& other) {
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
