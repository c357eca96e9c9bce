// The list of transports, a line each. LocalTransports connect any two processes; loggp.cpp adds those of MPI before
// them. The build of a probe defines IDLEWAVE_LIBFABRIC and IDLEWAVE_UCX if there are these libraries.
#pragma once

#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/json.hpp"
#include "network/connection.hpp"
#include "network/summary.hpp"
#include "network/transport.hpp"
#include "network/transports/shm.hpp"
#include "network/transports/tcp.hpp"
#include "network/transports/udp.hpp"
#include "network/transports/unix.hpp"
#ifdef IDLEWAVE_LIBFABRIC
#include "network/transports/libfabric.hpp"
#endif
#ifdef IDLEWAVE_UCX
#include "network/transports/ucx.hpp"
#endif

namespace idlewave::probe::network {

template <DataPlane... Data>
struct TransportList {
    template <DataPlane... First>
    using behind = TransportList<First..., Data...>;

    static std::vector<std::string> names() { return {Data::traits.name...}; }

    // For --transports: an object for each transport.
    static std::string describe_all() {
        const std::vector<json::Object> all = {
            json::Object().add("name", Data::traits.name).append(describe(Data::traits))...};
        return json::value(all).text;
    }

    // Connects the transport of that name to the other side's, and calls `use` with it.
    template <ControlPlane Control, class Use>
    static void with(const std::string& name, Control& control, const Connection& connection, const Use& use) {
        const auto run = [&]<class D>(D* /*type*/) {
            D data(control, connection);
            use(data);
            return true;
        };
        const bool known = ((name == Data::traits.name && run(static_cast<Data*>(nullptr))) || ...);
        if (!known) throw refused("the transport '" + name + "' is not known here");
    }
};

using LocalTransports = TransportList<TcpData, UdpData, UnixData,
#ifdef IDLEWAVE_LIBFABRIC
                                      FabricData,
#endif
#ifdef IDLEWAVE_UCX
                                      UcxData,
#endif
                                      ShmData>;

}  // namespace idlewave::probe::network
