// Cores that something else uses, too: samples wait for others, and are taken again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/ticks.hpp"
#include "network/reference_computation.hpp"

namespace idlewave::probe {

// Says where a core was shared, as far as earlier times show how long an unshared one takes, and waits for cores that
// are not. All ranks that conduct samples have the same times, and so the same answers. Cores that become slower for
// good count as shared: that costs time, and no sample.
class SharedCores {
  public:
    // The samples begin at `begin_ns`, by CLOCK_MONOTONIC.
    explicit SharedCores(std::int64_t begin_ns) : begin_ns_(begin_ns) {}

    bool shared(std::int64_t slowest_ns) {
        least_ns_ = std::min(least_ns_, slowest_ns);
        return 100 * slowest_ns > 112 * least_ns_;
    }

    bool shared(const ReferenceTimes& reference) {
        const auto [lesser, greater] = std::minmax(reference.before_ns, reference.after_ns);
        return shared(lesser) || shared(greater);
    }

    // Waits until no core is shared, and returns whether that came. A core may be shared for ever: so a wait ends after
    // 20 ms, at the deadline, and when all waits have taken four fifths of the time so far. `slowest_ns()` is the time
    // of the reference computation on the slowest rank, now; `go_on(wanted)` is rank 0's `wanted` on all ranks.
    template <class Slowest, class GoOn>
    bool await_unshared(double deadline_ns, Slowest slowest_ns, GoOn go_on) {
        const std::int64_t from_ns = nanoseconds(CLOCK_MONOTONIC);
        bool unshared = !shared(slowest_ns());
        while (!unshared && go_on(may_wait(from_ns, deadline_ns))) unshared = !shared(slowest_ns());
        waited_ns_ += nanoseconds(CLOCK_MONOTONIC) - from_ns;
        return unshared;
    }

    // A time in which something else was measured does not count.
    void leave_out(std::int64_t ns) { begin_ns_ += ns; }

  private:
    [[nodiscard]] bool may_wait(std::int64_t from_ns, double deadline_ns) const {
        constexpr std::int64_t longest_ns = 20'000'000;
        const std::int64_t now_ns = nanoseconds(CLOCK_MONOTONIC);
        const std::int64_t wait_ns = now_ns - from_ns;
        const std::int64_t since_ns = now_ns - begin_ns_;
        return wait_ns < longest_ns && static_cast<double>(since_ns) < deadline_ns &&
               5 * (waited_ns_ + wait_ns) < 4 * since_ns;
    }

    std::int64_t begin_ns_;
    std::int64_t least_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t waited_ns_ = 0;
};

// When waiting for the samples of an item ends, and taking them again, since the beginning. The first round takes all
// items, so there each has an equal share of the time.
inline double deadline_ns(bool first_round, std::size_t index, std::size_t items, double all_ns) {
    return first_round ? all_ns * static_cast<double>(index + 1) / static_cast<double>(items) : all_ns;
}

// How often a sample is taken in a round, at most, until no core was shared beside it: the fewer bytes, the more often.
inline int most_tries(std::int64_t bytes) {
    if (bytes > 2 << 20) return 1;
    return bytes > 64 << 10 ? 3 : 6;
}

}  // namespace idlewave::probe
