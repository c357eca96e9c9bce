#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace idlewave {

/// Simulated times and durations: integer picoseconds. int64 holds 106 days.
using Time = std::int64_t;

/// Later than every event.
inline constexpr Time never = std::numeric_limits<Time>::max();

inline constexpr Time picoseconds_per_nanosecond = 1000;

/// A simulated time left the range of int64 picoseconds.
class TimeOverflow : public std::overflow_error {
  public:
    TimeOverflow() : std::overflow_error("a simulated time exceeds 106 days (int64 picoseconds)") {}
};

/// Stores a duration of `ns` nanoseconds in `time`. Returns whether it can be represented; if not, `time` is as before.
[[nodiscard, gnu::always_inline]] constexpr bool from_nanoseconds(std::uint64_t ns, Time& time) {
    // `ns` is unsigned and `time` signed, for which __builtin_mul_overflow takes more instructions.
    constexpr auto most_ns = static_cast<std::uint64_t>(never / picoseconds_per_nanosecond);
    if (ns > most_ns) [[unlikely]] {
        return false;
    }
    time = static_cast<Time>(ns) * picoseconds_per_nanosecond;
    return true;
}

/// The later of two times. A moment (loggops/) is a time with a derivative or a cause; it has its own overloads of
/// these functions.
constexpr Time latest(Time a, Time b) {
    return a < b ? b : a;
}
/// The latest of three; of equal ones the first.
template <class Moment>
[[gnu::always_inline]] inline Moment latest(const Moment& a, const Moment& b, const Moment& c) {
    return latest(a, latest(b, c));
}
constexpr Time time_of(Time t) {
    return t;
}
constexpr bool same(Time a, Time b) {
    return a == b;
}

/// `t + span`; throws TimeOverflow instead of wrapping.
[[gnu::always_inline]] inline Time later(Time t, Time span) {
    Time sum = 0;
    if (__builtin_add_overflow(t, span, &sum)) {
        throw TimeOverflow();
    }
    return sum;
}

}  // namespace idlewave
