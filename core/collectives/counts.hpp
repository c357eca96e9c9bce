#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "collectives/step.hpp"

namespace idlewave::collectives {

/// The counts of a collective in bytes, one for each rank: as given, or equal, where the first few may be one byte
/// larger.
class Counts {
  public:
    /// Every rank has `bytes`, or its entry of `counts` unless that is empty.
    static Counts each(std::span<const std::uint64_t> counts, std::uint64_t bytes) { return {counts, bytes, 0}; }

    /// The call's vector of `bytes` cut into one block for each rank, evenly or as `counts` say.
    static Counts of_vector(const CollectiveCall& call, std::span<const std::uint64_t> counts) {
        if (!counts.empty()) {
            return {counts, 0, 0};
        }
        if (call.bytes <= 0xffffffff) {  // a division of 32 bits takes at most half the time
            const auto bytes = static_cast<std::uint32_t>(call.bytes);
            return {{}, bytes / call.size, bytes % call.size};
        }
        return {{}, call.bytes / call.size, static_cast<std::uint32_t>(call.bytes % call.size)};
    }

    [[nodiscard]] std::uint64_t operator[](std::uint32_t rank) const {
        if (counts_.empty()) {
            return least_ + (rank < longer_ ? 1 : 0);
        }
        return counts_[rank < counts_.size() ? rank : rank % static_cast<std::uint32_t>(counts_.size())];
    }

    /// The sum over the ranks from `begin` to before `end`. Given counts are summed one by one: an inner rank of a tree
    /// needs those of its subtree.
    [[nodiscard]] std::uint64_t sum(std::uint32_t begin, std::uint32_t end) const {
        if (counts_.empty()) {
            return least_ * (end - begin) + (std::min(end, longer_) - std::min(begin, longer_));
        }
        return up_to(end) - up_to(begin);
    }

    /// The sum over `count` ranks from `begin` on, around a ring of `size` ranks.
    [[nodiscard]] std::uint64_t around(std::uint32_t begin, std::uint32_t count, std::uint32_t size) const {
        const std::uint32_t left = size - begin;
        return count <= left ? sum(begin, begin + count) : sum(begin, size) + sum(0, count - left);
    }

  private:
    Counts(std::span<const std::uint64_t> counts, std::uint64_t least, std::uint32_t longer)
        : counts_(counts), least_(least), longer_(longer) {}

    [[nodiscard]] std::uint64_t up_to(std::uint32_t end) const {
        const auto period = static_cast<std::uint32_t>(counts_.size());
        const std::uint32_t times = end / period;
        const std::uint32_t rest = end - times * period;
        std::uint64_t head = 0;
        std::uint64_t all = 0;
        for (std::uint32_t i = 0; i < (times == 0 ? rest : period); ++i) {
            all += counts_[i];
            head += i < rest ? counts_[i] : 0;
        }
        return head + times * all;
    }

    std::span<const std::uint64_t> counts_;
    std::uint64_t least_;
    std::uint32_t longer_;
};

}  // namespace idlewave::collectives
