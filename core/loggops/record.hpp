#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// One op that has run.
struct OpRecord {
    std::uint32_t rank = 0;
    Place place = 0;
    OpKind kind = OpKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    Time ready = 0;  ///< its requirements were met
    Time start = 0;
    Time end = 0;
};

/// Keeps every op that has run.
class OpLog {
  public:
    void add(const OpRecord& record) { records_.push_back(record); }
    [[nodiscard]] std::vector<OpRecord>& records() { return records_; }

  private:
    std::vector<OpRecord> records_;
};

/// Keeps nothing, and costs nothing.
struct NoLog {
    static void add(const OpRecord& /*record*/) {}
};

}  // namespace idlewave
