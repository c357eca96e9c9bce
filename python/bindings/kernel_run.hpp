#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "pdes/legs.hpp"
#include "pdes/wire.h"

namespace idlewave {

/// The wire to the other processes of a run, from the library that was built with the site's MPI. It stays open until
/// the process ends, since MPI can be begun only once.
class Wire {
  public:
    /// Throws TransportError.
    explicit Wire(const std::string& library);

    [[nodiscard]] const idlewave_wire& functions() const { return *wire_; }
    [[nodiscard]] std::int32_t process() const { return wire_->process; }
    [[nodiscard]] std::int32_t processes() const { return wire_->processes; }
    void close() const;
    void abort(std::int32_t status) const { wire_->abort(status); }

  private:
    const idlewave_wire* wire_ = nullptr;
};

/// A value of a dict by its name.
template <class T>
T get(const nanobind::dict& values, const char* name) {
    return nanobind::cast<T>(values[name]);
}

/// Who takes part in a run, and how it is kept, as `Manner.core` of idlewave.kernel says; `wire`: null if one process
/// is alone.
pdes::Crew crew_of(const nanobind::dict& manner, const nanobind::object& progress, const Wire* wire);

/// What a run counted, of all processes.
nanobind::dict counts_of(const pdes::Counted& counted, std::uint64_t digest, const idlewave_wire* wire);

}  // namespace idlewave
