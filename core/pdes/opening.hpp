#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/large_vector.hpp"
#include "base/time.hpp"
#include "pdes/calendar.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/parcels.hpp"

namespace idlewave::pdes {

/// Makes of events as they waited what an LP is told.
template <class M>
class Opening {
  public:
    using Payload = typename M::Payload;
    using Item = Event<Payload>;

    Opening(const M& model, ParcelPool<Payload>& parcels) : model_(model), parcels_(parcels) {}

    /// `begins`: the time from which its offset counts.
    [[nodiscard, gnu::always_inline]] Item open(const Stored& stored, Time begins) const {
        const Time time = begins + stored.offset;
        if (stored.code == Stored::in_parcel) [[unlikely]] {
            const Parcel<Payload>& parcel = parcels_[stored.sequence];
            return {time, stored.source, parcel.sequence, &parcel.payload};
        }
        return {time, stored.source, stored.sequence, &model_.payload(stored.code)};
    }

    /// The LP has been told, and will not be again.
    [[gnu::always_inline]] void close(const Stored& stored) {
        if (stored.code == Stored::in_parcel) [[unlikely]] {
            parcels_.remove(stored.sequence);
        }
    }

    /// The events of an LP up to `until` in their order, without the timer, which is no event.
    std::span<const Item> open_all(Lp<typename M::State>& lp, std::span<const Stored> group, Time begins, Time until,
                                   const Grid& grid) {
        events_.clear();
        for (const Stored& stored : group) {
            if (stored.source != Stored::timer) {
                events_.push_back(open(stored, begins));
            } else if (lp.timer != Lp<typename M::State>::no_timer && grid.begin_of(lp.timer) < until) {
                lp.timer = Lp<typename M::State>::no_timer;
            }
        }
        // Most often they come in their order: cell by cell, and of one window's senders one after the other.
        const auto before = [](const Item& a, const Item& b) { return a.before(b); };
        if (!std::is_sorted(events_.begin(), events_.end(), before)) {
            std::sort(events_.begin(), events_.end(), before);
        }
        return events_;
    }

  private:
    const M& model_;
    ParcelPool<Payload>& parcels_;
    LargeVector<Item> events_;  ///< of one LP
};

}  // namespace idlewave::pdes
