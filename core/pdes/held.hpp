#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pdes/gvt.hpp"
#include "pdes/mail.hpp"

namespace idlewave::pdes {

/// What conservative LPs are told, among optimistic ones, until it is certain that there is no more for its cell.
class Held {
  public:
    void add(const Record& told, std::int64_t cell) {
        by_cell_[cell].push_back(told);
        ++of_lp_[told.lp];
    }

    /// Whether there is something for an LP: then it may not go on elsewhere.
    [[nodiscard]] bool has(std::uint32_t lp) const { return !of_lp_.empty() && of_lp_.contains(lp); }

    /// The first cell for which there is something.
    [[nodiscard]] std::int64_t first() const { return by_cell_.empty() ? Gvt::nothing : by_cell_.begin()->first; }

    /// Gives all events up to and including cell `last` to `use`, cell by cell, in the order in which they came.
    template <class Use>
    void release_to(std::int64_t last, Use use) {
        while (!by_cell_.empty() && by_cell_.begin()->first <= last) {
            const auto cell = by_cell_.extract(by_cell_.begin());
            for (const Record& told : cell.mapped()) {
                const auto own = of_lp_.find(told.lp);
                if (--own->second == 0) {
                    of_lp_.erase(own);
                }
            }
            use(std::move(cell.mapped()), cell.key());
        }
    }

  private:
    std::map<std::int64_t, std::vector<Record>> by_cell_;
    std::unordered_map<std::uint32_t, std::uint32_t> of_lp_;  ///< how many records
};

}  // namespace idlewave::pdes
