#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

#include "base/time.hpp"

namespace idlewave {

/// Lets Python stop a long run, and shows it how far it is: a few times a second, with the GIL held for a moment.
class Poll {
  public:
    explicit Poll(nanobind::handle callback) : callback_(callback) {}

    void operator()(Time now) {
        const auto present = std::chrono::steady_clock::now();
        if (present < next_) {
            return;
        }
        next_ = present + std::chrono::milliseconds(100);
        const nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            throw nanobind::python_error();
        }
        if (!callback_.is_none()) {
            callback_(now);
        }
    }

  private:
    nanobind::handle callback_;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
};

}  // namespace idlewave
