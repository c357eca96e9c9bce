#include "extrapolation/laws.hpp"

#include <algorithm>
#include <cmath>

namespace idlewave::extrapolation {
namespace {

/// Inversely proportional to the extents of the other dimensions. Those with one rank in all samples are left out,
/// because no sample shows what they change.
Law across(std::uint8_t dimension, std::span<const Sample> samples) {
    Law law;
    for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
        const bool several = std::ranges::any_of(samples, [d](const Sample& s) { return s.grid.extents[d] > 1; });
        law.powers[d] = d != dimension && several ? -1 : 0;
    }
    return law;
}

/// All terms that differ between the samples' grids, the most common ones in practice first: of a message along a
/// dimension the surface across it; the volume of a rank; shares of both; and squares, as the blocks of an all-to-all
/// have. With `volume` a rank's whole volume is one, too, where some extents do not vary: computation depends on it.
std::vector<Law> terms(std::span<const Sample> samples, std::optional<std::uint8_t> dimension, bool volume = false) {
    using Powers = std::array<int, ProcessGrid::dimensions>;
    std::array<bool, ProcessGrid::dimensions> varies{};
    for (const Sample& sample : samples) {
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            varies[d] = varies[d] || sample.grid.extents[d] != samples.front().grid.extents[d];
        }
    }
    std::vector<Powers> all;
    const auto add = [&](Powers powers) {
        for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
            powers[d] = varies[d] ? powers[d] : 0;
        }
        if (powers != Powers{} && std::ranges::find(all, powers) == all.end()) {
            all.push_back(powers);
        }
    };
    if (dimension) {
        all.push_back(across(*dimension, samples).powers);  // also along dimensions that do not vary
    }
    if (volume) {
        all.push_back({-1, -1, -1});
    }
    add({-1, -1, -1});
    for (const int sign : {-1, 1}) {
        for (const unsigned dimensions : {1U, 2U, 4U, 3U, 5U, 6U, 7U}) {
            add({(dimensions & 1U) != 0 ? sign : 0, (dimensions & 2U) != 0 ? sign : 0,
                 (dimensions & 4U) != 0 ? sign : 0});
        }
    }
    for (int x = -2; x <= 0; ++x) {
        for (int y = -2; y <= 0; ++y) {
            for (int z = -2; z <= 0; ++z) {
                add({x, y, z});
            }
        }
    }
    std::vector<Law> laws;
    laws.reserve(all.size() + 1);
    for (const Powers& powers : all) {
        laws.push_back({.powers = powers});
    }
    laws.push_back({.logarithms = 1});
    return laws;
}

/// The least squares of the relative differences, for a proportional law or one with a constant.
Law fitted(Law law, std::span<const Sample> samples, bool with_constant) {
    double ww = 0;
    double wt = 0;
    double wtt = 0;
    double wv = 0;
    double wtv = 0;
    for (const Sample& sample : samples) {
        const double weight = 1 / std::max(sample.value * sample.value, 1e-30);
        const double term = law.term(sample.grid);
        ww += weight;
        wt += weight * term;
        wtt += weight * term * term;
        wv += weight * sample.value;
        wtv += weight * term * sample.value;
    }
    const double determinant = ww * wtt - wt * wt;
    if (with_constant && determinant > 1e-12 * ww * wtt) {
        law.factor = (ww * wtv - wt * wv) / determinant;
        law.constant = (wv - law.factor * wt) / ww;
    } else {
        law.factor = wtt > 0 ? wtv / wtt : 0;
    }
    return law;
}

Law constant(std::span<const Sample> samples) {
    double weights = 0;
    double values = 0;
    for (const Sample& sample : samples) {
        const double weight = 1 / std::max(sample.value * sample.value, 1e-30);
        weights += weight;
        values += weight * sample.value;
    }
    return {.constant = values / weights};
}

/// Whether its term grows with the grid.
bool grows(const Law& law) {
    return law.logarithms > 0 || std::ranges::any_of(law.powers, [](int power) { return power > 0; });
}

double worst(const Law& law, std::span<const Sample> samples) {
    double worst = 0;
    for (const Sample& sample : samples) {
        worst = std::max(worst, std::abs(law.at(sample.grid) - sample.value) / std::max(sample.value, 1e-9));
    }
    return worst;
}

bool follows(const Law& law, std::span<const Sample> samples) {
    return std::ranges::all_of(samples,
                               [&](const Sample& sample) { return std::abs(law.at(sample.grid) - sample.value) < 1; });
}

std::size_t different(std::span<const Sample> samples) {
    std::vector<double> values;
    for (const Sample& sample : samples) {
        values.push_back(sample.value);
    }
    std::ranges::sort(values);
    return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

std::string number(double value) {
    std::string text = std::to_string(std::llround(value));
    if (std::abs(value - std::round(value)) > 1e-6 && std::abs(value) < 1e6) {
        text = std::to_string(value);
        text.erase(text.find_last_not_of('0') + 1);
    }
    return text;
}

}  // namespace

double Law::term(const ProcessGrid& grid) const {
    double term = 1;
    for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
        term *= std::pow(static_cast<double>(grid.extents[d]), powers[d]);
    }
    return term * std::pow(std::log2(static_cast<double>(grid.ranks())), logarithms);
}

std::string Law::text() const {
    std::string above;
    std::string below;
    for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
        if (powers[d] != 0) {
            (powers[d] > 0 ? above : below) += std::string(1, ' ') + "XYZ"[d] + (std::abs(powers[d]) == 2 ? "^2" : "");
        }
    }
    above += logarithms > 0 ? " log2 P" : "";
    if (factor == 0) {
        return number(constant);
    }
    const std::string sum = std::abs(constant) < 1e-9 ? "" : number(constant) + " + ";
    return sum + number(factor) + above + (below.empty() ? "" : " / (" + below.substr(1) + ")");
}

std::vector<Fit> fit_sizes(std::span<const Sample> samples, std::optional<std::uint8_t> dimension,
                           bool others_follow_surface) {
    const auto fit = [&](const Law& law) -> std::optional<Fit> {
        return follows(law, samples) ? std::optional(Fit{law, worst(law, samples)}) : std::nullopt;
    };
    constexpr double rounding = 0.01;  // relative: of small sizes a difference of 1 is none
    const Law same = samples.empty() ? Law{} : constant(samples);
    if (different(samples) <= 1 || (follows(same, samples) && worst(same, samples) < rounding)) {
        std::vector<Fit> fits{{same, samples.empty() ? 0 : worst(same, samples)}};
        if (dimension && samples.size() > 1) {
            const Law surface = fitted(across(*dimension, samples), samples, false);
            if (const auto surface_fit = fit(surface)) {
                fits.insert(others_follow_surface ? fits.begin() : fits.end(), *surface_fit);
            }
        }
        return fits;
    }
    const std::vector<Law> candidates = terms(samples, dimension);
    std::vector<Fit> found;
    for (const bool with_constant : {false, true}) {
        if (with_constant && different(samples) < 3) {
            break;
        }
        for (const Law& candidate : candidates) {
            if (const auto fits = fit(fitted(candidate, samples, with_constant))) {
                found.push_back(*fits);
            }
        }
        if (!found.empty()) {
            return found;
        }
    }
    std::vector<Fit> near{{same, worst(same, samples)}};
    for (const Law& candidate : candidates) {
        const Law law = fitted(candidate, samples, false);
        near.push_back({law, worst(law, samples)});
    }
    std::erase_if(near, [](const Fit& one) { return one.worst > most_size_error; });
    std::ranges::stable_sort(near, {}, &Fit::worst);
    return near;
}

bool is_changing_surface(std::span<const Sample> samples, std::uint8_t dimension) {
    return !samples.empty() && worst(constant(samples), samples) > most_size_error &&
           follows(fitted(across(dimension, samples), samples, false), samples);
}

Fit fit_time(std::span<const Sample> samples) {
    constexpr double clearly = 0.5;  // of the difference of a simpler law
    Fit best{constant(samples), 0};
    best.worst = worst(best.law, samples);
    if (samples.size() < 2) {
        return best;
    }
    constexpr double noise = 0.1;  // relative: below it no law is closer than another
    for (const bool with_constant : {false, true}) {
        if (with_constant && samples.size() < 3) {
            break;
        }
        const double before = best.worst;
        for (const Law& candidate : terms(samples, std::nullopt, true)) {
            if (samples.size() < 3 && grows(candidate)) {
                continue;
            }
            const Law law = fitted(candidate, samples, with_constant);
            const double off = worst(law, samples);
            if (off < best.worst && off < clearly * before && before > noise && law.constant >= 0 && law.factor >= 0) {
                best = {law, off};
            }
        }
    }
    return best;
}

}  // namespace idlewave::extrapolation
