#include "extrapolation/sizes.hpp"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "goal/op.hpp"

namespace idlewave::extrapolation {

ContinuedSizes::ContinuedSizes(const FoundStructure& found, const ProcessGrid& grid)
    : found_(found),
      grid_(grid),
      of_items_(found.program.items.size() * Sizes().size()),
      some_follow_surface_(some_follow_surface()) {}

/// Whether the size of some message changes between the runs as the surface across its dimension.
bool ContinuedSizes::some_follow_surface() const {
    for (std::uint32_t item = 0; item < found_.program.items.size(); ++item) {
        const std::optional<std::uint8_t> dimension = dimension_of(item);
        if (!dimension || found_.program.items[item].role != Item::Role::none) {
            continue;
        }
        std::vector<Sample> samples;
        for (const Measured& run : found_.runs) {
            if (run.items[item].ranks > 0) {
                samples.push_back({run.grid, run.items[item].mean(0)});
            }
        }
        if (is_changing_surface(samples, *dimension)) {
            return true;
        }
    }
    return false;
}

Sizes ContinuedSizes::of(const PlannedCall& call) {
    const Item& item = found_.program.items[call.item];
    Sizes result{};
    if (item.kind == Action::Kind::wait) {
        return result;
    }
    const CollectiveRule& collective = found_.program.sites[item.site].collective;
    const std::array<bool, 3> used{true, collective.sends_counts, collective.recvs_counts};
    for (std::size_t which = 0; which < result.size(); ++which) {
        result[which] = used[which] ? size(call, which) : 0;
    }
    return result;
}

std::vector<FoundLaw> ContinuedSizes::laws() const {
    std::vector<FoundLaw> all;
    all.reserve(laws_.size());
    for (const auto& [key, law] : laws_) {
        all.push_back(law);
    }
    return all;
}

std::uint64_t ContinuedSizes::size(const PlannedCall& call, std::size_t which) {
    const Series& series = *call.series;
    const std::uint32_t first = series.first + (call.item - series.first) % series.length;
    const double ratio = series.kind == Series::Kind::none ? 1 : ratio_of(series, first, which);
    const double continued = std::round(law_of(first, which).continued * std::pow(ratio, call.iteration));
    if (!std::isfinite(continued) || continued < 0 || continued > static_cast<double>(goal::largest_size)) {
        throw InputError("the " + name_of(found_.program, first) + " would have " + std::to_string(continued) +
                         " bytes");
    }
    return static_cast<std::uint64_t>(continued);
}

/// By which factor the size of a series' call changes from an iteration to the next one.
double ContinuedSizes::ratio_of(const Series& series, std::uint32_t first, std::size_t which) const {
    const auto value = [&](std::uint32_t iteration) {
        return found_.runs.back().items[first + iteration * series.length].mean(which);
    };
    const double ratio = value(0) > 0 ? value(1) / value(0) : 1;
    const bool may_change = series.kind == Series::Kind::flip_ascending || series.kind == Series::Kind::flip_descending;
    for (std::uint32_t i = 1; i < series.iterations; ++i) {
        if (std::abs(value(i) - value(i - 1) * ratio) >= 1 || (!may_change && ratio != 1)) {
            throw InputError("the bytes of the " + name_of(found_.program, first) +
                             " change from peer to peer and follow no law");
        }
    }
    return ratio;
}

const FoundLaw& ContinuedSizes::law_of(std::uint32_t item, std::size_t which) {
    const FoundLaw*& known = of_items_[item * Sizes().size() + which];
    if (known == nullptr) {
        known = &new_law_of(item, which);
    }
    return *known;
}

const FoundLaw& ContinuedSizes::new_law_of(std::uint32_t item, std::size_t which) {
    std::vector<std::pair<std::size_t, double>> sizes;
    double spread = 0;
    for (std::size_t run = 0; run < found_.runs.size(); ++run) {
        const Measured::Of& of = found_.runs[run].items[item];
        if (of.ranks > 0) {
            sizes.emplace_back(run, of.mean(which));
            spread = std::max(spread, of.spread(which));
        }
    }
    const auto [known, is_new] = laws_.try_emplace({found_.program.items[item].site, which, sizes});
    if (!is_new) {
        return known->second;
    }
    FoundLaw law{.what = name_of(found_.program, item)};
    for (const auto& [run, size] : sizes) {
        law.samples.push_back({found_.runs[run].grid, size});
    }
    const std::vector<Fit> fits = fit_sizes(law.samples, dimension_of(item), some_follow_surface_);
    if (fits.empty() || spread > most_size_error) {
        laws_.erase(known);
        throw InputError("the bytes of the " + law.what +
                         (!fits.empty()
                              ? " differ by " + std::to_string(std::lround(spread * 100)) + " % between ranks: "
                              : std::string(" follow no law: ")) +
                         text_of(law.samples) + " ranks");
    }
    law.fit = {fits.front().law, std::max(fits.front().worst, spread)};
    law.continued = fits.front().law.at(grid_);
    for (const Fit& other : fits) {
        const double value = other.law.at(grid_);
        if (std::abs(value - law.continued) > std::max(1.0, most_size_error * law.continued)) {
            law.other = other.law.text() + " fits as well, and would give " + std::to_string(std::llround(value));
            break;
        }
    }
    known->second = std::move(law);
    return known->second;
}

/// The dimension along which a message goes.
std::optional<std::uint8_t> ContinuedSizes::dimension_of(std::uint32_t item) const {
    const Site& site = found_.program.sites[found_.program.items[item].site];
    if (site.peers.empty()) {
        return std::nullopt;
    }
    const std::optional<StraightShift> shift = straight_shift(site.peers.front());
    return shift ? std::optional(shift->dimension) : std::nullopt;
}

}  // namespace idlewave::extrapolation
