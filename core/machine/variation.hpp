#pragma once

#include <cmath>
#include <vector>

#include "base/time.hpp"

namespace idlewave::machine {

/// From `start` on, messages between nodes have L and G times these factors, until the next row.
struct VariationRow {
    Time start = 0;
    double L = 1;
    double G = 1;
};

/// The variation of a machine's network: factors of L and G as a step function of time (docs/model.md, R27). A pure
/// function of time: it needs no state of a rank, and nothing of it is rolled back.
class Variation {
  public:
    /// None: L and G never vary.
    Variation() = default;

    /// The starts of `rows` ascend from 0 on, before `period`, after which all is repeated; 0: nothing is. Before the
    /// first row the factors are 1. Throws InputError.
    Variation(std::vector<VariationRow> rows, Time period);

    /// Whether there is none.
    [[nodiscard]] bool empty() const { return rows_.empty(); }

    /// The least factor of L, 1 included, which holds before the first row.
    [[nodiscard]] double least_L() const { return least_L_; }
    [[nodiscard]] double greatest_L() const { return greatest_L_; }

    /// A span of time with the same factors: from `from` on, before `until`.
    struct Stretch {
        Time from = 0;
        Time until = 0;
        double L = 1;
        double G = 1;

        [[nodiscard]] bool holds(Time t) const { return from <= t && t < until; }
    };

    /// The stretch that holds `t`, which is not negative.
    [[nodiscard]] Stretch at(Time t) const;

    /// The first time from `earliest` on at which a message may have departed that arrived at `arrival`, or later.
    [[nodiscard]] Time departure(Time earliest, Time arrival, Time L) const;

  private:
    std::vector<VariationRow> rows_;
    Time period_ = 0;
    double least_L_ = 1;
    double greatest_L_ = 1;
};

/// A latency times its factor, rounded to whole ps, halves up. Throws TimeOverflow.
inline Time scaled(Time L, double factor) {
    if (factor == 1) {
        return L;
    }
    const double product = std::floor(static_cast<double>(L) * factor + 0.5);
    if (product >= static_cast<double>(never)) {
        throw TimeOverflow();
    }
    return static_cast<Time>(product);
}

/// Looks a variation up for times that are near each other most often, as those of a thread's ranks are.
class VariationCursor {
  public:
    explicit VariationCursor(const Variation& variation) : variation_(variation) {}

    /// The factor of G of what begins at `t`.
    [[nodiscard]] double factor_of_G(Time t) { return at(t).G; }

    /// When a message arrives that departs at `departure`: L later, with the factor that holds then, and not before
    /// those of the same L that departed earlier. Throws TimeOverflow.
    [[nodiscard]] Time arrival(Time departure, Time L);

  private:
    const Variation::Stretch& at(Time t) {
        if (!stretch_.holds(t)) [[unlikely]] {
            stretch_ = variation_.at(t);
        }
        return stretch_;
    }

    const Variation& variation_;
    Variation::Stretch stretch_ = {};
};

}  // namespace idlewave::machine
