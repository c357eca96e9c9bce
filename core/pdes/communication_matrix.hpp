#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/huge_memory.hpp"
#include "pdes/event.hpp"
#include "pdes/load_balancing.hpp"

namespace idlewave::pdes {

/// The size of groups of neighbouring LPs, a power of two, such that there are at most `max` groups.
inline std::uint32_t group_size(std::uint32_t lps, std::uint32_t max) {
    std::uint32_t size = 1;
    while (lps / size >= max) {
        size *= 2;
    }
    return size;
}

/// Counts the events that each LP of a partition received, and how many each group of LPs received from each other
/// group.
class CommunicationMatrix {
  public:
    static constexpr std::uint32_t max_groups = 256;  ///< groups of senders and of receivers

    /// `own`: LPs of the partition, or 0 to count nothing; `lps`: LPs of the run; `between_groups`: whether senders are
    /// counted.
    CommunicationMatrix(std::uint32_t own, std::uint32_t lps, bool between_groups)
        : received_(own),
          group_(group_size(lps, max_groups)),
          groups_(groups_of(lps)),
          between_(between_groups ? squared() : 0) {}

    /// Number of groups of `lps` LPs.
    [[nodiscard]] static std::uint32_t groups_of(std::uint32_t lps) {
        const std::uint32_t group = group_size(lps, max_groups);
        return (lps + group - 1) / group;
    }

    [[nodiscard]] bool counts() const { return !received_.empty(); }

    /// Counts events that the LP `lp`, with index `local`, received.
    void count(std::uint32_t local, std::uint32_t lp, std::span<const QueuedEvent> events) {
        received_[local] += static_cast<std::uint32_t>(events.size());
        if (between_.empty()) {
            return;
        }
        for (const QueuedEvent& event : events) {
            if (event.source != QueuedEvent::timer) {
                ++between_[std::size_t{event.source / group_} * groups_ + lp / group_];
            }
        }
    }

    [[nodiscard]] std::uint32_t received(std::uint32_t local) const { return received_[local]; }
    /// Adds the matrix of events by group: a row for each sending group, a column for each receiving one.
    void add_between(std::span<std::uint64_t> sum) const {
        for (std::size_t i = 0; i < between_.size(); ++i) {
            sum[i] += between_[i];
        }
    }

  private:
    [[nodiscard]] std::size_t squared() const { return std::size_t{groups_} * groups_; }

    HugeArray<std::uint32_t> received_;  ///< by LP
    std::uint32_t group_;
    std::uint32_t groups_;
    HugeArray<std::uint64_t> between_;  ///< by sending group and receiving group
};

}  // namespace idlewave::pdes
