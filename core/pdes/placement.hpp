#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace idlewave::pdes {

/// The partition of each LP, and the LP's index there. Every partition knows the position of every LP. The LPs of a
/// partition are neighbours, equally many on each (`block`) or not (`ranges`), every n-th LP (`cyclic`), or what a
/// table gives.
class Placement {
  public:
    struct Position {
        std::uint32_t partition = 0;
        std::uint32_t local = 0;
    };

    static Placement block(std::uint32_t lps, std::uint32_t partitions) {
        Placement placement(Kind::block, lps, partitions, (lps + partitions - 1) / partitions);
        placement.is_default_ = true;
        return placement;
    }
    static Placement cyclic(std::uint32_t lps, std::uint32_t partitions) {
        return {Kind::cyclic, lps, partitions, partitions};
    }
    /// `partition_of`: by LP. Throws InputError if there is no such partition.
    static Placement table(const std::vector<std::uint32_t>& partition_of, std::uint32_t partitions) {
        Placement placement(Kind::table, static_cast<std::uint32_t>(partition_of.size()), partitions, 1);
        placement.lps_of_.resize(partitions);
        placement.positions_.reserve(partition_of.size());
        for (std::uint32_t lp = 0; lp < partition_of.size(); ++lp) {
            if (partition_of[lp] >= partitions) {
                throw InputError("the placement puts LP " + std::to_string(lp) + " on partition " +
                                 std::to_string(partition_of[lp]) + ", and there are " + std::to_string(partitions));
            }
            std::vector<std::uint32_t>& lps = placement.lps_of_[partition_of[lp]];
            placement.positions_.push_back({partition_of[lp], static_cast<std::uint32_t>(lps.size())});
            lps.push_back(lp);
        }
        return placement;
    }

    /// `partition_of`: by groups of `group` LPs, a power of two; ascending.
    static Placement ranges(const std::vector<std::uint32_t>& partition_of, std::uint32_t group, std::uint32_t lps,
                            std::uint32_t partitions) {
        Placement placement(Kind::ranges, lps, partitions, 1);
        placement.group_shift_ = static_cast<std::uint32_t>(std::countr_zero(group));
        placement.partition_of_group_ = partition_of;
        placement.first_of_.assign(std::size_t{partitions} + 1, lps);
        std::uint32_t next = 0;
        for (std::uint32_t i = 0; i < partition_of.size(); ++i) {
            if (partition_of[i] >= partitions || (i > 0 && partition_of[i] < partition_of[i - 1])) {
                throw LogicError("LPs are placed on a partition that does not exist, or lies before");
            }
            while (next <= partition_of[i]) {
                placement.first_of_[next++] = i * group;
            }
        }
        return placement;
    }

    /// Whether it is the default, `block`, on which a scheduler may improve.
    [[nodiscard]] bool is_default() const { return is_default_; }
    [[nodiscard]] std::uint32_t lps() const { return lps_; }
    [[nodiscard]] std::uint32_t partitions() const { return partitions_; }

    [[nodiscard, gnu::always_inline]] Position of(std::uint32_t lp) const {
        if (kind_ == Kind::table) {
            return positions_[lp];
        }
        if (kind_ == Kind::ranges) {
            const std::uint32_t partition = partition_of_group_[lp >> group_shift_];
            return {partition, lp - first_of_[partition]};
        }
        __extension__ using Wide = unsigned __int128;
        const auto quotient = static_cast<std::uint32_t>((Wide{lp} * inverse_) >> 64);
        const std::uint32_t remainder = lp - quotient * divisor_;
        return kind_ == Kind::block ? Position{quotient, remainder} : Position{remainder, quotient};
    }

    [[nodiscard]] std::uint32_t lp_of(std::uint32_t partition, std::uint32_t local) const {
        switch (kind_) {
            case Kind::block:
                return partition * divisor_ + local;
            case Kind::cyclic:
                return local * divisor_ + partition;
            case Kind::ranges:
                return first_of_[partition] + local;
            default:
                return lps_of_[partition][local];
        }
    }

    /// Number of LPs of a partition.
    [[nodiscard]] std::uint32_t size(std::uint32_t partition) const {
        switch (kind_) {
            case Kind::block: {
                const std::uint64_t first = std::uint64_t{partition} * divisor_;
                return first >= lps_ ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(divisor_, lps_ - first));
            }
            case Kind::cyclic:
                return lps_ / divisor_ + (partition < lps_ % divisor_ ? 1 : 0);
            case Kind::ranges:
                return first_of_[partition + 1] - first_of_[partition];
            default:
                return static_cast<std::uint32_t>(lps_of_[partition].size());
        }
    }

  private:
    enum class Kind : std::uint8_t { block, cyclic, table, ranges };

    Placement(Kind kind, std::uint32_t lps, std::uint32_t partitions, std::uint32_t divisor)
        : kind_(kind), lps_(lps), partitions_(partitions), divisor_(std::max(divisor, 1U)) {
        // Rounded up, the inverse is exact for all numerators of 32 bits. It is not used for 1, since 2^64 does not
        // fit.
        inverse_ = ~std::uint64_t{0} / divisor_ + 1;
        if (divisor_ == 1 && kind_ == Kind::block) {
            kind_ = Kind::cyclic;  // equivalent, where a partition has at most one LP
            divisor_ = partitions_;
            inverse_ = ~std::uint64_t{0} / divisor_ + 1;
        }
        if (divisor_ == 1 && kind_ == Kind::cyclic) {
            kind_ = Kind::block;  // equivalent, where one partition has all LPs
            divisor_ = std::max(lps_, 2U);
            inverse_ = ~std::uint64_t{0} / divisor_ + 1;
        }
    }

    Kind kind_;
    bool is_default_ = false;
    std::uint32_t lps_;
    std::uint32_t partitions_;
    std::uint32_t divisor_;
    std::uint64_t inverse_ = 0;
    std::vector<Position> positions_;                 ///< of a table: by LP
    std::vector<std::vector<std::uint32_t>> lps_of_;  ///< of a table: by partition
    std::uint32_t group_shift_ = 0;                   ///< of ranges
    std::vector<std::uint32_t> partition_of_group_;
    std::vector<std::uint32_t> first_of_;  ///< LP by partition, and one past the last
};

}  // namespace idlewave::pdes
