#include "models/flood.hpp"

#include <string>

#include "base/error.hpp"

namespace idlewave::models {
namespace {

/// Longest time that is accepted, ps: more than half a day. The largest exponential sample is 37.4 times its mean, so
/// no time exceeds an int64.
constexpr Time longest = Time{1} << 56;

void check_picoseconds(const char* name, Time time, Time least) {
    if (time < least || time > longest) {
        throw InputError(std::string("flood: ") + name + ": expected from " + std::to_string(least) +
                         " ps to 2^56 ps, found " + std::to_string(time));
    }
}

void check_positive(const char* name, double value) {
    constexpr double most = 1e6;
    const bool possible = value > 0 && value <= most;  // false for NaN, too
    if (!possible) {
        throw InputError(std::string("flood: ") + name + ": expected above 0 to 1e6, found " + std::to_string(value));
    }
}

void check_counts(const FloodParameters& flood) {
    constexpr std::uint64_t most = 0xfffffff0;
    if (flood.routers == 0 || flood.hosts == 0 || std::uint64_t{flood.routers} + flood.hosts > most) {
        throw InputError("flood: routers, hosts: expected at least one each, and below 2^32 in all, found " +
                         std::to_string(flood.routers) + " and " + std::to_string(flood.hosts));
    }
    if (flood.bots > flood.hosts) {
        throw InputError("flood: bots: expected at most as many as there are hosts, found " +
                         std::to_string(flood.bots));
    }
    if (flood.buffer == 0) {
        throw InputError("flood: buffer: expected at least 1 packet, that on the link");
    }
}

FloodParameters checked(const FloodParameters& flood) {
    check_counts(flood);
    check_picoseconds("link_delay", flood.link_delay, 1);
    check_picoseconds("legitimate_gap", flood.legitimate_gap, 1);
    check_picoseconds("attack_gap", flood.attack_gap, 1);
    check_picoseconds("attack_from", flood.attack_from, 0);
    check_picoseconds("end", flood.end, 0);
    check_positive("attack_size", flood.attack_size);
    check_positive("access_utilization", flood.access_utilization);
    check_positive("utilization", flood.utilization);
    if (flood.attack_until < flood.attack_from) {
        throw InputError("flood: attack_until: expected not before attack_from, found " +
                         std::to_string(flood.attack_until) + " ps");
    }
    if (flood.measured_from < 0) {
        throw InputError("flood: measured_from: expected from 0 ps on, found " + std::to_string(flood.measured_from));
    }
    return flood;
}

}  // namespace

Flood::Flood(const FloodParameters& parameters)
    : parameters_(checked(parameters)),
      topology_(parameters.routers, parameters.hosts, parameters.seed),
      service_mean_(topology_.first_host()) {
    constexpr double shortest = 1000;  // ps: rounding down to whole ps then changes a time by 0.1 % at most
    for (std::uint32_t lp = FloodTopology::victim + 1; lp < topology_.first_host(); ++lp) {
        const bool access = topology_.next_hop(lp) == FloodTopology::victim;
        const double utilization = access ? parameters.access_utilization : parameters.utilization;
        const std::uint32_t hosts = topology_.hosts_behind(lp);
        if (hosts == 0) {
            continue;  // no packet passes this router
        }
        service_mean_[lp] = utilization * static_cast<double>(parameters.legitimate_gap) / hosts;
        const double least = service_mean_[lp] * std::min(1.0, parameters.attack_size);
        if (least < shortest) {
            throw InputError(
                "flood: legitimate_gap: expected so long that a packet is on a link for at least 1 ns, found " +
                std::to_string(least) + " ps on the link of router " + std::to_string(lp));
        }
    }
}

void FloodTotals::add(const Flood& flood, std::uint32_t lp, const Flood::Count& count) {
    if (lp == FloodTopology::victim) {
        delivered += count.packets;
        delay += count.delay;
    } else if (flood.topology().is_host(lp)) {
        sent += count.packets;
    } else {
        lost += count.lost;
        waited += count.delay;
    }
}

}  // namespace idlewave::models
