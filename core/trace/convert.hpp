#pragma once

#include <map>
#include <string>

#include "collectives/algorithms.hpp"
#include "collectives/program.hpp"
#include "trace/rank_trace.hpp"

namespace idlewave {

/// How a trace becomes a program.
struct ConvertOptions {
    std::map<Collective, std::string> algorithms;  ///< by name; of a collective that is not named the default
    double reduction_cost = 0;                     ///< ns of computation per byte that a reduction combines
};

/// The program that a trace is a run of: what lies between two calls is computation, as long as it took; calls become
/// instructions, with the dependencies that MPI gives them; the time inside calls is for the simulation to find.
///
/// A wildcard receive gets the source and tag that it received from. Throws InputError naming the rank's file and the
/// call where the trace is incomplete or has something that no program of this kind can have.
Program convert(const Trace& trace, const ConvertOptions& options);

}  // namespace idlewave
