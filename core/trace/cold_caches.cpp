#include "trace/cold_caches.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace idlewave::trace {
namespace {

__extension__ using Wide = __int128;  // products of times and sizes

/// The quotient to the nearest whole number, halves up; both are positive.
std::int64_t quotient(Wide numerator, Wide denominator) {
    return static_cast<std::int64_t>((numerator + denominator / 2) / denominator);
}

/// The time at `x`: linear between the rows, and from `before` to the first; constant beyond the last. `at` is the
/// member of a row that ascends.
template <class Row, class At>
Time interpolated(const std::vector<Row>& rows, At Row::* at, At x, const Row& before) {
    const auto next = std::ranges::lower_bound(rows, x, {}, at);
    if (next == rows.end()) {
        return rows.empty() ? 0 : rows.back().time;
    }
    const Row& lower = next == rows.begin() ? before : *(next - 1);
    if (x <= lower.*at) {
        return lower.time;
    }
    const Row& upper = *next;
    const Wide rise = static_cast<Wide>(upper.time) - lower.time;
    const auto beyond = static_cast<Wide>(x - lower.*at);
    return lower.time + static_cast<Time>(rise * beyond / static_cast<Wide>(upper.*at - lower.*at));
}

}  // namespace

Time ColdCaches::call_time(std::int64_t computed) const {
    return interpolated(calls, &CallTime::after, computed, {});
}

Time ColdCaches::buffer_time(std::uint64_t size) const {
    if (buffers.size() > 1 && size > buffers.back().size) {
        constexpr Wide longest = std::numeric_limits<Time>::max();
        const BufferTime& last = buffers.back();
        const BufferTime& before = buffers[buffers.size() - 2];
        const Wide rise = static_cast<Wide>(last.time) - before.time;
        return static_cast<Time>(std::min(last.time + rise * (size - last.size) / (last.size - before.size), longest));
    }
    return interpolated(buffers, &BufferTime::size, size, buffers.empty() ? BufferTime{} : buffers.front());
}

std::int64_t CacheUse::call() {
    if (costs_.calls.empty()) {
        return 0;
    }
    const std::int64_t computed = computed_ - at_call_;
    at_call_ = computed_;
    return quotient(costs_.call_time(computed), picoseconds_per_nanosecond);
}

std::int64_t CacheUse::use(const Buffer& buffer, std::initializer_list<std::uint64_t> sizes) {
    if (costs_.buffers.empty() || std::ranges::none_of(sizes, [](std::uint64_t size) { return size > 0; })) {
        return 0;
    }
    Wide of_both_ends = 0;
    for (const std::uint64_t size : sizes) {
        of_both_ends += size > 0 ? costs_.buffer_time(size) : 0;
    }
    const auto size_bits = static_cast<std::uint8_t>(std::bit_width(std::max(sizes)));
    std::int64_t& at_use = at_use_[{buffer, size_bits}];
    const std::int64_t computed = std::min(computed_ - at_use, costs_.buffer_after);
    at_use = computed_;
    return quotient(of_both_ends * computed, Wide{2} * costs_.buffer_after * picoseconds_per_nanosecond);
}

std::size_t CacheUse::Hash::operator()(const SizedBuffer& sized) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // of Fibonacci hashing
    const std::uint64_t key = std::uint64_t{sized.buffer.peer} << 32 | sized.buffer.tag;
    return (key ^ static_cast<std::uint64_t>(sized.buffer.kind) << 62 ^ std::uint64_t{sized.size_bits} << 55) * odd;
}

std::int64_t exchange_time(const ColdCaches& costs, std::int64_t computed, std::uint64_t size) {
    CacheUse rank(costs);
    rank.compute(computed);
    const std::int64_t call = rank.call();
    return call + rank.use({}, {size, size});
}

}  // namespace idlewave::trace
