#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace idlewave::pdes {

/// The kinds of entries in a part of a snapshot.
enum class SnapshotEntry : std::uint8_t {
    lp,      ///< number, sequence, state; before all other entries of the LP
    timer,   ///< the time at which the LP continues by itself: LP, time
    event,   ///< a pending event: time, LP, source, sequence, payload
    record,  ///< a committed record
};

/// A run between two segments, sorted by the partition that continues with it, in parts each of which can be read
/// alone.
class Snapshot {
  public:
    using Part = std::vector<std::byte>;

    explicit Snapshot(std::uint32_t partitions) : parts_(partitions) {}

    /// The part to which the next entry is added.
    Part& open(std::uint32_t partition) {
        std::vector<Part>& parts = parts_[partition];
        if (parts.empty() || parts.back().size() >= full) {
            parts.emplace_back();
        }
        return parts.back();
    }
    void add(std::uint32_t partition, Part part) { parts_[partition].push_back(std::move(part)); }
    void add(Snapshot other) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            std::move(other.parts_[i].begin(), other.parts_[i].end(), std::back_inserter(parts_[i]));
        }
    }

    [[nodiscard]] std::uint32_t partitions() const { return static_cast<std::uint32_t>(parts_.size()); }
    /// The parts for a partition. A reader may drop a part that it has read.
    [[nodiscard]] std::vector<Part>& of(std::uint32_t partition) { return parts_[partition]; }
    [[nodiscard]] const std::vector<Part>& of(std::uint32_t partition) const { return parts_[partition]; }

  private:
    static constexpr std::size_t full = std::size_t{1} << 22;

    std::vector<std::vector<Part>> parts_;
};

}  // namespace idlewave::pdes
