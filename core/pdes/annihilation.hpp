#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/time.hpp"
#include "pdes/event.hpp"
#include "pdes/parcels.hpp"

namespace idlewave::pdes {

/// Events and what takes them back, where both have come to one bucket: they vanish.
template <class Payload>
class Annihilation {
  public:
    explicit Annihilation(ParcelPool<Payload>& parcels) : parcels_(parcels) {}

    /// What is left of what one LP is told in one cell, which begins at `begins`. Of one source and sequence all is in
    /// the order in which it was told.
    std::span<const Stored> left_of(std::span<const Stored> told, Time begins) {
        left_.clear();
        sorted_.assign(told.begin(), told.end());
        const auto key = [this](const Stored& stored) {
            return std::tuple(stored.source, sequence_of(stored), stored.offset);
        };
        std::stable_sort(sorted_.begin(), sorted_.end(),
                         [&](const Stored& a, const Stored& b) { return key(a) < key(b); });
        for (const Stored& stored : sorted_) {
            if (stored.code != Stored::anti) {
                left_.push_back(stored);
                continue;
            }
            if (left_.empty() || key(left_.back()) != key(stored)) {
                throw LogicError("an event from LP " + std::to_string(stored.source) + " at " +
                                 std::to_string(begins + stored.offset) + " ps is taken back, and was never told");
            }
            if (left_.back().code == Stored::in_parcel) {
                parcels_.remove(left_.back().sequence);
            }
            left_.pop_back();
        }
        return left_;
    }

  private:
    [[nodiscard]] std::uint32_t sequence_of(const Stored& stored) const {
        return stored.code == Stored::in_parcel ? parcels_[stored.sequence].sequence : stored.sequence;
    }

    ParcelPool<Payload>& parcels_;
    std::vector<Stored> sorted_;
    std::vector<Stored> left_;
};

}  // namespace idlewave::pdes
