// The MPI library's own limit of eager messages: a label beside the measurement.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "network/mpi_tool.hpp"

namespace idlewave::probe::network {

// The limit, by the variable of the transport that carries this pair's messages.
struct Eager {
    std::string variable;
    long long limit = -1;
};

// Open MPI: the limit of the byte transfer layer, if its own point-to-point layer (ob1) is in use. MPICH (ch4): within
// a node a message beyond one cell of the queue is sent by rendezvous. Else the limit is not known.
inline Eager eager_limit(const std::map<std::string, long long>& variables, bool one_node) {
    std::vector<std::string> candidates;
    if (variables.count("pml_ob1_priority") != 0) {
        if (one_node) candidates = {"btl_sm_eager_limit", "btl_vader_eager_limit"};
        candidates.emplace_back("btl_tcp_eager_limit");
    } else if (one_node && library_version().find("ch4") != std::string::npos) {
        candidates = {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"};
    }
    for (const std::string& name : candidates) {
        const auto found = variables.find(name);
        if (found != variables.end()) return {name, found->second};
    }
    return {};
}

// The summary's first entries.
inline json::Object describe_library(bool one_node) {
    const auto variables = protocol_variables();
    const Eager eager = eager_limit(variables, one_node);
    const bool known = eager.limit >= 0;
    json::Object values;
    for (const auto& [name, value] : variables) values.add(name, value);
    json::Object object;
    object.add("library", library_version());
    object.add("eager_variable", known ? json::value(eager.variable) : json::null());
    object.add("eager_limit", known ? json::value(eager.limit) : json::null());
    return object.add("variables", values);
}

}  // namespace idlewave::probe::network
