// Curves over message size as straight pieces, with breaks at the sizes that fit all curves together best.
//
// The fit is by least squares of relative residuals. It has as many breaks as Bayes's information criterion allows,
// found by dynamic programming over all sizes. A bend (two lines that intersect) is a break, too: here nothing depends
// on which of the two a break is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace idlewave::probe::network {

struct SizeLine {
    double at_zero = 0;
    double slope = 0;
    double at(double size) const { return at_zero + slope * size; }
};

struct LinePiece {
    std::size_t first = 0;  // index of sizes
    std::size_t last = 0;
    std::vector<SizeLine> lines;  // one a curve
};

struct Curves {
    std::vector<int> sizes;                   // ascending
    std::vector<std::vector<double>> values;  // one a curve, one a size; positive, or NaN where there is none
    std::vector<double> scatter;              // of each curve, relative
    std::vector<std::size_t> series;          // the series of each curve
};

// The relative scatter of a curve: the median deviation of a point from the line through its neighbours, as the
// standard deviation of a point. A few breaks do not change it.
inline double roughness(const std::vector<int>& all_sizes, const std::vector<double>& all_values) {
    constexpr double floor = 0.0005;
    std::vector<double> sizes;
    std::vector<double> values;
    for (std::size_t i = 0; i < all_sizes.size(); ++i) {
        if (!std::isfinite(all_values[i])) continue;
        sizes.push_back(all_sizes[i]);
        values.push_back(all_values[i]);
    }
    std::vector<double> deviations;
    for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
        const double share = (sizes[i] - sizes[i - 1]) / (sizes[i + 1] - sizes[i - 1]);
        const double line = values[i - 1] + share * (values[i + 1] - values[i - 1]);
        const double spread = std::sqrt(1 + share * share + (1 - share) * (1 - share));
        deviations.push_back(std::abs(values[i] - line) / values[i] / spread);
    }
    if (deviations.empty()) return floor;
    const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
    std::nth_element(deviations.begin(), middle, deviations.end());
    return std::max(floor, 1.4826 * *middle);
}

// Prefix sums for weighted least squares, so that the fit of any run of points takes constant time.
class LineSums {
  public:
    LineSums(const std::vector<int>& sizes, const std::vector<double>& values, double scatter)
        : sums_(sizes.size() + 1) {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const bool there = std::isfinite(values[i]);
            const long double x = sizes[i];
            const long double y = there ? values[i] : 0;
            const long double w = there ? 1 / (scatter * y * scatter * y) : 0;
            const Sums& before = sums_[i];
            sums_[i + 1] = {before.w + w,
                            before.x + w * x,
                            before.y + w * y,
                            before.xx + w * x * x,
                            before.xy + w * x * y,
                            before.yy + w * y * y,
                            before.points + (there ? 1 : 0)};
        }
    }

    // Returns the best line through points first..last; `left` is its residual. Two sizes next to each other do not
    // determine a slope: then the line is level. Without a point there is no line (NaN).
    SizeLine fit(std::size_t first, std::size_t last, double& left) const {
        const Sums& a = sums_[first];
        const Sums& b = sums_[last + 1];
        const long double w = b.w - a.w;
        left = 0;
        if (b.points == a.points) return {std::nan(""), std::nan("")};
        const long double x = (b.x - a.x) / w;
        const long double y = (b.y - a.y) / w;
        const long double xx = (b.xx - a.xx) / w - x * x;
        const long double xy = (b.xy - a.xy) / w - x * y;
        const long double yy = (b.yy - a.yy) / w - y * y;
        const bool level = b.points == a.points + 1 || xx <= 1e-13L * x * x;
        const long double slope = level ? 0 : xy / xx;
        left = static_cast<double>(std::max(w * (yy - slope * xy), 0.0L));
        return {static_cast<double>(y - slope * x), static_cast<double>(slope)};
    }

  private:
    struct Sums {
        long double w = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
        int points = 0;
    };
    std::vector<Sums> sums_;
};

inline std::vector<LinePiece> straight_pieces(const Curves& curves) {
    const std::size_t n = curves.sizes.size();
    std::vector<LineSums> sums;
    sums.reserve(curves.values.size());
    for (std::size_t c = 0; c < curves.values.size(); ++c) {
        sums.emplace_back(curves.sizes, curves.values[c], curves.scatter[c]);
    }
    const double observations = static_cast<double>(std::max<std::size_t>(n * sums.size(), 2));
    const double price = std::log(observations) * (1 + 2 * static_cast<double>(sums.size()));
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> begin(n + 1, 0);
    best[0] = 0;
    for (std::size_t end = 1; end <= n; ++end) {
        for (std::size_t start = 0; start < end; ++start) {
            double cost = best[start] + price;
            for (std::size_t c = 0; c < sums.size() && cost < best[end]; ++c) {
                double left = 0;
                sums[c].fit(start, end - 1, left);
                cost += left;
            }
            if (cost >= best[end]) continue;
            best[end] = cost;
            begin[end] = start;
        }
    }
    std::vector<LinePiece> pieces;
    for (std::size_t end = n; end > 0; end = begin[end]) {
        LinePiece piece{begin[end], end - 1, {}};
        double left = 0;
        for (const LineSums& s : sums) piece.lines.push_back(s.fit(piece.first, piece.last, left));
        pieces.push_back(piece);
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

}  // namespace idlewave::probe::network
