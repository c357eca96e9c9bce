#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "columns.hpp"
#include "kernel_run.hpp"
#include "loggops/simulate_partitioned.hpp"
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
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.seconds;
    answer["share_by_one_thread"] = result.found.share_by_one_thread;
    return answer;
}

/// The same in partitions: on threads, and in several processes. Only the first process has finish times.
template <class S>
nanobind::dict finish_times_partitioned(const S& source, const machine::Machine& machine, std::uint64_t seed,
                                        const pdes::RunConfiguration& given, const nanobind::object& progress,
                                        const Transport* transport) {
    const pdes::RunConfiguration configuration = configured(given, progress, transport);
    loggops::PartitionedSimulation<Time> result;
    {
        const nanobind::gil_scoped_release released;
        result = loggops::simulate_partitioned(source, machine, seed, configuration);
    }
    nanobind::dict answer;
    put_finish(answer, std::move(result.found.finish));
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.statistics.init_seconds + result.statistics.seconds;
    answer["run"] = report_of(std::move(result.statistics), result.digest, configuration.transport);
    return answer;
}

}  // namespace idlewave
