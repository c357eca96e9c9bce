// Adds sizes between those first chosen, by bisection, until each change of protocol lies between two sizes that differ
// by one byte.
//
// A send that waits for its receiver shows a rendezvous by itself. Other changes are breaks between straight pieces of
// the curves: a size between belongs to the piece whose lines are nearer to it, all curves together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <vector>

#include "network/measured.hpp"
#include "network/pieces.hpp"

namespace idlewave::probe::network {

template <class Owner>
class Refinement {
  public:
    explicit Refinement(Owner& owner) : owner_(owner) {}

    void run() {
        for (int round = 0; round < rounds && owner_.may_refine(); ++round) {
            const std::size_t before = owner_.measured().sizes().size();
            find_blocking();
            find_breaks();
            look_into_gaps();
            if (owner_.measured().sizes().size() == before) break;
        }
        std::vector<Break> last = breaks_now();
        sort_by_strength(last);
        for (const Break& b : last) {
            if (b.above - b.below > 1) continue;
            breaks_.push_back(b.above);
            enclosing_.insert({b.below, b.above});
        }
    }

    // Whether a size is one of two adjacent sizes with a change between them.
    bool encloses(int size) const { return enclosing_.count(size) != 0; }

    // The first size after each break that is enclosed; the clearest break comes first.
    const std::vector<int>& breaks() const { return breaks_; }

  private:
    static constexpr int rounds = 8;
    static constexpr std::size_t most_sizes = 200;
    static constexpr int visits = 3;
    static constexpr int more_visits = 4;
    static constexpr int most_doubts = 5;

    struct Break {
        int below = 0;  // sizes on both sides
        int above = 0;
        std::vector<SizeLine> left;
        std::vector<SizeLine> right;
    };

    // Where curves scatter there are always more apparent breaks; the clear ones come first.
    bool has_room() const { return owner_.may_refine() && owner_.measured().sizes().size() < most_sizes; }

    void find_blocking() {
        const std::vector<int> sizes = owner_.measured().sizes();
        for (std::size_t i = 1; i < sizes.size() && owner_.may_refine(); ++i) {
            if (!differ(sizes[i - 1], sizes[i])) continue;
            make_sure(sizes[i - 1]);
            make_sure(sizes[i]);
            if (!differ(sizes[i - 1], sizes[i])) continue;
            bisect_blocking(sizes[i - 1], sizes[i], owner_.measured().blocked(sizes[i - 1]).value_or(false));
        }
    }

    bool differ(int one, int other) const {
        const auto first = owner_.measured().blocked(one);
        const auto second = owner_.measured().blocked(other);
        return first && second && *first != *second;
    }

    // Takes more samples if samples disagree: a send that seems to wait may have been disturbed, and so may a server
    // that is to be late.
    void make_sure(int size) {
        for (int i = 0; i < most_doubts && !owner_.measured().blocked_alike(size) && owner_.may_refine(); ++i) {
            visit(size, {index_of(Series::late)}, visits);
        }
    }

    void bisect_blocking(int below, int above, bool blocked_below) {
        while (above - below > 1 && owner_.may_refine()) {
            const int middle = below + (above - below) / 2;
            if (!owner_.add_size(middle)) return;
            visit(middle, {index_of(Series::late)}, visits);
            make_sure(middle);
            const auto blocked = owner_.measured().blocked(middle);
            if (!blocked) return;
            (*blocked == blocked_below ? below : above) = middle;
        }
        if (above - below > 1) return;  // the time is over
        visit_lines(below);
        visit_lines(above);
        enclosing_.insert({below, above});
    }

    void visit_lines(int size) {
        std::vector<std::size_t> all(line_series);
        std::iota(all.begin(), all.end(), std::size_t{0});
        visit(size, all, visits);
    }

    std::vector<Break> breaks_now() {
        const Curves curves = owner_.measured().curves();
        if (curves.values.empty()) return {};
        const std::vector<LinePiece> pieces = straight_pieces(curves);
        doubtful_.clear();
        for (const LinePiece& piece : pieces) doubt_widest_gap(curves.sizes, piece);
        std::vector<Break> result;
        for (std::size_t i = 1; i < pieces.size(); ++i) result.push_back(between(curves, pieces[i - 1], pieces[i]));
        series_ = curves.series;
        scatter_ = curves.scatter;
        return result;
    }

    // A line through two points, or through two clusters of points, always fits. A size between them shows whether the
    // curve is straight.
    void doubt_widest_gap(const std::vector<int>& sizes, const LinePiece& piece) {
        int widest = 1;
        int middle = 0;
        for (std::size_t i = piece.first; i < piece.last; ++i) {
            const int gap = sizes[i + 1] - sizes[i];
            if (gap <= widest) continue;
            widest = gap;
            middle = sizes[i] + gap / 2;
        }
        if (2 * widest > sizes[piece.last] - sizes[piece.first] && middle > 0) doubtful_.push_back(middle);
    }

    void look_into_gaps() {
        for (const int size : std::vector<int>(doubtful_)) {
            if (!has_room()) return;
            if (owner_.add_size(size)) visit_lines(size);
        }
    }

    // The lines on both sides of a break. A piece that is short compared with the gap between the two does not
    // determine its slope: then it has the slope of the other.
    static Break between(const Curves& curves, const LinePiece& left, const LinePiece& right) {
        Break result{curves.sizes[left.last], curves.sizes[right.first], left.lines, right.lines};
        const double gap = result.above - result.below;
        const double left_span = curves.sizes[left.last] - curves.sizes[left.first];
        const double right_span = curves.sizes[right.last] - curves.sizes[right.first];
        for (std::size_t c = 0; c < curves.values.size(); ++c) {
            SizeLine& l = result.left[c];
            SizeLine& r = result.right[c];
            if (left_span < gap / 8 && left_span < right_span) l = through(result.below, l, r.slope);
            if (right_span < gap / 8 && right_span <= left_span) r = through(result.above, r, l.slope);
        }
        return result;
    }

    static SizeLine through(double size, const SizeLine& line, double slope) {
        return {line.at(size) - slope * size, slope};
    }

    void find_breaks() {
        std::vector<Break> breaks = breaks_now();
        sort_by_strength(breaks);
        for (Break& b : breaks) {
            if (!has_room()) return;
            if (b.above - b.below > 1) bisect(b);
        }
    }

    void sort_by_strength(std::vector<Break>& breaks) const {
        std::stable_sort(breaks.begin(), breaks.end(),
                         [this](const Break& a, const Break& b) { return strength(a) > strength(b); });
    }

    // How far apart the two sides are in the middle, in standard deviations of a point, all series together.
    double strength(const Break& b) const {
        const double size = (b.below + b.above) / 2.0;
        double sum = 0;
        for (std::size_t c = 0; c < b.left.size(); ++c) {
            const double left = b.left[c].at(size);
            const double right = b.right[c].at(size);
            const double deviation = (left - right) / (scatter_[c] * std::max(left, right));
            if (std::isfinite(deviation)) sum += deviation * deviation;
        }
        return sum;
    }

    void bisect(Break& b) {
        while (b.above - b.below > 1 && owner_.may_refine()) {
            const int middle = b.below + (b.above - b.below) / 2;
            if (!owner_.add_size(middle)) return;
            const std::vector<std::size_t> series = separating_series(b, middle);
            visit(middle, series, visits);
            if (disagree(middle, series)) visit(middle, series, more_visits);
            double left = distance(middle, b.left);
            double right = distance(middle, b.right);
            if (in_doubt(left, right)) {
                visit(middle, series_, more_visits);
                left = distance(middle, b.left);
                right = distance(middle, b.right);
            }
            (left <= right ? b.below : b.above) = middle;
        }
        if (b.above - b.below > 1) return;  // the time is over
        visit_lines(b.below);               // because another change may show in another series
        visit_lines(b.above);
        enclosing_.insert({b.below, b.above});
    }

    // Whether one of a few samples was disturbed, so that two may have been.
    bool disagree(int size, const std::vector<std::size_t>& series) const {
        constexpr double far = 8;  // standard deviations of a point
        for (std::size_t c = 0; c < series_.size(); ++c) {
            if (std::find(series.begin(), series.end(), series_[c]) == series.end()) continue;
            if (owner_.measured().range(size, series_[c]) > far * scatter_[c]) return true;
        }
        return false;
    }

    // Whether a size is near to neither side, or not much nearer to one of them: its sample was disturbed, or there is
    // a third piece between the two.
    bool in_doubt(double left, double right) const {
        constexpr double near = 16;  // squared deviations of each series
        const double nearer = std::min(left, right);
        return nearer > near * static_cast<double>(series_.size()) || nearer > 0.5 * std::max(left, right);
    }

    // The series to sample: the first one in which the two sides are far apart, which is also the quickest; else all.
    std::vector<std::size_t> separating_series(const Break& b, int size) const {
        constexpr double far = 8;  // standard deviations of a point
        for (std::size_t c = 0; c < b.left.size(); ++c) {
            const double left = b.left[c].at(size);
            const double right = b.right[c].at(size);
            if (std::abs(left - right) > far * scatter_[c] * std::max(left, right)) return {series_[c]};
        }
        return series_;
    }

    double distance(int size, const std::vector<SizeLine>& lines) {
        double sum = 0;
        for (std::size_t c = 0; c < lines.size(); ++c) {
            const double value = owner_.measured().median(size, series_[c]);
            const double deviation = (value - lines[c].at(size)) / (scatter_[c] * value);
            if (std::isfinite(deviation)) sum += deviation * deviation;
        }
        return sum;
    }

    void visit(int size, const std::vector<std::size_t>& series, int times) {
        for (int i = 0; i < times; ++i) {
            for (const std::size_t s : series) {
                if (owner_.has_ended()) return;
                if (const auto kind = owner_.measured().kind_of(size, s)) owner_.visit(*kind);
            }
            owner_.next_repetition();
        }
    }

    Owner& owner_;
    std::vector<std::size_t> series_;
    std::vector<double> scatter_;
    std::vector<int> breaks_;
    std::vector<int> doubtful_;
    std::set<int> enclosing_;
};

}  // namespace idlewave::probe::network
