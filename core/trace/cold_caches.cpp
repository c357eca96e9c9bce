#include "trace/cold_caches.hpp"

#include <algorithm>
#include <cstddef>

namespace idlewave::trace {
namespace {

__extension__ using Wide = __int128;  // products of times and sizes

/// The quotient to the nearest whole number, halves up; both are positive.
std::int64_t quotient(Wide numerator, Wide denominator) {
    return static_cast<std::int64_t>((numerator + denominator / 2) / denominator);
}

/// The time on a line that rises by `rise` over `span`, `beyond` its begin.
Time risen(Time rise, std::uint64_t beyond, std::uint64_t span) {
    return static_cast<Time>(static_cast<Wide>(rise) * static_cast<Wide>(beyond) / static_cast<Wide>(span));
}

}  // namespace

Time ColdCaches::call_time(std::int64_t computed) const {
    const auto next = std::ranges::lower_bound(calls, computed, {}, &CallTime::after);
    if (next == calls.end()) {
        return calls.empty() ? 0 : calls.back().time;
    }
    const CallTime lower = next == calls.begin() ? CallTime{} : *(next - 1);
    const auto beyond = static_cast<std::uint64_t>(computed - lower.after);
    return lower.time + risen(next->time - lower.time, beyond, static_cast<std::uint64_t>(next->after - lower.after));
}

Time ColdCaches::buffer_time(std::uint64_t size) const {
    if (buffers.empty()) {
        return 0;
    }
    const auto next = std::ranges::lower_bound(buffers, size, {}, &BufferTime::size);
    if (next == buffers.end() || next == buffers.begin()) {
        return next == buffers.end() ? buffers.back().time : next->time;
    }
    const BufferTime& lower = *(next - 1);
    return lower.time + risen(next->time - lower.time, size - lower.size, next->size - lower.size);
}

std::int64_t CacheUse::call() {
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
    std::int64_t& at_use = at_use_[buffer];
    const std::int64_t computed = std::min(computed_ - at_use, costs_.buffer_after);
    at_use = computed_;
    return quotient(of_both_ends * computed, Wide{2} * costs_.buffer_after * picoseconds_per_nanosecond);
}

std::size_t CacheUse::Hash::operator()(const Buffer& buffer) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // of Fibonacci hashing
    const std::uint64_t key = std::uint64_t{buffer.peer} << 32 | buffer.tag;
    return (key ^ static_cast<std::uint64_t>(buffer.kind) << 62) * odd;
}

std::int64_t exchange_time(const ColdCaches& costs, std::int64_t computed, std::uint64_t size) {
    CacheUse rank(costs);
    rank.compute(computed);
    const std::int64_t call = rank.call();
    return call + rank.use({}, {size, size});
}

}  // namespace idlewave::trace
