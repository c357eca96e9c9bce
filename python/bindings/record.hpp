#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "kernel_run.hpp"
#include "loggops/recorder.hpp"
#include "running.hpp"

namespace idlewave {

/// What was recorded, as columns. The critical path needs all ranks and times.
nanobind::dict answer_of(loggops::Recorder& recorder, const std::vector<loggops::CausedTime>& finish,
                         const machine::Machine& machine, const loggops::RecordingScope& recording);

/// A simulation that records. For each source in a file of its own, since each takes a compiler minutes.
template <class S>
nanobind::dict record(const S& source, const machine::Machine& machine, std::uint64_t seed, std::uint32_t threads,
                      const nanobind::object& progress, const loggops::RecordingScope& recording) {
    loggops::Recorder recorder(source.ranks(), recording);
    const Timed<loggops::CausedTime> result = run_timed(source, machine, seed, threads, progress, recorder);
    nanobind::dict answer = answer_of(recorder, result.found.finish, machine, recording);
    put_run(answer, result);
    answer["share_by_one_thread"] = result.found.share_by_one_thread;
    return answer;
}

/// The same in partitions: on threads, and in several processes. Only the first process has what was recorded.
template <class S>
nanobind::dict record_partitioned(const S& source, const machine::Machine& machine, std::uint64_t seed,
                                  const pdes::RunConfiguration& given, const nanobind::object& progress,
                                  const Transport* transport, const loggops::RecordingScope& recording) {
    const pdes::RunConfiguration configuration = configured(given, progress, transport);
    loggops::Recorder recorder(source.ranks(), recording);
    loggops::PartitionedSimulation<loggops::CausedTime> result =
        run_partitioned(source, machine, seed, configuration, recorder);
    nanobind::dict answer = answer_of(recorder, result.found.finish, machine, recording);
    put_run(answer, std::move(result), configuration.transport);
    return answer;
}

}  // namespace idlewave
