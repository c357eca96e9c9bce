// What the probe of patterns measures: which pattern, with how many messages on the way at once, of which size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "network/shared_cores.hpp"

namespace idlewave::probe {

// ping_pong: blocking calls. stream: nonblocking sends, which the receiver answers once. blocking_stream: the same with
// blocking calls. both_ways: nonblocking, both ranks at once. preposted: a ping-pong whose receives are posted before
// the message can come. late: a stream whose receiver computes first. cold: a ping-pong over buffers that have left the
// caches. peers: each rank of a ring sends to several others and receives from as many, at once. after_computation:
// both ranks compute, over memory that no cache holds, and then exchange a message each; what counts is the exchange
// alone, from the moment at which the later rank calls.
enum class Pattern : std::int64_t {
    ping_pong,
    stream,
    blocking_stream,
    both_ways,
    preposted,
    late,
    cold,
    peers,
    after_computation
};

inline const std::vector<std::string> pattern_names{
    "ping-pong",      "stream",       "blocking stream", "both ways",        "posted in advance",
    "late receivers", "cold buffers", "several peers",   "after computation"};

struct PatternItem {
    Pattern pattern = Pattern::ping_pong;
    int window = 1;  // messages on the way at once; of a rank's that has several peers, one to each
    std::int64_t size = 1;

    std::int64_t delay_ns = 0;  // for which a late receiver, or each rank before an exchange, computes
};

constexpr int most_window = 64;

// Sizes in steps of four, from 64 bytes on in steps of two; and both sides of each size at which the library is known
// to change its protocol.
inline std::vector<std::int64_t> pattern_sizes(std::int64_t most, const std::vector<std::int64_t>& changes) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 1; size <= most; size *= size < 64 ? 4 : 2) sizes.push_back(size);
    for (const std::int64_t first : changes) {
        for (const std::int64_t size : {first - 1, first}) {
            if (size >= 1 && size <= most) sizes.push_back(size);
        }
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

// The time for which late receivers compute: longer than a message is on its way.
struct Lateness {
    double ns = 2000;
    double ns_per_byte = 0.5;

    [[nodiscard]] std::int64_t of(int window, std::int64_t size) const {
        return std::llround(ns + ns_per_byte * static_cast<double>(window * size));
    }
};

// About two round trips: then each message has come, and its time still shows. `trips` are sizes with their round trip,
// ns, ascending. Sizes that lie near each other say nothing of the time per byte, as a time slice that another process
// took may lie between them. The limits are those of the slowest networks: a sample must not take longer than all else.
inline Lateness lateness_after(const std::vector<std::pair<int, double>>& trips, Lateness usual = {}) {
    constexpr int least_range = 1024;
    constexpr double most_ns = 1e8;
    constexpr double most_ns_per_byte = 100;
    if (trips.empty()) return usual;
    const auto& [least, shortest] = trips.front();
    const auto& [most, longest] = trips.back();
    Lateness found{std::min(2 * shortest, most_ns), usual.ns_per_byte};
    if (most - least < least_range) return found;
    found.ns_per_byte = std::clamp(2 * (longest - shortest) / (most - least), 0.0, most_ns_per_byte);
    return found;
}

inline std::vector<PatternItem> pattern_items(const std::vector<std::int64_t>& sizes, const Lateness& lateness,
                                              int ranks) {
    constexpr std::int64_t most_on_the_way = 8 << 20;
    std::vector<PatternItem> items;
    for (const std::int64_t size : sizes) {
        for (const Pattern single : {Pattern::ping_pong, Pattern::preposted, Pattern::cold}) {
            items.push_back({single, 1, size});
        }
        for (const int window : {1, 4, 16, most_window}) {
            if (window > 1 && window * size > most_on_the_way) continue;
            items.push_back({Pattern::stream, window, size});
            items.push_back({Pattern::both_ways, window, size});
            if (window == 4 || window == 16) items.push_back({Pattern::blocking_stream, window, size});
            if (window <= 4) items.push_back({Pattern::late, window, size, lateness.of(window, size)});
        }
        for (const int peers : {1, 2, 4}) {
            if (ranks > 2 && peers < ranks && peers * size <= most_on_the_way)
                items.push_back({Pattern::peers, peers, size});
        }
    }
    return items;
}

// Exchanges after computations that empty the caches more and more. Computations take long, so the sizes are few:
// `most` of them at most, from the smallest to 256 KiB, about as far from each other on a logarithmic scale.
inline std::vector<PatternItem> items_after_computation(const std::vector<std::int64_t>& sizes, int most) {
    constexpr double largest = 256 << 10;
    const auto octaves = [](std::int64_t size) { return std::log2(static_cast<double>(size)); };
    const double whole = std::min(std::log2(largest), octaves(sizes.back()));
    std::vector<std::int64_t> chosen;
    for (int i = 0; i < most; ++i) {
        const double wanted = whole * i / (most - 1);
        const auto off = [&](std::int64_t size) { return std::abs(octaves(size) - wanted); };
        const std::int64_t nearest = *std::min_element(sizes.begin(), sizes.end(),
                                                       [&](std::int64_t a, std::int64_t b) { return off(a) < off(b); });
        if (chosen.empty() || nearest > chosen.back()) chosen.push_back(nearest);
    }
    std::vector<PatternItem> items;
    for (const std::int64_t size : chosen) {
        for (const std::int64_t us : {10, 50, 250, 1000, 3000, 10000}) {
            items.push_back({Pattern::after_computation, 1, size, us * 1000});
        }
    }
    return items;
}

inline bool computes_first(const PatternItem& item) {
    return item.pattern == Pattern::after_computation || item.pattern == Pattern::late;
}

// How often a sample is taken in a round, at most: less often where ranks compute first, and once for an exchange of
// all ranks, as the others would have to be woken again.
inline int most_tries(const PatternItem& item) {
    constexpr std::int64_t long_delay_ns = 5'000'000;
    if (item.pattern == Pattern::peers) return 1;
    const int tries = most_tries(item.window * item.size);
    if (item.delay_ns > long_delay_ns) return std::min(tries, 2);
    return computes_first(item) ? std::min(tries, 3) : tries;
}

// Whether it takes so long that only every second round has it.
inline bool is_long(const PatternItem& item) {
    return computes_first(item) || item.window * item.size > 2 << 20;
}

// The repetitions before those of a sample, which are not timed: large buffers are in the caches only after the second
// message, and a repetition of a wide window has enough messages by itself.
inline int untimed_repetitions(const PatternItem& item) {
    return item.window >= 16 ? 1 : 2;
}

// The repetitions of one sample: many of what is short, since a clock's reading takes time, too; but no longer than
// needed, since the machine's speed may change within a millisecond; and few where late receivers compute for long.
inline int repetitions_of(const PatternItem& item) {
    constexpr std::int64_t bytes = 1 << 18;
    constexpr std::int64_t messages = 64;
    constexpr std::int64_t computing_ns = 20'000'000;
    const std::int64_t wanted = std::min({bytes / (item.window * item.size), messages / item.window,
                                          computing_ns / std::max<std::int64_t>(item.delay_ns, 1)});
    return std::max(static_cast<int>(wanted), untimed_repetitions(item));
}

}  // namespace idlewave::probe
