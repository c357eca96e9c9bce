#include "machine/variation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace idlewave::machine {

namespace {

constexpr double greatest_factor = 1e6;

void check_factor(const std::string& row, const char* name, double factor) {
    const bool valid = factor > 0 && factor <= greatest_factor;  // which NaN is not
    if (!valid) {
        throw InputError(row + ": expected a factor of " + name + " above 0 and up to 1000000, found " +
                         std::to_string(factor));
    }
}

}  // namespace

Variation::Variation(std::vector<VariationRow> rows, Time period) : rows_(std::move(rows)), period_(period) {
    if (period < 0) {
        throw InputError("variation: expected a period above 0, or none, found " + std::to_string(period) + " ps");
    }
    Time before = -1;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const VariationRow& row = rows_[i];
        const std::string name = "variation: row " + std::to_string(i + 1);
        if (row.start <= before) {
            throw InputError(name + " begins at " + std::to_string(row.start) + " ps: expected " +
                             (i == 0 ? "0 or more" : "more than " + std::to_string(before) + " ps of the row before"));
        }
        if (period > 0 && row.start >= period) {
            throw InputError(name + " begins at " + std::to_string(row.start) +
                             " ps: expected less than the period of " + std::to_string(period) + " ps");
        }
        check_factor(name, "L", row.L);
        check_factor(name, "G", row.G);
        before = row.start;
        least_L_ = std::min(least_L_, row.L);
        greatest_L_ = std::max(greatest_L_, row.L);
    }
}

Variation::Stretch Variation::at(Time t) const {
    const Time position = period_ > 0 ? t % period_ : t;
    const Time base = t - position;
    const auto next = std::ranges::upper_bound(rows_, position, {}, [](const VariationRow& row) { return row.start; });
    Stretch stretch{.from = base, .until = never};
    if (next != rows_.begin()) {
        const VariationRow& row = *std::prev(next);
        stretch = {.from = base + row.start, .until = never, .L = row.L, .G = row.G};
    }
    if (next != rows_.end() || period_ > 0) {
        const Time end = next == rows_.end() ? period_ : next->start;
        stretch.until = base <= never - end ? base + end : never;
    }
    return stretch;
}

Time Variation::departure(Time earliest, Time arrival, Time L) const {
    VariationCursor cursor(*this);
    if (cursor.arrival(earliest, L) >= arrival) {
        return earliest;
    }
    Time before = earliest;
    Time found = arrival;
    while (found - before > 1) {
        const Time middle = before + (found - before) / 2;
        (cursor.arrival(middle, L) < arrival ? before : found) = middle;
    }
    return found;
}

Time VariationCursor::arrival(Time departure, Time L) {
    Time latest_arrival = later(departure, scaled(L, at(departure).L));
    Time step = stretch_.from;
    if (step == 0) {
        return latest_arrival;
    }
    // What departed just before a step arrives no later than the step and the greatest L. Back to where that cannot be
    // after the message itself.
    const Time greatest = scaled(L, variation_.greatest_L());
    while (step > 0 && greatest > latest_arrival - step) {
        const Variation::Stretch before = variation_.at(step - 1);
        latest_arrival = latest(latest_arrival, later(step, scaled(L, before.L)));
        step = before.from;
    }
    return latest_arrival;
}

}  // namespace idlewave::machine
