#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>

namespace idlewave {

/// Lets Python stop a long reading or writing, and shows it how far it is: a few times a second, with the GIL held for
/// a moment. The callback, or None, must live as long.
class RankPoll {
  public:
    explicit RankPoll(nanobind::handle callback) : callback_(callback) {}

    void operator()(std::uint32_t done, std::uint32_t ranks) {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) {
            return;
        }
        next_ = now + interval;
        const nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            throw nanobind::python_error();
        }
        if (!callback_.is_none()) {
            callback_(done, ranks);
        }
    }

  private:
    static constexpr std::chrono::milliseconds interval{100};

    nanobind::handle callback_;
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + interval;
};

}  // namespace idlewave
