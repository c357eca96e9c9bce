#include "extrapolation/extrapolate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "extrapolation/continued_program.hpp"
#include "extrapolation/structure_search.hpp"
#include "goal/op.hpp"

namespace idlewave::extrapolation {
namespace {

/// Continues the sizes and the computation of a structure on a grid.
class Values {
  public:
    Values(const FoundStructure& found, const ProcessGrid& grid, bool fitted_times)
        : found_(found), grid_(grid), factors_(found.program.items.size(), 1), laws_of_items_(found.program.items.size() * 3) {
        if (fitted_times && found.runs.size() > 1) {
            fit_times();
        }
    }

    Sizes sizes(const PlannedCall& call) {
        const Item& item = found_.program.items[call.item];
        if (item.kind == Action::Kind::wait) {
            return {};
        }
        Sizes result{};
        const CollectiveRule& collective = found_.program.sites[item.site].collective;
        const std::array<bool, 3> used{true, collective.sends_counts, collective.recvs_counts};
        for (std::size_t which = 0; which < result.size(); ++which) {
            result[which] = used[which] ? size(call, which) : 0;
        }
        return result;
    }

    [[nodiscard]] double time_factor(std::uint32_t item) const { return factors_[item]; }
    [[nodiscard]] double last_time_factor() const { return last_factor_; }
    [[nodiscard]] std::vector<FoundLaw> size_laws() const { return list(sizes_); }
    [[nodiscard]] std::vector<FoundLaw> time_laws() const { return times_; }

  private:
    /// A law of sizes is shared by the calls of a site that have the same samples.
    using Key = std::pair<std::uint32_t, std::vector<std::pair<std::size_t, std::uint64_t>>>;

    static std::vector<FoundLaw> list(const std::map<Key, FoundLaw>& laws) {
        std::vector<FoundLaw> all;
        for (const auto& [key, law] : laws) {
            all.push_back(law);
        }
        return all;
    }

    [[nodiscard]] std::string name_of_item(std::uint32_t item) const {
        const Site& site = found_.program.sites[found_.program.items[item].site];
        if (site.kind == Action::Kind::collective) {
            return std::string(collectives::name_of(site.collective.collective));
        }
        const bool in_series = found_.program.items[item].role != Item::Role::none;
        return name_of(site.kind) + (site.kind == Action::Kind::send ? " to " : " from ") +
               (in_series ? "each peer of a series" : text_of(site.peers.front()));
    }

    std::uint64_t size(const PlannedCall& call, std::size_t which) {
        const Series& series = *call.series;
        const std::uint32_t first = series.first + (call.item - series.first) % series.length;
        const double value = law_of(first, which).continued;
        const double ratio = series.kind == Series::Kind::none ? 1 : ratio_of(series, first, which);
        const double continued = std::round(value * std::pow(ratio, call.iteration));
        if (!(continued >= 0 && continued <= static_cast<double>(goal::largest_size))) {
            throw InputError("the " + name_of_item(first) + " would have " + std::to_string(continued) + " bytes");
        }
        return static_cast<std::uint64_t>(continued);
    }

    /// By which factor the size of a series' call changes from an iteration to the next one.
    double ratio_of(const Series& series, std::uint32_t first, std::size_t which) {
        const Measured& largest = found_.runs.back();
        const auto value = [&](std::uint32_t iteration) {
            return static_cast<double>(largest.items[first + iteration * series.length].sizes[which]);
        };
        const double ratio = value(0) > 0 ? value(1) / value(0) : 1;
        for (std::uint32_t i = 1; i < series.iterations; ++i) {
            if (std::abs(value(i) - value(i - 1) * ratio) >= 1 ||
                (series.kind != Series::Kind::flip_ascending && series.kind != Series::Kind::flip_descending &&
                 ratio != 1)) {
                throw InputError("the sizes of the " + name_of_item(first) + " change from peer to peer and follow no law");
            }
        }
        return ratio;
    }

    const FoundLaw& law_of(std::uint32_t item, std::size_t which) {
        const FoundLaw*& known_law = laws_of_items_[item * 3 + which];
        if (known_law == nullptr) {
            known_law = &new_law_of(item, which);
        }
        return *known_law;
    }

    const FoundLaw& new_law_of(std::uint32_t item, std::size_t which) {
        Key key{found_.program.items[item].site * 3 + static_cast<std::uint32_t>(which), {}};
        for (std::size_t run = 0; run < found_.runs.size(); ++run) {
            const Measured::Of& of = found_.runs[run].items[item];
            if (of.ranks == 0) {
                continue;
            }
            if (of.differs) {
                throw InputError("the sizes of the " + name_of_item(item) + " differ between ranks of the run with " +
                                 std::to_string(found_.runs[run].grid.ranks()) + " ranks");
            }
            key.second.emplace_back(run, of.sizes[which]);
        }
        const auto [known, is_new] = sizes_.try_emplace(std::move(key));
        if (is_new) {
            known->second = fit(item, known->first.second);
        }
        if (which == 0) {
            known->second.calls += 1;
        }
        return known->second;
    }

    [[nodiscard]] FoundLaw fit(std::uint32_t item, std::span<const std::pair<std::size_t, std::uint64_t>> traced) const {
        FoundLaw law{.what = name_of_item(item)};
        std::string values;
        for (const auto& [run, value] : traced) {
            law.samples.push_back({found_.runs[run].grid, static_cast<double>(value)});
            values += (values.empty() ? "" : ", ") + std::to_string(value) + " on " +
                      std::to_string(found_.runs[run].grid.ranks());
        }
        const std::optional<Fit> found = fit_size(law.samples, along(item));
        if (!found) {
            throw InputError("the bytes of the " + law.what + " follow no law: " + values + " ranks");
        }
        law.fit = *found;
        law.continued = std::round(found->law.at(grid_));
        return law;
    }

    /// The dimension along which a message goes.
    [[nodiscard]] std::optional<std::uint8_t> along(std::uint32_t item) const {
        const Site& site = found_.program.sites[found_.program.items[item].site];
        if (site.peers.empty() || site.peers.front().kind != PeerRule::Kind::shift) {
            return std::nullopt;
        }
        const auto& shift = site.peers.front().shift;
        std::optional<std::uint8_t> along;
        for (std::uint8_t d = 0; d < ProcessGrid::dimensions; ++d) {
            if (shift[d] != 0) {
                if (along) {
                    return std::nullopt;
                }
                along = d;
            }
        }
        return along;
    }

    /// The calls before which computation follows one law: those of a site, and the waits for them.
    [[nodiscard]] std::uint32_t group_of(std::uint32_t item) const {
        const Item& own = found_.program.items[item];
        const auto sites = static_cast<std::uint32_t>(found_.program.sites.size());
        return own.kind == Action::Kind::wait
                   ? sites + found_.program.items[found_.program.awaited[own.awaited_begin]].site
                   : own.site;
    }

    /// The computation before the calls of each group in a run, in ns: the median over the calls in the program of the
    /// mean over ranks, since one long interruption is no computation. What is before the first call of a rank is the
    /// start of the program. None where a run has no such calls.
    [[nodiscard]] std::vector<std::optional<double>> medians(const Measured& run) const {
        std::vector<std::vector<double>> calls(2 * found_.program.sites.size());
        for (std::uint32_t item = 0; item < run.items.size(); ++item) {
            const Measured::Of& of = run.items[item];
            if (of.ranks > 0 && !of.is_first) {
                calls[group_of(item)].push_back(of.ns / of.ranks);
            }
        }
        std::vector<std::optional<double>> medians;
        for (std::vector<double>& ns : calls) {
            medians.emplace_back();
            if (!ns.empty()) {
                const auto middle = ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2);
                std::ranges::nth_element(ns, middle);
                medians.back() = *middle;
            }
        }
        return medians;
    }

    void fit_times() {
        std::vector<std::vector<Sample>> samples(2 * found_.program.sites.size());
        for (const Measured& run : found_.runs) {
            const auto ns = medians(run);
            for (std::size_t group = 0; group < samples.size(); ++group) {
                if (ns[group]) {
                    samples[group].push_back({run.grid, *ns[group]});
                }
            }
        }
        const Measured& largest = found_.runs.back();
        std::vector<double> all(samples.size(), 0);  // ns of all ranks of the largest run
        double total = 0;
        for (std::uint32_t item = 0; item < largest.items.size(); ++item) {
            all[group_of(item)] += largest.items[item].is_first ? 0 : largest.items[item].ns;
            total += largest.items[item].is_first ? 0 : largest.items[item].ns;
        }
        std::vector<double> factors(samples.size(), 1);
        for (std::uint32_t group = 0; group < factors.size(); ++group) {
            if (all[group] > least_share * total && !samples[group].empty()) {
                factors[group] = factor(group, samples[group]);
            }
        }
        for (std::uint32_t item = 0; item < factors_.size(); ++item) {
            factors_[item] = largest.items[item].is_first ? 1 : factors[group_of(item)];
        }
    }

    /// By which factor the largest run's computation before the calls of a group becomes that on the grid.
    double factor(std::uint32_t group, std::span<const Sample> samples) {
        const auto sites = static_cast<std::uint32_t>(found_.program.sites.size());
        const auto& items = found_.program.items;
        const auto of = std::ranges::find_if(
            items, [&](const Item& item) { return item.kind != Action::Kind::wait && item.site == group % sites; });
        const std::string what = "computation before the " + std::string(group < sites ? "" : "wait for the ") +
                                 name_of_item(static_cast<std::uint32_t>(of - items.begin()));
        const Fit fit = fit_time(samples);
        if (fit.worst > most_off) {
            std::string values;
            for (const Sample& sample : samples) {
                values += (values.empty() ? "" : ", ") + std::to_string(std::llround(sample.value)) + " ns on " +
                          std::to_string(sample.grid.ranks());
            }
            throw InputError("the " + what + " follows no law: " + values +
                             " ranks; the largest run's can be used as it is");
        }
        const double continued = std::max(0.0, fit.law.at(grid_));
        times_.push_back({.what = what,
                          .samples = {samples.begin(), samples.end()},
                          .fit = fit,
                          .continued = continued,
                          .calls = 0});
        return samples.back().value > 0 ? continued / samples.back().value : 1;
    }

    static constexpr double least_share = 0.01;  ///< of all computation: what is less stays as it is
    static constexpr double most_off = 0.3;      ///< relative difference of a sample from the law

    const FoundStructure& found_;
    ProcessGrid grid_;
    std::vector<double> factors_;                  ///< by item
    std::vector<const FoundLaw*> laws_of_items_;  ///< three for each, of its sizes
    double last_factor_ = 1;
    std::map<Key, FoundLaw> sizes_;
    std::vector<FoundLaw> times_;
};

ProcessGrid grid_for(const FoundStructure& found, const ExtrapolationOptions& options) {
    if (options.grid) {
        if (options.grid->ranks() != options.ranks) {
            throw InputError("expected a grid of " + std::to_string(options.ranks) + " ranks, found one of " +
                             std::to_string(options.grid->ranks()));
        }
        return *options.grid;
    }
    const std::optional<ProcessGrid> grid = continued_grid(found.runs, options.ranks);
    if (!grid) {
        throw InputError("the grids of the traced runs do not show that of " + std::to_string(options.ranks) +
                         " ranks: name it");
    }
    return *grid;
}

std::vector<std::string> texts_of_peers(const SymbolicProgram& program) {
    std::set<std::string> texts;
    for (const Item& item : program.items) {
        if (item.kind == Action::Kind::send) {
            texts.insert(item.role == Item::Role::none ? text_of(program.sites[item.site].peers.front())
                                                       : "a series of peers");
        }
    }
    return {texts.begin(), texts.end()};
}

}  // namespace

Extrapolation extrapolate(std::span<const collectives::Program* const> runs, const ExtrapolationOptions& options) {
    std::vector<TracedRun> traced;
    traced.reserve(runs.size());
    for (const collectives::Program* run : runs) {
        traced.emplace_back(*run);
    }
    std::ranges::sort(traced, {}, &TracedRun::ranks);
    for (std::size_t i = 1; i < traced.size(); ++i) {
        if (traced[i].ranks() == traced[i - 1].ranks()) {
            throw InputError("expected runs with different numbers of ranks, found two with " +
                             std::to_string(traced[i].ranks()));
        }
    }
    const FoundStructure found = find_structure(traced);
    const ProcessGrid grid = grid_for(found, options);
    for (const Series& series : found.program.series) {
        if (!series.iterations_on(grid)) {
            throw InputError("expected a power of 2 of ranks along dimension " + std::to_string(series.dimension) +
                             " of the grid, found " + std::to_string(grid.extents[series.dimension]));
        }
    }
    Values values(found, grid, options.fitted_times);
    const Continued continued{.sizes = [&](const PlannedCall& call) { return values.sizes(call); },
                              .time_factor = [&](std::uint32_t item) { return values.time_factor(item); },
                              .last_time_factor = values.last_time_factor()};
    const RunOnGrid largest(traced.back(), found.runs.back().grid);
    Extrapolation result{
        .program = continued_program(found.program, largest, found.runs.back(), grid, continued),
        .traced = {},
        .neighbours = found.neighbours,
        .peers = texts_of_peers(found.program),
        .sizes = values.size_laws(),
        .times = values.time_laws(),
        .one_sided_dimensions = found.program.one_sided_dimensions,
    };
    for (const Measured& run : found.runs) {
        result.traced.push_back(run.grid);
    }
    const collectives::Program& last = traced.back().program();
    result.program.wildcard_receives = last.wildcard_receives;
    result.program.one_sided = last.one_sided;
    result.program.files = last.files;
    result.program.calls = last.calls;
    result.program.calls_left_out = last.calls_left_out;
    return result;
}

}  // namespace idlewave::extrapolation
