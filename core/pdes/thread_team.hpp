#pragma once

#include <cstdint>
#include <functional>

namespace idlewave::pdes {

/// The threads of a process that simulate partitions: the caller's is number 0, the others exist while they work.
class ThreadTeam {
  public:
    using Work = std::function<void(std::uint32_t thread)>;

    /// `pin`: each thread stays on a processor of its own; the first thread takes the processor number `first`.
    ThreadTeam(std::uint32_t threads, std::uint32_t first, bool pin) : threads_(threads), first_(first), pin_(pin) {}

    /// Calls `work` on each thread, once all were started. On a thread whose work throws it calls `abort`, which makes
    /// the other threads leave. Throws the first exception, and InputError if a thread cannot be started.
    void run(const Work& work, const Work& abort) const;

  private:
    std::uint32_t threads_;
    std::uint32_t first_;
    bool pin_;
};

}  // namespace idlewave::pdes
