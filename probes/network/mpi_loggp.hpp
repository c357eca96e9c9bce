// An assessment between the two ranks of a communicator.
#pragma once

#include <mpi.h>

#include <string>
#include <type_traits>

#include "common/json.hpp"
#include "common/place.hpp"
#include "network/arguments.hpp"
#include "network/eager_limit.hpp"
#include "network/mpi_program.hpp"
#include "network/processor_clock.hpp"
#include "network/run_side.hpp"
#include "network/transports/mpi.hpp"

namespace idlewave::probe::network {

inline bool on_one_node(MPI_Comm ranks) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int size = 0;
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == 2;
}

// Both ranks of `pair` call it, each from its `place`; the first one gets the outcome. `Transports` has the one that
// the arguments name, by default MPI's messages.
template <class Transports>
AssessmentOutcome measure_between(MPI_Comm pair, const Arguments& arguments, const ProcessPlace& place) {
    const int rank = rank_of(pair);
    const bool server = rank == 1;
    const bool one_node = on_one_node(pair);
    const json::Object library = server ? json::Object() : describe_library(one_node);
    MpiControl control(MpiPair{pair, 1 - rank});
    const std::string name = arguments.transport.empty() ? MpiData::traits.name : arguments.transport;
    AssessmentOutcome outcome;
    Transports::with(name, control, connection_of(arguments, server), [&](auto& data) {
        ProcessorClock clock;
        const Side<std::decay_t<decltype(data)>, MpiControl, ProcessorClock> side{data, control, clock};
        outcome = run_side(side, server, arguments.settings, place, library);
    });
    return outcome;
}

}  // namespace idlewave::probe::network
