#pragma once

#include <sched.h>

#include <cstdint>

namespace idlewave {

/// Keeps the calling thread on one of the processors on which it may run, as long as this lives. Where that is not
/// allowed, or there is only one, it does nothing.
class Pinned {
  public:
    /// `number`: threads with different ones get different processors, as long as there are enough.
    explicit Pinned(std::uint32_t number);
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    Pinned(Pinned&&) = delete;
    Pinned& operator=(Pinned&&) = delete;
    ~Pinned();

  private:
    cpu_set_t before_{};
    bool pinned_ = false;
};

}  // namespace idlewave
