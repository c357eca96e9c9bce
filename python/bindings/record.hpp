#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "kernel_run.hpp"
#include "loggops/simulate_partitioned.hpp"
#include "running.hpp"

namespace idlewave {

/// What was recorded, as columns. The critical path needs all ranks and times.
nanobind::dict answer_of(Recorder& recorder, const std::vector<CausedTime>& finish, const Machine& machine,
                         const RecordingScope& recording);

/// A simulation that records. For each source in a file of its own, since each takes a compiler minutes.
template <class S>
nanobind::dict record(const S& source, const Machine& machine, std::uint64_t seed, std::uint32_t threads,
                      const nanobind::object& progress, const RecordingScope& recording) {
    Recorder recorder(source.ranks(), recording);
    const Timed<CausedTime> result = run_timed(source, machine, seed, threads, progress, recorder);
    nanobind::dict answer = answer_of(recorder, result.found.finish, machine, recording);
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.seconds;
    return answer;
}

/// The same in partitions: on threads, and in several processes. Only the first process has what was recorded.
template <class S>
nanobind::dict record_partitioned(const S& source, const Machine& machine, std::uint64_t seed,
                                  const pdes::RunConfiguration& given, const nanobind::object& progress,
                                  const Transport* transport, const RecordingScope& recording) {
    const pdes::RunConfiguration configuration = configured(given, progress, transport);
    Recorder recorder(source.ranks(), recording);
    PartitionedSimulation<CausedTime> result;
    {
        const nanobind::gil_scoped_release released;
        result = simulate_partitioned(source, machine, seed, configuration, recorder);
    }
    nanobind::dict answer = answer_of(recorder, result.found.finish, machine, recording);
    answer["messages"] = result.found.messages;
    answer["seconds"] = result.statistics.init_seconds + result.statistics.seconds;
    answer["run"] = report_of(std::move(result.statistics), result.digest, configuration.transport);
    return answer;
}

}  // namespace idlewave
