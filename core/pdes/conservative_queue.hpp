#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pdes/gvt.hpp"
#include "pdes/message_batch.hpp"

namespace idlewave::pdes {

/// The events for conservative LPs of an optimistic run, until it is certain that no more events come for their cell.
class ConservativeQueue {
  public:
    void add(const PendingEvent& event, std::int64_t cell) {
        by_cell_[cell].push_back(event);
        ++by_lp_[event.lp];
    }

    /// Whether an event of an LP is held: then its later events must be held, too.
    [[nodiscard]] bool has(std::uint32_t lp) const { return !by_lp_.empty() && by_lp_.contains(lp); }

    /// The first cell with an event.
    [[nodiscard]] std::int64_t first() const { return by_cell_.empty() ? Gvt::nothing : by_cell_.begin()->first; }

    /// Passes the events of all cells up to and including `last` to `use`, cell by cell, in the order in which they
    /// came.
    template <class Use>
    void release_to(std::int64_t last, Use use) {
        while (!by_cell_.empty() && by_cell_.begin()->first <= last) {
            const auto cell = by_cell_.extract(by_cell_.begin());
            for (const PendingEvent& event : cell.mapped()) {
                const auto own = by_lp_.find(event.lp);
                if (--own->second == 0) {
                    by_lp_.erase(own);
                }
            }
            use(std::move(cell.mapped()), cell.key());
        }
    }

  private:
    std::map<std::int64_t, std::vector<PendingEvent>> by_cell_;
    std::unordered_map<std::uint32_t, std::uint32_t> by_lp_;  ///< number of events by LP
};

}  // namespace idlewave::pdes
