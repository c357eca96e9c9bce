// The transports that need no MPI, by name. Whoever builds the program says which libraries it has:
// IDLEWAVE_LIBFABRIC and IDLEWAVE_UCX.
#pragma once

#include <string>
#include <vector>

#include "common/failure.hpp"
#include "network/rendezvous_point.hpp"
#include "network/transports/shm.hpp"
#include "network/transports/tcp.hpp"
#include "network/transports/udp.hpp"
#ifdef IDLEWAVE_LIBFABRIC
#include "network/transports/libfabric.hpp"
#endif
#ifdef IDLEWAVE_UCX
#include "network/transports/ucx.hpp"
#endif

namespace idlewave::probe::network {

inline std::vector<std::string> transport_names() {
    std::vector<std::string> names = {TcpData::name, UdpData::name, ShmData::name};
#ifdef IDLEWAVE_LIBFABRIC
    names.emplace_back(FabricData::name);
#endif
#ifdef IDLEWAVE_UCX
    names.emplace_back(UcxData::name);
#endif
    return names;
}

// Calls `use` with the data plane of that name, connected to the other side's.
template <ControlPlane Control, class Use>
void with_transport(const std::string& name, Control& control, const SocketPlace& place, int max_size,
                    [[maybe_unused]] const std::string& provider, Use use) {
    const auto run = [&use](auto&& data) { use(data); };
    if (name == TcpData::name) return run(TcpData(control, place, max_size));
    if (name == UdpData::name) return run(UdpData(control, place, max_size));
    if (name == ShmData::name) return run(ShmData(control, place, max_size));
#ifdef IDLEWAVE_LIBFABRIC
    if (name == FabricData::name) return run(FabricData(control, max_size, provider));
#endif
#ifdef IDLEWAVE_UCX
    if (name == UcxData::name) return run(UcxData(control, max_size));
#endif
    throw refused("the transport '" + name + "' is not known here");
}

}  // namespace idlewave::probe::network
