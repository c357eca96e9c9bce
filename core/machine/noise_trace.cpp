#include "machine/noise_trace.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

namespace idlewave::machine {

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
        if (!entries_.empty() && entries_.back().end == d.start) {
            entries_.back().end = end;
        } else {
            entries_.push_back({d.start, end, stolen_});
        }
        stolen_ += d.length;
    }
    if (stolen_ == period) {
        throw InputError("noise: the detours fill the whole period, so no work would ever be done");
    }
    by_start_ = grid_of(period_, [](const Entry& entry) { return entry.start; });
    by_free_ = grid_of(period_ - stolen_, [](const Entry& entry) { return entry.free(); });
}

template <class Value>
NoiseTrace::Grid NoiseTrace::grid_of(Time range, Value value) const {
    Grid grid;
    const auto cells_wanted = static_cast<Time>(entries_.size() + 1);
    grid.shift = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(range / cells_wanted)));
    const auto cells = static_cast<std::size_t>(range >> grid.shift) + 2;
    grid.before.reserve(cells);
    std::uint32_t index = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const Time edge = static_cast<Time>(cell) << grid.shift;
        while (index < entries_.size() && value(entries_[index]) < edge) {
            ++index;
        }
        grid.before.push_back(index);
    }
    return grid;
}

Time NoiseTrace::phase(std::uint64_t seed, std::uint32_t rank) const {
    if (phase_ == Phase::given) {
        return phases_[rank % phases_.size()];
    }
    const std::uint64_t entity = phase_ == Phase::same ? ~std::uint64_t{0} : rank;
    return static_cast<Time>(draw(seed, Stream::noise_phase, entity, static_cast<std::uint64_t>(period_)));
}

/// The number of detours that begin at `position` or before.
std::size_t NoiseTrace::detours_begun(Time position) const {
    const auto [first, last] = by_start_.around(position);
    const auto found = std::partition_point(entries_.begin() + static_cast<std::ptrdiff_t>(first),
                                            entries_.begin() + static_cast<std::ptrdiff_t>(last),
                                            [position](const Entry& entry) { return entry.start <= position; });
    return static_cast<std::size_t>(found - entries_.begin());
}

/// The number of detours that begin before `free` CPU time of a period is used.
std::size_t NoiseTrace::detours_entered(Time free) const {
    const auto [first, last] = by_free_.around(free);
    const auto found = std::partition_point(entries_.begin() + static_cast<std::ptrdiff_t>(first),
                                            entries_.begin() + static_cast<std::ptrdiff_t>(last),
                                            [free](const Entry& entry) { return entry.free() < free; });
    return static_cast<std::size_t>(found - entries_.begin());
}

/// The CPU time of a period outside detours up to `position`.
Time NoiseTrace::free_of(Time position) const {
    const std::size_t begun = detours_begun(position);
    if (begun == 0) {
        return position;
    }
    const Entry& last = entries_[begun - 1];
    return last.free() + std::max<Time>(0, position - last.end);
}

Time NoiseTrace::free_before(Time phase, Time t) const {
    if (entries_.empty()) {
        return t;
    }
    const Time there = later(t, phase);
    return there / period_ * (period_ - stolen_) + free_of(there % period_) - free_of(phase);
}

/// The begin of the detour that follows the first `begun` detours; it may lie in the next period.
Time NoiseTrace::next_start(std::size_t begun) const {
    return begun < entries_.size() ? entries_[begun].start : period_ + entries_.front().start;
}

/// The number of detour `begun`, which may count on into the next period.
std::uint32_t NoiseTrace::number(std::size_t begun) const {
    return static_cast<std::uint32_t>(begun % entries_.size());
}

NoiseTrace::Completion NoiseTrace::run_from(Time next_begins, std::uint32_t next, Time phase, Time t, Time w) const {
    constexpr int few = 4;
    Time now = t;
    Time left = w;
    for (int i = 0; i < few && !silent(); ++i) {
        const Entry& detour = entries_[next];
        const Time end = later(next_begins, detour.end - detour.start);
        if (now < next_begins) {
            left -= next_begins - now;
        }
        now = std::max(now, end);
        next = number(next + std::size_t{1});
        next_begins = later(end, next_start(next == 0 ? entries_.size() : next) - detour.end);
        if (now < next_begins && left <= next_begins - now) {
            return {now + left, end, next_begins, next};
        }
    }
    return run(phase, t, w);
}

NoiseTrace::Completion NoiseTrace::run(Time phase, Time t, Time w) const {
    if (entries_.empty()) {
        return {later(t, w), 0, never, 0};
    }
    const Time position = later(t, phase) % period_;
    const std::size_t begun = detours_begun(position);
    const bool inside = begun > 0 && position < entries_[begun - 1].end;
    if (!inside) {
        const Time quiet = next_start(begun) - position;
        if (w <= quiet) {
            return {later(t, w), t, later(t, quiet), number(begun)};
        }
        return run_over_detours(t, position, free_of(position), w);
    }
    const Entry& detour = entries_[begun - 1];
    if (w > 0) {
        return run_over_detours(t, position, detour.free(), w);
    }
    // No work, so only the detour's end is awaited; at the end of a period the next detour may follow at once.
    Time out = detour.end;
    std::size_t passed = begun;
    if (out == period_ && entries_.front().start == 0) {
        out += entries_.front().end;
        passed = entries_.size() + 1;
    }
    const Time end = later(t, out - position);
    const Time next = passed <= entries_.size() ? next_start(passed)
                      : entries_.size() > 1     ? period_ + entries_[1].start
                                                : 2 * period_ + entries_.front().start;
    return {end, end, later(t, next - position), number(passed)};
}

/// On the axis of CPU time a detour is a point: convert `t` to CPU time, add the work, and convert back. The conversion
/// back takes the earliest position, so that a detour that begins exactly when the work is done is not entered. `w` >
/// 0.
NoiseTrace::Completion NoiseTrace::run_over_detours(Time t, Time position, Time free_here, Time w) const {
    const Time free_period = period_ - stolen_;
    const Time goal = later(free_here, w);
    const Time cycles = (goal - 1) / free_period;
    const Time rest = goal - cycles * free_period;
    const std::size_t entered = detours_entered(rest);
    Time whole = 0;
    if (__builtin_mul_overflow(cycles, period_, &whole)) {
        throw TimeOverflow();
    }
    const Time stolen = entered < entries_.size() ? entries_[entered].before : stolen_;
    const Time end = later(later(t, whole), rest + stolen - position);
    const Time quiet = later(end, next_start(entered) - (rest + stolen));
    return {end, end, quiet, number(entered)};
}

}  // namespace idlewave::machine
