#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "columns.hpp"
#include "loggops/differentiate.hpp"
#include "running.hpp"

namespace idlewave {

template <class Moment>
nanobind::dict level_columns(const std::vector<Moment>& finish, unsigned level) {
    const auto slope = [&](auto field) {
        return column_of<std::int64_t>(finish, [=](const Moment& moment) { return moment.level(level).*field; });
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

template <class Moment>
nanobind::dict columns_of(const Simulated<Moment>& found, bool two_levels) {
    const std::vector<Moment>& finish = found.finish;
    nanobind::dict answer;
    answer["finish"] = column_of<std::int64_t>(finish, [](const Moment& moment) { return time_of(moment); });
    answer["computation"] = column_of<std::int64_t>(finish, [](const Moment& moment) { return moment.computation(); });
    answer["network"] = level_columns(finish, 0);
    answer["node"] = two_levels ? nanobind::object(level_columns(finish, 1)) : nanobind::none();
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
        nanobind::dict answer = columns_of(result.found, machine.node.has_value());
        answer["seconds"] = result.seconds;
        return answer;
    });
}

}  // namespace idlewave
