// A token bucket: how many bytes may be written by a time at a given rate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace idlewave::probe::contention {

// A writer that was kept from its core may catch up with what it has missed, up to `depth` bytes; the rest is lost, and
// the rate is not reached.
class TokenBucket {
  public:
    TokenBucket(double bytes_per_second, double depth, std::int64_t now_ns)
        : bytes_per_ns_(bytes_per_second * 1e-9), depth_(depth), at_ns_(now_ns) {}

    [[nodiscard]] bool has(double bytes, std::int64_t now_ns) {
        tokens_ = std::min(tokens_ + static_cast<double>(now_ns - at_ns_) * bytes_per_ns_, depth_);
        at_ns_ = now_ns;
        return tokens_ >= bytes;
    }

    void take(double bytes) { tokens_ -= bytes; }

    // The time at which it has so many bytes, if none is taken before.
    [[nodiscard]] std::int64_t time_of(double bytes) const {
        return at_ns_ + static_cast<std::int64_t>(std::ceil(std::max(bytes - tokens_, 0.0) / bytes_per_ns_));
    }

  private:
    double bytes_per_ns_;
    double depth_;
    std::int64_t at_ns_;
    double tokens_ = 0;
};

}  // namespace idlewave::probe::contention
