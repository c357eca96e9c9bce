#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/huge_memory.hpp"
#include "pdes/event.hpp"

namespace idlewave::pdes {

/// How many LPs side by side are a group, such that there are `most` groups at most: a power of two.
inline std::uint32_t group_size(std::uint32_t lps, std::uint32_t most) {
    std::uint32_t size = 1;
    while (lps / size >= most) {
        size *= 2;
    }
    return size;
}

/// How many events the LPs of a partition were told, and by whom, if that is counted: what a placement goes by.
class Traffic {
  public:
    static constexpr std::uint32_t most_groups = 256;  ///< of those who tell and are told

    /// `own`: LPs of the partition; `lps`: of all. 0 `own`: nothing is counted.
    Traffic(std::uint32_t own, std::uint32_t lps, bool who)
        : told_(own), group_(group_size(lps, most_groups)), groups_(groups_of(lps)), between_(who ? squared() : 0) {}

    /// How many groups of those who tell and are told there are.
    [[nodiscard]] static std::uint32_t groups_of(std::uint32_t lps) {
        const std::uint32_t group = group_size(lps, most_groups);
        return (lps + group - 1) / group;
    }

    [[nodiscard]] bool counts() const { return !told_.empty(); }

    /// What the LP `lp`, by its place `local`, was told.
    void count(std::uint32_t local, std::uint32_t lp, std::span<const Stored> told) {
        told_[local] += static_cast<std::uint32_t>(told.size());
        if (between_.empty()) {
            return;
        }
        for (const Stored& stored : told) {
            if (stored.source != Stored::timer) {
                ++between_[std::size_t{stored.source / group_} * groups_ + lp / group_];
            }
        }
    }

    [[nodiscard]] std::uint32_t told(std::uint32_t local) const { return told_[local]; }
    /// Adds how many events each group was told by each: a row for each that told.
    void add_between(std::span<std::uint64_t> sum) const {
        for (std::size_t i = 0; i < between_.size(); ++i) {
            sum[i] += between_[i];
        }
    }

  private:
    [[nodiscard]] std::size_t squared() const { return std::size_t{groups_} * groups_; }

    HugeArray<std::uint32_t> told_;  ///< by LP
    std::uint32_t group_;
    std::uint32_t groups_;
    HugeArray<std::uint64_t> between_;  ///< by the group that told, and the one that was told
};

}  // namespace idlewave::pdes
