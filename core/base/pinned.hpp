#pragma once

#include <sched.h>

#include <cstdint>

namespace idlewave {

/// Pins the calling thread to one of its allowed processors for the lifetime of the object. It does nothing where
/// pinning is not permitted or only one processor is allowed.
class Pinned {
  public:
    /// Threads with different `number`s get different processors, if there are enough.
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
