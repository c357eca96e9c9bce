// Processes of one job on one host must not measure the same core: each would be the other's noise.
//
// A measured core has a socket whose name contains the job and the core (in the abstract namespace of Linux). A name is
// given once, and is free again when its owner ends, however it ends.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/place.hpp"

namespace idlewave::probe {

class CoreReservation {
  public:
    // Does nothing for a process that is alone in its job.
    CoreReservation(const ProcessPlace& place, const std::vector<int>& cpus) {
        const std::string job = job_of(place);
        if (job.empty()) return;
        for (const int cpu : cpus) reserve(place, job, cpu);
    }
    ~CoreReservation() {
        for (const int socket : sockets_) close(socket);
    }
    CoreReservation(const CoreReservation&) = delete;
    CoreReservation& operator=(const CoreReservation&) = delete;

  private:
    void reserve(const ProcessPlace& place, const std::string& job, int cpu) {
        const std::string name = "idlewave." + std::to_string(getuid()) + "." + job + "." + std::to_string(cpu);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        // Long names differ at their end; the leading zero makes the name abstract.
        const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
        std::copy(name.end() - static_cast<std::ptrdiff_t>(length), name.end(), address.sun_path + 1);
        const int reserved = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (reserved < 0) return;  // without sockets there is no check
        sockets_.push_back(reserved);
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
        if (bind(reserved, reinterpret_cast<const sockaddr*>(&address), size) == 0 || errno != EADDRINUSE) return;
        throw failed("CPU " + std::to_string(cpu) + " of " + place.host() +
                     " is being measured by another process of this job; start one a node (srun --ntasks-per-node=1, "
                     "mpiexec --map-by node), or bind each to cores of its own");
    }

    std::vector<int> sockets_;
};

}  // namespace idlewave::probe
