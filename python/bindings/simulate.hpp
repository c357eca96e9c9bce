#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "columns.hpp"
#include "kernel_run.hpp"
#include "running.hpp"

namespace idlewave {

/// The finish times of a simulation. For each source in a file of its own, which are compiled at the same time.
template <class S>
nanobind::dict finish_times(const S& source, const machine::Machine& machine, std::uint64_t seed, std::uint32_t threads,
                            const nanobind::object& progress) {
    loggops::NoObserver observer;
    Timed<Time> result = run_timed(source, machine, seed, threads, progress, observer);
    nanobind::dict answer;
    put_finish(answer, std::move(result.found.finish));
    put_run(answer, result);
    answer["share_by_one_thread"] = result.found.share_by_one_thread;
    return answer;
}

/// The same in partitions: on threads, and in several processes. Only the first process has finish times.
template <class S>
nanobind::dict finish_times_partitioned(const S& source, const machine::Machine& machine, std::uint64_t seed,
                                        const pdes::RunConfiguration& given, const nanobind::object& progress,
                                        const Transport* transport) {
    const pdes::RunConfiguration configuration = configured(given, progress, transport);
    loggops::NoObserver observer;
    loggops::PartitionedSimulation<Time> result = run_partitioned(source, machine, seed, configuration, observer);
    nanobind::dict answer;
    put_finish(answer, std::move(result.found.finish));
    put_run(answer, std::move(result), configuration.transport);
    return answer;
}

}  // namespace idlewave
