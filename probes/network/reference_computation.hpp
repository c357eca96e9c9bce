// A computation of fixed length, whose time shows whether something else uses the core at this moment. With
// simultaneous multithreading (SMT) the threads of a core share its arithmetic units, even those of different virtual
// machines, and a ping-pong hardly shows that, as it mostly waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/ticks.hpp"

namespace idlewave::probe {

// The time of 6,000 additions; six at a time do not depend on each other. ns.
inline std::int64_t timed_additions() {
    constexpr int rounds = 1000;
    std::uint64_t a = 1;
    std::uint64_t b = 2;
    std::uint64_t c = 3;
    std::uint64_t d = 4;
    std::uint64_t e = 5;
    std::uint64_t f = 6;
    const std::int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    for (int i = 0; i < rounds; ++i) {
        a += 3, b += 3, c += 3, d += 3, e += 3, f += 3;
        asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));  // each is made, in a register
    }
    return nanoseconds(CLOCK_MONOTONIC) - begin;
}

// The shortest of some: for microseconds after a system call they take longer.
inline std::int64_t reference_ns() {
    constexpr int times = 6;
    std::int64_t least = timed_additions();
    for (int i = 1; i < times; ++i) least = std::min(least, timed_additions());
    return least;
}

// The time of the reference computation on the slowest rank, just before and just after a sample; ns.
struct ReferenceTimes {
    std::int64_t before_ns = 0;
    std::int64_t after_ns = 0;
};

// The time since the beginning, of `seconds_ns` in all, until which samples of an item may wait and be taken again: in
// the first round, in which each is taken, they have shares of the time.
inline double due_ns(bool first_round, std::size_t item, std::size_t items, double seconds_ns) {
    return first_round ? seconds_ns * static_cast<double>(item + 1) / static_cast<double>(items) : seconds_ns;
}

// Says where a core was shared, as far as earlier times show how long an unshared one takes, and waits for cores that
// are not. All ranks that conduct samples have the same times, and so the same answers.
class SharedCores {
  public:
    bool shared(std::int64_t slowest_ns) {
        least_ns_ = std::min(least_ns_, slowest_ns);
        return 100 * slowest_ns > 112 * least_ns_;
    }

    bool shared(const ReferenceTimes& reference) {
        const bool before = shared(reference.before_ns);
        return shared(reference.after_ns) || before;
    }

    // Waits until no core is shared, and returns whether that came: for 20 ms at most, and for four fifths of all the
    // time at most, since a core may be shared for ever; not beyond `until_ns` since the beginning. `slowest_ns()` is
    // the time of the reference computation on the slowest rank, now; `agree(more)` is rank 0's `more` on all ranks:
    // whether there is time to wait.
    template <class Slowest, class Agree>
    bool await_unshared(double until_ns, Slowest slowest_ns, Agree agree) {
        constexpr std::int64_t longest_ns = 20'000'000;
        const std::int64_t from_ns = nanoseconds(CLOCK_MONOTONIC);
        while (shared(slowest_ns())) {
            const std::int64_t now_ns = nanoseconds(CLOCK_MONOTONIC);
            const std::int64_t wait_ns = now_ns - from_ns;
            const std::int64_t since_ns = now_ns - begin_ns_;
            if (!agree(wait_ns < longest_ns && static_cast<double>(since_ns) < until_ns &&
                       5 * (waited_ns_ + wait_ns) < 4 * since_ns)) {
                waited_ns_ += wait_ns;
                return false;
            }
        }
        waited_ns_ += nanoseconds(CLOCK_MONOTONIC) - from_ns;
        return true;
    }

  private:
    std::int64_t least_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t begin_ns_ = nanoseconds(CLOCK_MONOTONIC);
    std::int64_t waited_ns_ = 0;
};

}  // namespace idlewave::probe
