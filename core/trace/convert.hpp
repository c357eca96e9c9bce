#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "collectives/algorithm_rules.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/program.hpp"
#include "trace/cold_caches.hpp"
#include "trace/computation_times.hpp"
#include "trace/rank_trace.hpp"

namespace idlewave::trace {

/// A point in the run of each rank.
struct TracePoint {
    enum class Kind : std::uint8_t { none, calls, time, pcontrol };

    Kind kind = Kind::none;
    /// How many calls of the rank come before it; ns since the first rank left MPI_Init; or the number of the call of
    /// MPI_Pcontrol after which it is, from 1 on.
    std::uint64_t value = 0;
};

/// The options of the conversion of a trace to a program.
struct ConvertOptions {
    std::map<collectives::Collective, std::string>
        algorithms;             ///< names of algorithms; a collective that is missing uses its default
    double reduction_cost = 0;  ///< ns of computation per byte reduced
    /// Choose for collectives without a name in `algorithms` whose ranks have equal counts.
    collectives::AlgorithmRules rules = {};
    ColdCaches cold_caches = {};
    bool resolve_wildcards = true;  ///< receives that name no source take the recorded message; else any
    bool wall_gaps = false;         ///< computations keep the waits for a core that were recorded in them
    ComputationOptions computation = {};
    bool cut = false;      ///< use a trace that ended early up to its last consistent point
    TracePoint from = {};  ///< leave out what comes before the first consistent point after it
    TracePoint to = {};    ///< leave out what comes after the last consistent point before it
};

/// Converts a trace to the program that it is a run of. The time between two calls becomes computation of the same
/// length, unless the options say otherwise. Calls become instructions with the dependencies that MPI defines. The time
/// inside calls is dropped: the simulation determines it. The extra time of cold caches is added to the computation
/// before a call.
///
/// A wildcard receive gets the tag of the message that it received, and with `resolve_wildcards` its source. Throws an
/// InputError with the file and the call if the trace is incomplete, unless it may be cut, or has a call that cannot be
/// converted.
collectives::Program convert(const Trace& trace, const ConvertOptions& options);

}  // namespace idlewave::trace
