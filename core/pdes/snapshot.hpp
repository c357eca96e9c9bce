#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace idlewave::pdes {

/// The kinds of entries in a section of a snapshot.
enum class SnapshotEntry : std::uint8_t {
    lp,      ///< number, sequence, state; before all other entries of the LP
    timer,   ///< the time at which the LP continues by itself: LP, time
    event,   ///< a pending event: time, LP, source, sequence, payload
    record,  ///< a committed record
};

/// A run between two segments, sorted by the partition that continues with it, in sections each of which can be read
/// alone.
class Snapshot {
  public:
    using Section = std::vector<std::byte>;

    explicit Snapshot(std::uint32_t partitions) : sections_(partitions) {}

    /// The section to which the next entry is added.
    Section& open(std::uint32_t partition) {
        std::vector<Section>& sections = sections_[partition];
        if (sections.empty() || sections.back().size() >= full) {
            sections.emplace_back();
        }
        return sections.back();
    }
    void add(std::uint32_t partition, Section section) { sections_[partition].push_back(std::move(section)); }
    void add(Snapshot other) {
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            std::move(other.sections_[i].begin(), other.sections_[i].end(), std::back_inserter(sections_[i]));
        }
    }

    [[nodiscard]] std::uint32_t partitions() const { return static_cast<std::uint32_t>(sections_.size()); }
    /// The sections for a partition. A reader may drop a section that it has read.
    [[nodiscard]] std::vector<Section>& of(std::uint32_t partition) { return sections_[partition]; }
    [[nodiscard]] const std::vector<Section>& of(std::uint32_t partition) const { return sections_[partition]; }

  private:
    static constexpr std::size_t full = std::size_t{1} << 22;

    std::vector<std::vector<Section>> sections_;
};

}  // namespace idlewave::pdes
