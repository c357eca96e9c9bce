// The samples until now: the values of each job, and the curves over sizes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "network/client.hpp"
#include "network/pieces.hpp"
#include "network/series.hpp"
#include "network/sizes.hpp"
#include "network/sorted_sample.hpp"

namespace idlewave::probe::network {

struct ExchangeSamples {
    Exchange job;
    bool core = true;     // sampled until it is settled
    SortedSample values;  // without the pauses of the sender
};

class Measured {
  public:
    void add(const std::vector<Exchange>& jobs, bool core) {
        for (const Exchange& job : jobs) {
            if (core) places_[job.size].at(index_of(job.series)) = kinds_.size();
            kinds_.push_back({job, core, {}});
        }
    }

    // Marks sizes of refinement that do not enclose a change: they need no settled median.
    template <class Encloses>
    void visit_less_often(const std::vector<int>& chosen, Encloses encloses) {
        const std::set<int> first(chosen.begin(), chosen.end());
        for (ExchangeSamples& kind : kinds_) {
            if (first.count(kind.job.size) == 0 && !encloses(kind.job.size)) kind.core = false;
        }
    }

    bool has_size(int size) const { return places_.count(size) != 0; }
    std::vector<ExchangeSamples>& kinds() { return kinds_; }

    static void record(ExchangeSamples& kind, const Sample& sample) {
        const bool paced = kind.job.series == Series::paced || kind.job.series == Series::spaced;
        const double pauses = paced ? (kind.job.messages - 1) * sample.delay_ns : 0;
        kind.values.add(sample.value_ns - pauses);
    }

    std::optional<std::size_t> kind_of(int size, std::size_t series) const { return places_.at(size).at(series); }

    std::vector<int> sizes() const {
        std::vector<int> result;
        result.reserve(places_.size());
        for (const auto& [size, unused] : places_) result.push_back(size);
        return result;
    }

    // The sizes above 0 whose medians are to settle.
    std::vector<int> core_sizes() const {
        std::set<int> found;
        for (const ExchangeSamples& kind : kinds_) {
            if (kind.core && kind.job.size > 0) found.insert(kind.job.size);
        }
        return {found.begin(), found.end()};
    }

    // Whether a send of this size waits for its receiver; nothing if that is not known.
    std::optional<bool> blocked(int size) const {
        const auto place = kind_of(size, index_of(Series::late));
        if (!place || kinds_[*place].values.size() == 0) return std::nullopt;
        return kinds_[*place].values.median() > 0.5 * kinds_[*place].job.delay_ns;
    }

    // Whether nearly all sends of this size agree in this.
    bool blocked_alike(int size) const {
        const auto place = kind_of(size, index_of(Series::late));
        if (!place || kinds_[*place].values.size() == 0) return true;
        const double share = kinds_[*place].values.share_above(0.5 * kinds_[*place].job.delay_ns);
        return share < 0.2 || share > 0.8;
    }

    // The medians of every series, over the sizes that have any.
    Curves curves() const {
        Curves result;
        for (const int size : sizes()) {
            bool any = false;
            for (std::size_t s = 0; s < line_series; ++s) any = any || median(size, s) > 0;
            if (any) result.sizes.push_back(size);
        }
        for (std::size_t s = 0; s < line_series; ++s) {
            std::vector<double> values;
            for (const int size : result.sizes) {
                const double value = median(size, s);
                values.push_back(value > 0 ? value : std::numeric_limits<double>::quiet_NaN());
            }
            const auto there = std::count_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
            if (there < 3) continue;
            result.scatter.push_back(roughness(result.sizes, values));
            result.series.push_back(s);
            result.values.push_back(std::move(values));
        }
        return result;
    }

    // The range of the values, relative to the median.
    double range(int size, std::size_t series) const {
        const auto place = places_.at(size).at(series);
        if (!place || kinds_[*place].values.size() == 0) return 0;
        const SortedSample& values = kinds_[*place].values;
        return (values.most() - values.least()) / values.median();
    }

    double median(int size, std::size_t series) const {
        const auto place = places_.at(size).at(series);
        return place ? kinds_[*place].values.median() : std::numeric_limits<double>::quiet_NaN();
    }

  private:
    std::vector<ExchangeSamples> kinds_;
    std::map<int, std::array<std::optional<std::size_t>, series_names.size()>> places_;  // of the core series
};

}  // namespace idlewave::probe::network
