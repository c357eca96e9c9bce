#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// What is known of an op when it starts.
struct OpStart {
    OpKind kind = OpKind::calc;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    Time ready = 0;  ///< its requirements were met
    Time start = 0;
};

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

/// Keeps every op that has run. Ranks may be told of on several threads, each rank on one.
class OpLog {
  public:
    explicit OpLog(std::uint32_t ranks) : records_(ranks) {}

    void started(std::uint32_t rank, Place place, const OpStart& op) {
        std::vector<OpRecord>& own = records_[rank];
        if (own.size() <= place) {
            own.resize(std::size_t{place} + 1);
        }
        own[place] = {rank, place, op.kind, op.peer, op.tag, op.size, op.ready, op.start, op.start};
    }
    void ended(std::uint32_t rank, Place place, Time end) { records_[rank][place].end = end; }

    /// All records, in the order (rank, place).
    [[nodiscard]] std::vector<OpRecord> take() {
        std::vector<OpRecord> all;
        for (std::vector<OpRecord>& own : records_) {
            all.insert(all.end(), own.begin(), own.end());
            own = {};
        }
        return all;
    }

  private:
    std::vector<std::vector<OpRecord>> records_;  ///< by rank and place
};

/// Keeps nothing, and costs nothing.
struct NoLog {
    static void started(std::uint32_t /*rank*/, Place /*place*/, const OpStart& /*op*/) {}
    static void ended(std::uint32_t /*rank*/, Place /*place*/, Time /*end*/) {}
};

}  // namespace idlewave
