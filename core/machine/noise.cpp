#include "machine/noise.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

namespace idlewave {

NoiseTrace::NoiseTrace(const std::vector<Detour>& detours, Time period, Phase phase, std::vector<Time> phases)
    : period_(period), phase_(phase), phases_(std::move(phases)) {
    if (period <= 0) {
        throw InputError("noise: expected a period above 0, found " + std::to_string(period) + " ps");
    }
    if (phase == Phase::given && phases_.empty()) {
        throw InputError("noise: expected at least one phase in the list of phases");
    }
    for (Time& p : phases_) {
        p = (p % period + period) % period;
    }
    Time end = 0;
    Time stolen = 0;
    for (std::size_t i = 0; i < detours.size(); ++i) {
        const Detour& d = detours[i];
        const std::string name = "noise: detour " + std::to_string(i + 1);
        if (d.length < 0 || d.start < end) {
            throw InputError(name + " begins at " + std::to_string(d.start) + " ps, before " + std::to_string(end) +
                             " ps, where the one before it ends, or has a negative length: expected ascending, "
                             "separate detours");
        }
        if (d.start >= period || d.length > period - d.start) {
            throw InputError(name + " does not end within the period of " + std::to_string(period) + " ps");
        }
        end = d.start + d.length;
        if (d.length == 0) {
            continue;
        }
        if (!ends_.empty() && ends_.back() == d.start) {
            ends_.back() = end;
        } else {
            starts_.push_back(d.start);
            ends_.push_back(end);
            before_.push_back(stolen);
            free_.push_back(d.start - stolen);
        }
        stolen += d.length;
    }
    before_.push_back(stolen);
    if (stolen == period) {
        throw InputError("noise: the detours fill the whole period, so no work would ever be done");
    }
    build_grid();
}

void NoiseTrace::build_grid() {
    if (starts_.empty()) {
        return;
    }
    const auto cells_wanted = static_cast<Time>(2 * starts_.size());
    grid_shift_ = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(period_ / cells_wanted + 1)));
    const auto cells = static_cast<std::size_t>(period_ >> grid_shift_) + 2;
    grid_.reserve(cells);
    std::uint32_t begun = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const Time edge = static_cast<Time>(cell) << grid_shift_;
        while (begun < starts_.size() && starts_[begun] < edge) {
            ++begun;
        }
        grid_.push_back(begun);
    }
}

Time NoiseTrace::phase(std::uint64_t seed, std::uint32_t rank) const {
    if (phase_ == Phase::given) {
        return phases_[rank % phases_.size()];
    }
    const std::uint64_t entity = phase_ == Phase::same ? ~std::uint64_t{0} : rank;
    return static_cast<Time>(draw(seed, Stream::noise_phase, entity, static_cast<std::uint64_t>(period_)));
}

std::size_t NoiseTrace::detours_begun(Time position) const {
    const auto cell = static_cast<std::size_t>(position >> grid_shift_);
    const auto first = starts_.begin() + grid_[cell];
    const auto last = starts_.begin() + grid_[cell + 1];
    return static_cast<std::size_t>(std::upper_bound(first, last, position) - starts_.begin());
}

/// How long a start at `position`, inside detour `i`, has to wait; at the period's end the next may follow at once.
Time NoiseTrace::after_detour(std::size_t i, Time position) const {
    Time wait = ends_[i] - position;
    if (ends_[i] == period_ && starts_.front() == 0) {
        wait += ends_.front();
    }
    return wait;
}

NoiseTrace::Quiet NoiseTrace::quiet(Time phase, Time t) const {
    const Time position = later(t, phase) % period_;
    const std::size_t begun = detours_begun(position);
    if (begun > 0 && position < ends_[begun - 1]) {
        return {t, t};
    }
    const Time next = begun < starts_.size() ? starts_[begun] : period_ + starts_.front();
    return {t, later(t, next - position)};
}

Time NoiseTrace::finish(Time phase, Time t, Time w) const {
    const Time shifted = later(t, phase);
    const Time position = shifted % period_;
    const std::size_t begun = detours_begun(position);
    const bool inside = begun > 0 && position < ends_[begun - 1];
    if (!inside) {
        const Time next = begun < starts_.size() ? starts_[begun] : period_ + starts_.front();
        if (w <= next - position) {
            return later(t, w);
        }
    } else if (w == 0) {
        return later(t, after_detour(begun - 1, position));
    }
    // In CPU time the detours are points: go there, add the work, and come back. The way back is to the earliest
    // position, so a detour that begins just when the work is done is not entered.
    const Time free_here = inside ? free_[begun - 1] : position - before_[begun];
    const Time free_period = period_ - before_.back();
    const Time goal = later(free_here, w);
    const Time cycles = (goal - 1) / free_period;
    const Time rest = goal - cycles * free_period;
    const auto entered = std::lower_bound(free_.begin(), free_.end(), rest) - free_.begin();
    Time whole = 0;
    if (__builtin_mul_overflow(cycles, period_, &whole)) {
        throw TimeOverflow();
    }
    const Time end = rest + before_[static_cast<std::size_t>(entered)];
    return later(later(t, whole), end - position);
}

Noise::Noise(const NoiseTrace& trace, std::uint64_t seed, std::uint32_t ranks) {
    if (trace.silent()) {
        return;
    }
    trace_ = &trace;
    phases_.reserve(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        phases_.push_back(trace.phase(seed, rank));
    }
}

}  // namespace idlewave
