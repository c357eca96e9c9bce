#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "pdes/segmented_run.hpp"
#include "pdes/transport.h"

namespace idlewave {

/// The transport to the other processes of a run, from the library that was built with the site's MPI. It stays open
/// until the process ends, since MPI can be begun only once.
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

/// A value of a dict by its name.
template <class T>
T get(const nanobind::dict& values, const char* name) {
    return nanobind::cast<T>(values[name]);
}

/// The run configuration that `RunConfiguration.core` of idlewave.kernel gives as a dict; `transport`: null if there is
/// one process.
pdes::RunConfiguration configuration_of(const nanobind::dict& given, const nanobind::object& progress,
                                        const Transport* transport);

/// What a run counted, of all processes.
nanobind::dict counts_of(const pdes::RunStatistics& run, std::uint64_t digest, const idlewave_transport* transport);

}  // namespace idlewave
