#include "trace/cold_caches.hpp"

#include <algorithm>
#include <cstddef>

namespace idlewave::trace {
namespace {

__extension__ using Wide = __int128;  // products of times and sizes

Time whole(Wide time) {
    if (time >= never) {
        throw TimeOverflow();
    }
    return static_cast<Time>(time);
}

/// The share of `time` that a computation of `computed` ns causes, of which `after` ns cause all.
Wide share_of(Wide time, std::int64_t computed, std::int64_t after) {
    return computed >= after ? time : time * computed / after;
}

}  // namespace

Time ColdCaches::buffer_time(std::uint64_t size) const {
    if (buffers.empty()) {
        return 0;
    }
    if (buffers.size() == 1 || size <= buffers.front().size) {
        return buffers.front().time;
    }
    const auto next = std::ranges::lower_bound(buffers, size, {}, &Buffer::size);
    const Buffer& upper = next == buffers.end() ? buffers.back() : *next;
    const Buffer& lower = next == buffers.end() ? buffers[buffers.size() - 2] : *(next - 1);
    const auto beyond = static_cast<Wide>(size - lower.size);
    const auto span = static_cast<Wide>(upper.size - lower.size);
    return whole(lower.time + (static_cast<Wide>(upper.time) - lower.time) * beyond / span);
}

std::int64_t exchange_time(const ColdCaches& costs, std::int64_t computed, std::uint64_t size) {
    CacheUse rank(costs);
    rank.compute(computed);
    return rank.use({}, size, 2);
}

std::int64_t CacheUse::use(const Buffer& buffer, std::uint64_t size, std::uint64_t ends) {
    if (costs_.cost_nothing()) {
        return 0;
    }
    std::int64_t& used = at_use_[buffer];
    const Wide both = static_cast<Wide>(costs_.buffer_time(size)) * ends;
    const Wide ps = share_of(costs_.call, computed_ - at_call_, costs_.call_after) +
                    share_of(both, computed_ - used, costs_.buffer_after) / 2;
    at_call_ = computed_;
    used = computed_;
    return whole((ps + picoseconds_per_nanosecond / 2) / picoseconds_per_nanosecond);
}

std::size_t CacheUse::Hash::operator()(const Buffer& buffer) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // of Fibonacci hashing
    const std::uint64_t key = std::uint64_t{buffer.peer} << 32 | buffer.tag;
    return (key ^ static_cast<std::uint64_t>(buffer.kind) << 62) * odd;
}

}  // namespace idlewave::trace
