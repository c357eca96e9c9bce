#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "kernel_run.hpp"
#include "loggops/differentiate.hpp"
#include "running.hpp"

namespace idlewave {

template <class Rows>
nanobind::dict level_columns(const Rows& rows, unsigned level) {
    const auto slope = [&](auto field) {
        return column_of<std::int64_t>(rows, [=](const auto& moment) { return moment.level(level).*field; });
    };
    nanobind::dict columns;
    columns["L"] = slope(&loggops::LevelSlopes::L);
    columns["o"] = slope(&loggops::LevelSlopes::o);
    columns["o_s"] = slope(&loggops::LevelSlopes::o_s);
    columns["o_r"] = slope(&loggops::LevelSlopes::o_r);
    columns["g"] = slope(&loggops::LevelSlopes::g);
    columns["G"] = slope(&loggops::LevelSlopes::G);
    columns["O"] = slope(&loggops::LevelSlopes::O);
    columns["O_s"] = slope(&loggops::LevelSlopes::O_s);
    columns["O_r"] = slope(&loggops::LevelSlopes::O_r);
    columns["c"] = slope(&loggops::LevelSlopes::c);
    columns["o_p"] = slope(&loggops::LevelSlopes::o_p);
    return columns;
}

template <class Rows>
nanobind::dict slope_columns(const Rows& rows, const machine::Machine& machine) {
    nanobind::dict columns;
    columns["computation"] = column_of<std::int64_t>(rows, [](const auto& moment) { return moment.computation(); });
    const auto level = [&rows](machine::LevelKind kind, bool there) {
        return there ? nanobind::object(level_columns(rows, static_cast<unsigned>(kind))) : nanobind::none();
    };
    columns["network"] = level(machine::LevelKind::network, true);
    columns["node"] = level(machine::LevelKind::node, machine.node.has_value());
    columns["shared_buffer"] = level(machine::LevelKind::shared_buffer, machine.shared_buffer.has_value());
    columns["one_sided"] = level(machine::LevelKind::one_sided, machine.one_sided.has_value());
    return columns;
}

/// The ranks' slopes: each row one set, and of each rank which set it has; or None if each has its own.
template <unsigned Levels, bool Posting>
void put_slopes(nanobind::dict& answer, const std::vector<loggops::Slopes<Levels, Posting>>& finish,
                const machine::Machine& machine) {
    answer["sets"] = slope_columns(finish, machine);
    answer["set"] = nanobind::none();
}
inline void put_slopes(nanobind::dict& answer, const std::vector<loggops::SharedSlopes>& finish,
                       const machine::Machine& machine) {
    std::unordered_map<const loggops::InternedSlopes*, std::uint32_t> numbers;
    std::vector<loggops::SharedSlopes> sets;
    std::vector<std::uint32_t> set_of_rank;
    set_of_rank.reserve(finish.size());
    for (const loggops::SharedSlopes& moment : finish) {
        const auto [number, added] = numbers.try_emplace(moment.interned(), static_cast<std::uint32_t>(sets.size()));
        if (added) {
            sets.push_back(moment);
        }
        set_of_rank.push_back(number->second);
    }
    answer["sets"] = slope_columns(sets, machine);
    answer["set"] = column(std::move(set_of_rank));
}

/// The ranks' finish times with their slopes, and the last of them.
template <class Moment>
nanobind::dict columns_of(const std::vector<Moment>& finish, const machine::Machine& machine) {
    Moment last = {};
    for (const Moment& moment : finish) {
        last = latest(last, moment);
    }
    nanobind::dict answer;
    answer["finish"] = column_of<std::int64_t>(finish, [](const Moment& moment) { return time_of(moment); });
    answer["last"] = slope_columns(std::array{last}, machine);
    put_slopes(answer, finish, machine);
    answer["time"] = time_of(last);
    return answer;
}

/// A simulation with the derivatives of every rank's finish time. For each source in a file of its own, since each
/// takes a compiler most of a minute.
template <class S>
nanobind::dict derivatives(const S& source, const machine::Machine& machine, std::uint64_t seed, std::uint32_t threads,
                           const nanobind::object& progress) {
    return loggops::differentiate(machine, [&, begin = Clock::now()](auto& observer) {
        const auto result = run_timed(source, machine, seed, threads, progress, observer, begin);
        nanobind::dict answer = columns_of(result.found.finish, machine);
        put_run(answer, result);
        return answer;
    });
}

/// The same in partitions: on threads, and in several processes. Only the first process has finish times.
template <class S>
nanobind::dict derivatives_partitioned(const S& source, const machine::Machine& machine, std::uint64_t seed,
                                       const pdes::RunConfiguration& given, const nanobind::object& progress,
                                       const Transport* transport) {
    loggops::refuse_variation(machine);
    const pdes::RunConfiguration configuration = configured(given, progress, transport);
    // The slopes of levels that the machine does not have stay 0.
    loggops::FullDifferentiation observer;
    loggops::PartitionedSimulation<loggops::AllSlopes> result =
        run_partitioned(source, machine, seed, configuration, observer);
    nanobind::dict answer = columns_of(result.found.finish, machine);
    put_run(answer, std::move(result), configuration.transport);
    return answer;
}

}  // namespace idlewave
