#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/time.hpp"
#include "loggops/observer.hpp"
#include "loggops/rank.hpp"
#include "loggops/started_op.hpp"
#include "loggops/tables.hpp"
#include "machine/costs.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggops {

/// An overhead, o_s or o_r, and whether noise reaches it.
struct Overhead {
    Time length = 0;
    bool reached = true;
};

/// The time at which a CPU that transmits or receives is done with the overhead, and that at which it is free.
struct Occupied {
    Time overhead = 0;
    Time end = 0;
};

/// The CPU's part in a transmission or reception that begins at `t`: first the overhead, then the time `bytes` of the
/// further bytes. A part that noise does not reach takes its plain time, and delays what follows (docs/model.md, R17).
inline Occupied occupy(const machine::Machine& machine, machine::NoiseState& state, Time t, Overhead first,
                       Time bytes) {
    const bool bytes_reached = machine.noise_reach.O;
    Occupied done;
    done.overhead = first.reached ? machine.noise.finish(state, t, first.length) : later(t, first.length);
    if (bytes == 0) {
        done.end = done.overhead;
    } else if (!bytes_reached) {
        done.end = later(done.overhead, bytes);
    } else if (first.reached) {
        done.end = machine.noise.finish(state, t, later(first.length, bytes));
    } else {
        machine::NoiseState ahead = state;  // a copy: other work of the rank may still begin before the overhead ends
        done.end = machine.noise.finish(ahead, done.overhead, bytes);
    }
    return done;
}

/// A message at one of its two ends.
struct MessageEnd {
    MessageKind kind = MessageKind::data;
    std::uint32_t peer = 0;
    std::uint64_t size = 0;  ///< on the wire
    machine::LevelKind level = machine::LevelKind::network;
};

/// The CPUs and NICs of the ranks of a thread: when an activity can begin, and from when on its resources are free
/// again (docs/model.md, R5, R7, R8, R16, R17).
template <goal::Source S, class Observer>
class Occupation {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Layout = typename Tables::Layout;
    using Current = CurrentRank<S, Moment>;
    using Op = StartedOp<typename S::Cookie>;

    /// The end of a transmission at the sender.
    struct Transmitted {
        Moment done;   ///< the send ends, if this is the message itself
        Time arrival;  ///< of the message's first byte
        [[no_unique_address]] typename Observer::Annotation annotation;
    };

    /// The end of a reception at the target of a one-sided operation, or of the reply at its origin.
    struct Landed {
        Moment landed;
        [[no_unique_address]] typename Observer::ActivityRef activity;
    };

    explicit Occupation(Tables& tables)
        : tables_(tables),
          reach_(tables.machine.noise_reach),
          noisy_(!tables.noise.empty()),
          sends_end_late_(sends_end_late(tables.machine)) {}

    /// The messages that the thread has sent.
    [[nodiscard]] std::uint64_t& messages() { return messages_.sent; }
    [[nodiscard]] std::uint64_t messages() const { return messages_.sent; }

    void begin(const Current& current) {
        if (noisy_) {
            tables_.noise[current.number()] = tables_.machine.noise.begin(tables_.seed, current.number());
        }
    }

    [[gnu::always_inline]] void prefetch(std::uint32_t rank) const {
        if (noisy_) {
            __builtin_prefetch(&tables_.noise[rank], 1);
        }
    }

    // ---- when an activity can begin (R14)

    /// Of a calc, or of what else needs a CPU alone.
    [[nodiscard, gnu::always_inline]] Moment start_of_calc(const Current& current, const Moment& ready,
                                                           std::uint8_t cpu) const {
        return latest(ready, current.free_times()[Layout::cpu(cpu)]);
    }
    [[nodiscard, gnu::always_inline]] Moment start_of_send(const Current& current, const Moment& ready,
                                                           std::uint8_t cpu, std::uint8_t nic) const {
        return latest(ready, current.free_times()[Layout::cpu(cpu)], current.free_times()[tables_.layout.tx(nic)]);
    }
    [[nodiscard, gnu::always_inline]] Moment start_of_reception(const Current& current, const Moment& arrived,
                                                                std::uint8_t cpu, std::uint8_t nic) const {
        return latest(arrived, current.free_times()[Layout::cpu(cpu)], current.free_times()[tables_.layout.rx(nic)]);
    }

    // ---- activities

    /// A calc (R5). Returns its end.
    template <class Ready>  // a reference would keep the caller's `now` in memory
    [[gnu::always_inline]] Moment compute(const Current& current, const Ready& ready,
                                          Moment now) {  // NOLINT(performance-unnecessary-value-param)
        Time work = 0;
        if (!from_nanoseconds(ready.op.size, work)) {
            throw TimeOverflow();
        }
        const bool reached = noisy_ && (ready.op.reduction ? reach_.reduction : reach_.calc);
        const Time begin = time_of(now);
        const Activity activity{.kind = ActivityKind::computation,
                                .amount = static_cast<std::uint64_t>(work),
                                .op_index = ready.op_index,
                                .in_detour = Observer::observes && reached && is_in_detour(current, begin)};
        const auto ref = tables_.observer.begin(current.number(), now, activity, messages_);
        const Time done =
            reached ? tables_.machine.noise.finish(tables_.noise[current.number()], begin, work) : later(begin, work);
        const Moment end = tables_.observer.at(ref, Point::computed, done);
        current.free_times()[Layout::cpu(ready.op.cpu)] = end;
        return end;
    }

    /// A receive is posted (R6) by a CPU that takes `overhead` for it. Returns the time from which the CPU is free.
    Moment post(const Current& current, const Op& receive, const MessageEnd& message, Time overhead,
                Moment now) {  // NOLINT(performance-unnecessary-value-param)
        const Time begin = time_of(now);
        const bool reached = noisy_ && reach_.o_r;
        const Activity activity{.kind = ActivityKind::posting,
                                .level = message.level,
                                .peer = message.peer,
                                .amount = message.size,
                                .op_index = receive.op_index,
                                .in_detour = Observer::observes && reached && is_in_detour(current, begin)};
        const auto ref = tables_.observer.begin(current.number(), now, activity, messages_);
        const Time done = reached ? tables_.machine.noise.finish(tables_.noise[current.number()], begin, overhead)
                                  : later(begin, overhead);
        const Moment free = tables_.observer.at(ref, Point::posted, done);
        current.free_times()[Layout::cpu(receive.cpu)] = free;
        return free;
    }

    /// A transmission (R7): takes the CPU and the NIC's send side from `now` on.
    [[gnu::always_inline]] Transmitted transmit(const Current& current, const Op& op, const MessageEnd& message,
                                                const machine::Costs& costs, const Moment& now) {
        const Time begin = time_of(now);
        const auto [activity, cpu] =
            occupy_cpu(current, ActivityKind::transmission, {costs.o_s, reach_.o_s}, costs.over_s, message, op, begin);
        const auto ref = tables_.observer.begin(current.number(), now, activity, messages_);
        const Moment free = tables_.observer.at(ref, Point::sender_free, cpu.end);
        current.free_times()[Layout::cpu(op.cpu)] = free;
        current.free_times()[tables_.layout.tx(op.nic)] =
            tables_.observer.at(ref, Point::sender_gap, later(begin, costs.gap));
        ++messages_.sent;
        return {end_of_send(current, message, costs.completion, ref, free), later(cpu.overhead, costs.L),
                tables_.observer.annotate(ref)};
    }

    /// A reception (R8): takes the CPU and the NIC's receive side from `now` on. Returns the time at which the message
    /// is processed.
    [[gnu::always_inline]] Moment receive(const Current& current, const Op& op, const MessageEnd& message,
                                          const machine::Costs& costs, const Moment& now) {
        return land_by_cpu(current, op, message, costs, now).landed;
    }

    /// The same, with the activity, which the acknowledgement of a one-sided operation refers to.
    [[gnu::always_inline]] Landed land_by_cpu(const Current& current, const Op& op, const MessageEnd& message,
                                              const machine::Costs& costs, const Moment& now) {
        const Time begin = time_of(now);
        const auto [activity, cpu] =
            occupy_cpu(current, ActivityKind::reception, {costs.o_r, reach_.o_r}, costs.over_r, message, op, begin);
        const auto ref = tables_.observer.begin(current.number(), now, activity, messages_);
        const Moment free = tables_.observer.at(ref, Point::receiver_free, cpu.end);
        current.free_times()[Layout::cpu(op.cpu)] = free;
        current.free_times()[tables_.layout.rx(op.nic)] =
            tables_.observer.at(ref, Point::receiver_gap, later(begin, costs.gap));
        const Time after_overhead = cpu.end - cpu.overhead;
        if (costs.bytes <= after_overhead &&
            (!Observer::observes || costs.bytes < after_overhead || message.size <= 1)) {
            return {free, ref};  // of one byte, the last byte and the CPU have the same time and the same slopes
        }
        const Moment processed =
            latest(free, tables_.observer.at(ref, Point::last_byte, later(cpu.overhead, costs.bytes)));
        tables_.processed[current.number()] = latest(tables_.processed[current.number()], processed);
        return {processed, ref};
    }

    /// A reception by the NIC alone (R23): takes its receive side from `now` on.
    Landed land(const Current& current, const Op& op, const MessageEnd& message, const machine::Costs& costs,
                const Moment& now) {
        const Time begin = time_of(now);
        const auto ref =
            tables_.observer.begin(current.number(), now, activity_of(ActivityKind::landing, message, op), messages_);
        current.free_times()[tables_.layout.rx(op.nic)] =
            tables_.observer.at(ref, Point::receiver_gap, later(begin, costs.gap));
        const Moment landed = tables_.observer.at(ref, Point::last_byte, later(begin, costs.bytes));
        tables_.processed[current.number()] = latest(tables_.processed[current.number()], landed);
        return {landed, ref};
    }

    /// A CPU hands a transmission to a NIC (R23): takes the CPU from `now` on. Returns when the NIC has it.
    Moment initiate(const Current& current, const Op& op, const MessageEnd& message, const machine::Costs& costs,
                    const Moment& now) {
        const Time begin = time_of(now);
        const auto [activity, cpu] =
            occupy_cpu(current, ActivityKind::initiation, {costs.o_s, reach_.o_s}, costs.over_s, message, op, begin);
        const auto ref = tables_.observer.begin(current.number(), now, activity, messages_);
        current.free_times()[Layout::cpu(op.cpu)] = tables_.observer.at(ref, Point::sender_free, cpu.end);
        return tables_.observer.at(ref, Point::handed_over, cpu.overhead);
    }

    /// A transmission by the NIC alone (R23): takes its send side from `now` on.
    Transmitted transmit_by_nic(const Current& current, const Op& op, const MessageEnd& message,
                                const machine::Costs& costs, const Moment& now) {
        const Time begin = time_of(now);
        const auto ref = tables_.observer.begin(current.number(), now,
                                                activity_of(ActivityKind::nic_transmission, message, op), messages_);
        current.free_times()[tables_.layout.tx(op.nic)] =
            tables_.observer.at(ref, Point::sender_gap, later(begin, costs.gap));
        ++messages_.sent;
        return {now, later(begin, costs.L), tables_.observer.annotate(ref)};
    }

    // ---- a rank as a whole

    /// Shows a rank's resources to an archive (base/archive.hpp).
    template <class Archive>
    void serialise(std::uint32_t rank, typename Tables::State& state, Archive& archive) {
        archive(state.free_times);
        archive(tables_.processed[rank]);
        if (noisy_) {
            archive(tables_.noise[rank]);
        }
        if (!tables_.free_times.empty()) {
            for (std::uint32_t i = 0; i < tables_.layout.size(); ++i) {
                archive(tables_.free_times_of(rank, state)[i]);
            }
        }
    }

  private:
    /// The end of a send whose CPU is free at `free`: `completion` later (R7). No request or control message of a
    /// rendezvous ends a send.
    [[gnu::always_inline]] Moment end_of_send(const Current& current, const MessageEnd& message, Time completion,
                                              const typename Observer::ActivityRef& ref, const Moment& free) {
        if (completion == 0 && !counts_completion(message)) [[likely]] {
            return free;
        }
        if (message.kind != MessageKind::data && message.kind != MessageKind::rendezvous_data) {
            return free;
        }
        const Moment done = tables_.observer.at(ref, Point::completed, later(time_of(free), completion));
        tables_.processed[current.number()] = latest(tables_.processed[current.number()], done);
        return done;
    }

    /// Whether c is differentiated for a message that has none: where others of its level have it, since a parameter of
    /// a level grows for all sizes.
    [[nodiscard, gnu::always_inline]] bool counts_completion(const MessageEnd& message) const {
        if constexpr (Observer::observes && !Observer::records) {
            return sends_end_late_[static_cast<std::size_t>(message.level)];
        }
        return false;
    }

    using ByLevel = std::array<bool, machine::level_kinds.size()>;
    static ByLevel sends_end_late(const machine::Machine& machine) {
        ByLevel late = {};
        std::ranges::transform(machine::level_kinds, late.begin(),
                               [&machine](machine::LevelKind kind) { return machine.sends_end_late(kind); });
        return late;
    }

    /// The CPU's part of a message.
    struct CpuOccupation {
        Activity activity;
        Occupied cpu;
    };
    /// Whether a detour holds the CPU when the overhead begins, and when the bytes' time begins.
    struct InDetour {
        bool first = false;
        bool bytes = false;
    };

    [[gnu::always_inline]] static Activity activity_of(ActivityKind kind, const MessageEnd& message, const Op& op) {
        return {.kind = kind,
                .message = message.kind,
                .level = message.level,
                .peer = message.peer,
                .amount = message.size,
                .op_index = op.op_index};
    }

    /// Noise is asked only if a detour may come before the end.
    [[gnu::always_inline]] CpuOccupation occupy_cpu(const Current& current, ActivityKind kind, Overhead first,
                                                    Time bytes, const MessageEnd& message, const Op& op, Time begin) {
        const Time done = later(begin, first.length);
        CpuOccupation occupation{activity_of(kind, message, op), {done, later(done, bytes)}};
        if (noisy_) {
            machine::NoiseState& noise = tables_.noise[current.number()];
            if (noise.quiet_from > begin || begin >= noise.quiet_until || occupation.cpu.end > noise.quiet_until)
                [[unlikely]] {
                if constexpr (Observer::observes) {
                    const InDetour detours = detours_at(current, first, bytes, begin);
                    occupation.activity.in_detour = detours.first;
                    occupation.activity.bytes_in_detour = detours.bytes;
                }
                occupation.cpu = occupy(tables_.machine, noise, begin, first, bytes);
            }
        }
        return occupation;
    }

    [[gnu::noinline]] InDetour detours_at(const Current& current, Overhead first, Time bytes, Time begin) const {
        const bool apart = !first.reached && bytes > 0 && reach_.O;
        return {first.reached && is_in_detour(current, begin),
                apart && is_in_detour(current, later(begin, first.length))};
    }

    [[nodiscard]] bool is_in_detour(const Current& current, Time t) const {
        machine::NoiseState ahead = tables_.noise[current.number()];
        return tables_.machine.noise.finish(ahead, t, 0) > t;
    }

    Tables& tables_;
    machine::NoiseReach reach_;  ///< a copy: each message needs it
    bool noisy_;
    ByLevel sends_end_late_;
    MessageCount messages_;
};

}  // namespace idlewave::loggops
