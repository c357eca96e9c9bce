#include "trace/cold_caches.hpp"

#include <algorithm>
#include <cstddef>

namespace idlewave::trace {
namespace {

__extension__ using Wide = __int128;  // products of times and sizes

/// The share of `time`, in ps, that a computation of `computed` ns causes, of which `after` ns cause all; in ns.
std::int64_t caused(Wide time, std::int64_t computed, std::int64_t after) {
    const Wide ps = computed >= after ? time : time * computed / after;
    return static_cast<std::int64_t>((ps + picoseconds_per_nanosecond / 2) / picoseconds_per_nanosecond);
}

}  // namespace

Time ColdCaches::buffer_time(std::uint64_t size) const {
    if (buffers.empty()) {
        return 0;
    }
    const auto next = std::ranges::lower_bound(buffers, size, {}, &BufferTime::size);
    if (next == buffers.end() || next == buffers.begin()) {
        return next == buffers.end() ? buffers.back().time : next->time;
    }
    const BufferTime& lower = *(next - 1);
    const auto beyond = static_cast<Wide>(size - lower.size);
    const auto span = static_cast<Wide>(next->size - lower.size);
    return lower.time + static_cast<Time>((static_cast<Wide>(next->time) - lower.time) * beyond / span);
}

std::int64_t CacheUse::call() {
    const std::int64_t computed = computed_ - at_call_;
    at_call_ = computed_;
    return caused(costs_.call, computed, costs_.call_after);
}

std::int64_t CacheUse::use(const Buffer& buffer, std::initializer_list<std::uint64_t> sizes) {
    if (costs_.buffers.empty()) {
        return 0;
    }
    Wide of_both_ends = 0;
    for (const std::uint64_t size : sizes) {
        of_both_ends += size > 0 ? costs_.buffer_time(size) : 0;
    }
    std::int64_t& at_use = at_use_[buffer];
    const std::int64_t computed = computed_ - at_use;
    at_use = computed_;
    return caused(of_both_ends / 2, computed, costs_.buffer_after);
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
