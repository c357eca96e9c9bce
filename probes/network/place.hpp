// Where a side runs, and its place there: one CPU of its own.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "network/json.hpp"

namespace idlewave::network {

struct Place {
    std::array<char, 256> host{};
    int cpu = -1;  // it is bound to; -1: to none
    int pinned_by_us = 0;
};

// A process that is bound to one CPU stays there. Another takes the first CPU that it may use; the server the last,
// so that on one host the two are apart.
inline Place take_place(bool server) {
    Place place;
    gethostname(place.host.data(), place.host.size() - 1);
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    int chosen = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed) && (chosen < 0 || server)) chosen = cpu;
    }
    if (CPU_COUNT(&allowed) > 1) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(chosen, &one);
        place.pinned_by_us = sched_setaffinity(0, sizeof one, &one) == 0 ? 1 : 0;
        if (place.pinned_by_us == 0) chosen = -1;
    }
    place.cpu = chosen;
    return place;
}

inline bool same_host(const Place& a, const Place& b) {
    return std::strcmp(a.host.data(), b.host.data()) == 0;
}

inline std::string describe(const Place& place) {
    JsonObject object;
    object.text("host", place.host.data()).integer("cpu", place.cpu);
    return object.truth("pinned_by_probe", place.pinned_by_us != 0).str();
}

}  // namespace idlewave::network
