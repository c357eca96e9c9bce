#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "loggops/recorder.hpp"
#include "machine/costs.hpp"
#include "machine/machine.hpp"

namespace idlewave::timeline {

/// The division of a span of time, in picoseconds.
struct Spans {
    Time latency = 0;      ///< L
    Time overhead = 0;     ///< o_s, o_r
    Time gap = 0;          ///< g
    Time wire_bytes = 0;   ///< kG
    Time cpu_bytes = 0;    ///< kO_s, kO_r
    Time completion = 0;   ///< c
    Time computation = 0;  ///< calcs
    Time noise = 0;        ///< detours

    [[nodiscard]] Time total() const {
        return latency + overhead + gap + wire_bytes + cpu_bytes + completion + computation + noise;
    }

    Spans& operator+=(const Spans& other) {
        latency += other.latency;
        overhead += other.overhead;
        gap += other.gap;
        wire_bytes += other.wire_bytes;
        cpu_bytes += other.cpu_bytes;
        completion += other.completion;
        computation += other.computation;
        noise += other.noise;
        return *this;
    }
};

/// Adds the time until a message of a one-sided operation has landed (docs/model.md, R23).
inline void add_landing(Spans& spans, const loggops::Activity& activity, const machine::Costs& cost) {
    if (activity.kind == loggops::ActivityKind::landing) {
        spans.wire_bytes += cost.bytes;
        return;
    }
    spans.overhead += cost.o_r;
    (cost.over_r < cost.bytes ? spans.wire_bytes : spans.cpu_bytes) += std::max(cost.over_r, cost.bytes);
}

/// The costs of an activity that begins at `begin`, with the factor of G at that time (docs/model.md, R27).
inline machine::Costs costs_of(const loggops::Activity& activity, Time begin, const machine::Machine& machine) {
    const std::uint64_t size = activity.kind == loggops::ActivityKind::computation ? 0 : activity.amount;
    const machine::Level& level = machine.level(activity.level);
    const machine::Costs plain = costs(level, size);
    return machine.varies(activity.level) ? with_bytes(plain, level.of(size).G * machine.variation.at(begin).G, size)
                                          : plain;
}

/// L of a message that departed at `earliest`, or later because of noise, and arrived at `arrival`.
inline Time latency_of(machine::LevelKind level, Time L, Time earliest, Time arrival, const machine::Machine& machine) {
    return machine.varies(level) ? arrival - machine.variation.departure(earliest, arrival, L) : L;
}

/// Divides the time from the beginning of an activity, `begin`, to one of its points, `end`. The parameters of the
/// model account for a part of it (docs/model.md, R5 to R8, R27); the rest is noise.
inline Spans spans_of(const loggops::Activity& activity, loggops::Point point, Time begin, Time end,
                      const machine::Machine& machine) {
    const machine::Costs cost = costs_of(activity, begin, machine);
    const Time length = end - begin;
    Spans spans;
    switch (point) {
        case loggops::Point::start:
            break;
        case loggops::Point::completed:
            spans.completion = cost.completion;
            [[fallthrough]];
        case loggops::Point::sender_free:
            spans.overhead = cost.o_s;
            spans.cpu_bytes = cost.over_s;
            break;
        case loggops::Point::handed_over:
            spans.overhead = cost.o_s;
            break;
        case loggops::Point::receiver_free:
            spans.overhead = cost.o_r;
            spans.cpu_bytes = cost.over_r;
            break;
        case loggops::Point::arrival:
            spans.overhead = activity.kind == loggops::ActivityKind::nic_transmission ? 0 : cost.o_s;
            spans.latency = latency_of(activity.level, cost.L, begin + spans.overhead, end, machine);
            break;
        case loggops::Point::last_byte:
            spans.overhead = activity.kind == loggops::ActivityKind::landing ? 0 : cost.o_r;
            spans.wire_bytes = cost.bytes;
            break;
        case loggops::Point::acknowledged:
            add_landing(spans, activity, cost);
            // The NIC has no noise, and what it unlocks may have another level than the unlock itself.
            spans.latency = activity.kind == loggops::ActivityKind::landing
                                ? length - spans.total()
                                : latency_of(activity.level, cost.L, begin + spans.total(), end, machine);
            break;
        case loggops::Point::sender_gap:
        case loggops::Point::receiver_gap:
            spans.gap = cost.gap - cost.bytes;
            spans.wire_bytes = cost.bytes;
            break;
        case loggops::Point::posted:
            spans.overhead = cost.posting;
            break;
        case loggops::Point::computed:
            spans.computation = static_cast<Time>(activity.amount);
            break;
    }
    spans.noise = length - spans.total();
    return spans;
}

}  // namespace idlewave::timeline
