// The transports that need no MPI, by name.
#pragma once

#include <string>
#include <vector>

#include "network/failure.hpp"
#include "network/rendezvous_point.hpp"
#include "network/transports/tcp.hpp"

namespace idlewave::network {

inline std::vector<std::string> transport_names() {
    std::vector<std::string> names = {TcpData::name};
    return names;
}

// Calls `use` with the data plane of that name, connected to the other side's.
template <ControlPlane Control, class Use>
void with_transport(const std::string& name, Control& control, const SocketPlace& place, int max_size,
                    [[maybe_unused]] const std::string& provider, Use use) {
    if (name == TcpData::name) {
        TcpData data(control, place, max_size);
        return use(data);
    }
    throw WrongUse("the transport '" + name + "' is not known here");
}

}  // namespace idlewave::network
