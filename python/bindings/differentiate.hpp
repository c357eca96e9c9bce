#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "columns.hpp"
#include "loggops/differentiate.hpp"
#include "running.hpp"

namespace idlewave {

/// One level's slopes of what `slopes_of` finds in each row.
template <class Rows, class SlopesOf>
nanobind::dict level_columns(const Rows& rows, SlopesOf slopes_of, unsigned level) {
    const auto slope = [&](auto field) {
        return column_of<std::int64_t>(rows, [=](const auto& row) { return slopes_of(row).level(level).*field; });
    };
    nanobind::dict columns;
    columns["L"] = slope(&LevelSlopes::L);
    columns["o"] = slope(&LevelSlopes::o);
    columns["o_s"] = slope(&LevelSlopes::o_s);
    columns["o_r"] = slope(&LevelSlopes::o_r);
    columns["g"] = slope(&LevelSlopes::g);
    columns["G"] = slope(&LevelSlopes::G);
    columns["O"] = slope(&LevelSlopes::O);
    return columns;
}

template <class Rows, class SlopesOf>
nanobind::dict slope_columns(const Rows& rows, bool two_levels, SlopesOf slopes_of) {
    nanobind::dict columns;
    columns["computation"] =
        column_of<std::int64_t>(rows, [=](const auto& row) { return slopes_of(row).computation(); });
    columns["network"] = level_columns(rows, slopes_of, 0);
    columns["node"] = two_levels ? nanobind::object(level_columns(rows, slopes_of, 1)) : nanobind::none();
    return columns;
}

/// What the ranks' slopes are: each row one set, and of each rank which set it has; or None if each has its own.
template <unsigned Levels>
void put_slopes(nanobind::dict& answer, const Differentiation<Levels>& /*observer*/,
                const std::vector<Slopes<Levels>>& finish, bool two_levels) {
    answer["sets"] = slope_columns(finish, two_levels, std::identity());
    answer["set"] = nanobind::none();
}
inline void put_slopes(nanobind::dict& answer, const SharedDifferentiation& observer,
                       const std::vector<SharedSlopes>& finish, bool two_levels) {
    const auto slopes_of = [](const KnownSlopes& known) -> const Slopes<2>& { return known.slopes; };
    answer["sets"] = slope_columns(observer.table().all(), two_levels, slopes_of);
    answer["set"] = column_of<std::uint32_t>(finish, [](const SharedSlopes& moment) { return moment.number(); });
}

template <class Observer>
nanobind::dict columns_of(const Observer& observer, const Simulated<typename Observer::Moment>& found,
                          bool two_levels) {
    using Moment = typename Observer::Moment;
    const std::vector<Moment>& finish = found.finish;
    Moment last = {};
    for (const Moment& moment : finish) {
        last = latest(last, moment);
    }
    nanobind::dict answer;
    answer["finish"] = column_of<std::int64_t>(finish, [](const Moment& moment) { return time_of(moment); });
    answer["last"] = slope_columns(std::array{last}, two_levels, std::identity());
    put_slopes(answer, observer, finish, two_levels);
    answer["time"] = time_of(last);
    answer["messages"] = found.messages;
    return answer;
}

/// A simulation with the derivatives of every rank's finish time. For each source in a file of its own, since each
/// takes a compiler most of a minute.
template <class S>
nanobind::dict derivatives(const S& source, const Machine& machine, std::uint64_t seed, std::uint32_t threads,
                           const nanobind::object& progress) {
    return differentiate(machine, [&, begin = Clock::now()](auto& observer) {
        const auto result = run_timed(source, machine, seed, threads, progress, observer, begin);
        nanobind::dict answer = columns_of(observer, result.found, machine.node.has_value());
        answer["seconds"] = result.seconds;
        return answer;
    });
}

}  // namespace idlewave
