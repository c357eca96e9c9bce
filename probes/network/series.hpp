// The series of samples: what is timed, for which sizes, with how many messages.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/transport.hpp"

namespace idlewave::probe::network {

// rtt PRTT(1,0,s), train PRTT(n,0,s), paced PRTT(n,d,s); recv, wait: the receiver's calls; late: a send whose receive
// is posted late; send: a send call; few: several in a row; delayed: a round trip with computation in it; flood: PRTT
// of many; spaced: PRTT(n,f,s) with several f (Culler, Kielmann, Bell: docs/measuring.md).
enum class Series { rtt, train, paced, recv, wait, late, send, few, delayed, flood, spaced };

constexpr std::array<std::string_view, 11> series_names = {"rtt",  "train", "paced",   "recv",  "wait",  "late",
                                                           "send", "few",   "delayed", "flood", "spaced"};
constexpr std::size_t index_of(Series series) {
    return static_cast<std::size_t>(series);
}
constexpr std::string_view name_of(Series series) {
    return series_names[index_of(series)];
}

// The series that every size has. In the first five a change of protocol shows as a break of a line over sizes.
constexpr std::array<Series, 6> core_series = {Series::rtt,  Series::train, Series::paced,
                                               Series::recv, Series::wait,  Series::late};
constexpr std::size_t line_series = 5;

constexpr int few_messages = 4;
constexpr int flood_messages = 64;
constexpr std::array<double, 7> spacings = {0, 0.25, 0.5, 0.75, 1, 1.5, 2};  // in gaps

// An exchange that is timed repeatedly.
struct Exchange {
    Series series = Series::rtt;
    int size = 1;
    int messages = 1;
    double delay_ns = 0;  // the delay asked for
};

// The abilities of a transport, from its data plane (transport.hpp).
struct Abilities {
    Traits traits;
    int limit = 0;
    std::function<int(int)> in_flight;
    std::optional<std::size_t> in_page = std::nullopt;
    std::string fabric = {};  // the library or provider, if one name stands for several
};

template <DataPlane Data>
Abilities abilities_of(Data& data) {
    Abilities found = {Data::traits, data.limit(), [&data](int size) { return data.in_flight(size); }};
    if constexpr (requires { Data::in_page; }) found.in_page = Data::in_page;
    if constexpr (requires { data.fabric(); }) found.fabric = data.fabric();
    return found;
}

// Whether a transport has a series. If the receiver takes no part, none of its calls can be timed, and no send waits
// for it. If the receiver makes no calls (put), it can see a message late, but cannot post a receive late.
inline bool has(const Abilities& abilities, Series series) {
    if (series == Series::recv || series == Series::wait) return !abilities.traits.passive;
    return series == Series::late ? abilities.traits.receives : true;
}

constexpr bool power_of_two(int size) {
    return size > 0 && (size & (size - 1)) == 0;
}

// Rough times of one round trip and one gap: PRTT(1,0,s) and PRTT(2,0,s), and the latter undisturbed.
struct Pilot {
    double round_ns = 0;
    double pair_ns = 0;
    double least_pair_ns = 0;

    // A pause longer than a round trip and than a gap. A processor that wakes up slowly makes a round trip long, but
    // not one between messages that keep the processor awake.
    double pause_ns() const { return std::min(pair_ns, 2 * least_pair_ns); }
};

inline std::vector<Exchange> core_jobs(const Abilities& data, int size, int train, const Pilot& pilot) {
    const int messages = std::max(1, std::min(train, data.in_flight(size)));
    const double pause = pilot.pause_ns();
    std::vector<Exchange> jobs;
    for (const Series series : core_series) {
        if (!has(data, series)) continue;
        if (series == Series::rtt) jobs.push_back({series, size, 1, 0});
        if (series == Series::train && messages > 1) jobs.push_back({series, size, messages, 0});
        if (series == Series::paced && messages > 1) jobs.push_back({series, size, messages, pause});
        if (series == Series::recv || series == Series::wait) jobs.push_back({series, size, 1, 2 * pause});
        if (series == Series::late) jobs.push_back({series, size, 1, 4 * pause});
    }
    return jobs;
}

// The exchanges of methods other than PRTT: all at powers of two, some at 0.
inline std::vector<Exchange> other_jobs(const Abilities& data, int size, int train, const Pilot& pilot) {
    std::vector<Exchange> jobs;
    const double pause = pilot.pause_ns();
    const int flight = data.in_flight(size);
    const int flood = std::max(1, std::min(flood_messages, flight));
    if (size == 0) {
        if (!data.traits.passive) jobs.push_back({Series::recv, 0, 1, 2 * pause});
        jobs.push_back({Series::rtt, 0, 1, 0});
        jobs.push_back({Series::send, 0, 1, 0});
        jobs.push_back({Series::flood, 0, flood, 0});
        return jobs;
    }
    if (!power_of_two(size)) return jobs;
    jobs.push_back({Series::send, size, 1, 0});
    jobs.push_back({Series::few, size, std::max(1, std::min(few_messages, flight)), 0});
    jobs.push_back({Series::delayed, size, 1, 2 * pause});
    jobs.push_back({Series::flood, size, flood, 0});
    const int messages = std::min(train, flight);
    const double gap = std::max(pilot.pair_ns - pilot.round_ns, 0.0);
    for (const double spacing : spacings) {
        if (messages > 1) jobs.push_back({Series::spaced, size, messages, spacing * gap});
    }
    return jobs;
}

}  // namespace idlewave::probe::network
