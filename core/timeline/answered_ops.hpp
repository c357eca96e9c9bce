#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "goal/op.hpp"
#include "loggops/recorder.hpp"

namespace idlewave::timeline {

/// The ops of a rank that ended when their target had answered, by that answer.
class AnsweredOps {
  public:
    explicit AnsweredOps(const std::vector<loggops::OpRecord>& ops) {
        for (const loggops::OpRecord& op : ops) {
            const bool asks = goal::is_one_sided(op.kind) && !goal::is_receiving(op.kind);
            if (asks && op.end.cause.recorded() && op.end.cause.point == loggops::Point::acknowledged) {
                by_answer_.emplace_back(key_of(op.end.cause), op.op_index);
            }
        }
        std::ranges::sort(by_answer_);
    }

    /// The op that ended by this; -1 if there is none.
    [[nodiscard]] std::int64_t op_of(const loggops::Cause& cause) const {
        if (!cause.recorded() || cause.point != loggops::Point::acknowledged) {
            return -1;
        }
        const auto found = std::ranges::lower_bound(by_answer_, key_of(cause), {}, &Answer::first);
        return found != by_answer_.end() && found->first == key_of(cause) ? std::int64_t{found->second} : -1;
    }

  private:
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    using Answer = std::pair<Key, goal::OpIndex>;

    static Key key_of(const loggops::Cause& cause) { return {cause.rank, cause.index}; }

    std::vector<Answer> by_answer_;
};

}  // namespace idlewave::timeline
