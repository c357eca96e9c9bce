#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "pdes/run_configuration.hpp"
#include "pdes/run_statistics.hpp"
#include "pdes/transport.h"

namespace idlewave {

/// The transport to the other processes of a run, from the library that was built with the site's MPI. It stays open
/// until the process ends, because MPI can be initialised only once.
class Transport {
  public:
    /// Throws TransportError.
    explicit Transport(const std::string& library);

    [[nodiscard]] const idlewave_transport& functions() const { return *transport_; }
    [[nodiscard]] std::int32_t process() const { return transport_->process; }
    [[nodiscard]] std::int32_t processes() const { return transport_->processes; }
    void close() const;
    void abort(std::int32_t status) const { transport_->abort(status); }

  private:
    const idlewave_transport* transport_ = nullptr;
};

/// The statistics of a run, summed over all processes.
struct RunReport {
    pdes::RunStatistics statistics;
    std::uint64_t digest = 0;          ///< of the states of all LPs at the end
    std::uint64_t peak_rss_bytes = 0;  ///< sum over the processes of the largest memory of each
};

/// The configuration with what only this process has: the callback for progress, or None, and the transport, null if
/// there is one process. The callback must live as long as the run.
pdes::RunConfiguration configured(pdes::RunConfiguration configuration, const nanobind::object& progress,
                                  const Transport* transport);

/// All processes of a run call this together. Throws TransportError.
RunReport report_of(pdes::RunStatistics statistics, std::uint64_t digest, const idlewave_transport* transport);

}  // namespace idlewave
