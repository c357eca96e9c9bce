#pragma once

#include "loggops/worker.hpp"

/// What a message costs its sender and its receiver (docs/model.md: "send", "Receiving").
namespace idlewave {

template <Source S, class Observer>
[[gnu::always_inline]] inline const Costs& RankWorker<S, Observer>::costs_of(std::uint16_t message_class,
                                                                             std::uint64_t size, std::uint32_t peer) {
    const bool node = within_node(peer);
    if (message_class != Message::no_class) {
        return node ? model_.classes[message_class].node : model_.classes[message_class].network;
    }
    unclassified_costs_ = costs(node ? *model_.machine.node : model_.machine.network, size);
    return unclassified_costs_;
}

/// The CPU's part of a message, from `begin` on: an overhead, and what O costs. Where it is quiet, noise changes
/// nothing, whatever it reaches.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::transfer(ActivityKind kind, const Overhead& overhead,
                                                                     const Costs& costs, const About& message,
                                                                     OpIndex op_index, Time begin) -> Transfer {
    const Time done = later(begin, overhead.length);
    Transfer transfer{{.kind = kind,
                       .message = message.kind,
                       .within_node = within_node(message.peer),
                       .peer = message.peer,
                       .amount = message.size,
                       .op_index = op_index},
                      {done, later(done, costs.over)}};
    if (noisy_) {
        NoiseState& noise = model_.noise[self_];
        if (noise.quiet_from > begin || begin >= noise.quiet_until || transfer.cpu.end > noise.quiet_until)
            [[unlikely]] {
            if constexpr (Observer::observes) {
                const Stands stands = stands_of(overhead, costs.over, begin);
                transfer.activity.in_detour = stands.first;
                transfer.activity.bytes_in_detour = stands.late;
            }
            transfer.cpu = occupy(model_.machine, noise, begin, overhead, costs.over);
        }
    }
    return transfer;
}

template <Source S, class Observer>
[[gnu::noinline]] auto RankWorker<S, Observer>::stands_of(const Overhead& overhead, Time bytes, Time begin) const
    -> Stands {
    const bool late = !overhead.reached && bytes > 0 && model_.machine.noise_reach.O;
    return {overhead.reached && is_in_detour(begin), late && is_in_detour(later(begin, overhead.length))};
}

/// A transmission takes the CPU and the NIC's send side from `now` on.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::occupy_sender(const Receive<Cookie>& op,
                                                                          const About& message, const Costs& costs,
                                                                          const Moment& now) -> Departure {
    const Time begin = time_of(now);
    const auto [activity, cpu] = transfer(ActivityKind::transmission, {costs.o_s, model_.machine.noise_reach.o_s},
                                          costs, message, op.op_index, begin);
    const auto ref = model_.observer.begin(self_, now, activity, messages_);
    const Moment free = model_.observer.at(ref, Point::sender_free, cpu.end);
    free_times()[Layout::cpu(op.cpu)] = free;
    free_times()[model_.layout.tx(op.nic)] = model_.observer.at(ref, Point::sender_gap, later(begin, costs.gap));
    ++messages_.sent;
    return {free, later(cpu.overhead, costs.L), model_.observer.annotate(ref)};
}

/// The same, and the message is on its way. Returns when the CPU is free of it.
template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::transmit(const Receive<Cookie>& op, std::uint32_t peer,
                                                                     const Message& message, const Costs& costs,
                                                                     const Moment& now, Context& context) -> Moment {
    const Departure sent = occupy_sender(op, {message.kind, peer, message.size}, costs, now);
    if (message.kind == MessageKind::data && message.message_class != Message::no_class) [[likely]] {
        const std::uint16_t code = model_.observer.code(message, sent.carried);
        if (code != Message::no_class) [[likely]] {
            context.send(peer, sent.arrival, code);
            return sent.free;
        }
    }
    if constexpr (Observer::observes) {
        context.send(peer, sent.arrival, message, sent.carried);
    } else {
        context.send(peer, sent.arrival, message);
    }
    return sent.free;
}

template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::send_eagerly(const Ready& ready, const Moment& now,
                                                                         Context& context) -> Moment {
    const Op& op = ready.op;
    const std::uint16_t message_class = recent_.number(op.size, op.tag);
    const Message message{.size = op.size, .tag = op.tag, .message_class = message_class};
    return transmit(started_op(ready), op.peer, message, costs_of(message_class, op.size, op.peer), now, context);
}

/// A reception takes the CPU and the NIC's receive side from `now` on. Returns when the message is processed.
template <Source S, class Observer>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::occupy_receiver(const Receive<Cookie>& op,
                                                                            const About& message, const Costs& costs,
                                                                            const Moment& now) -> Moment {
    const Time begin = time_of(now);
    const auto [activity, cpu] = transfer(ActivityKind::reception, {costs.o_r, model_.machine.noise_reach.o_r}, costs,
                                          message, op.op_index, begin);
    const auto ref = model_.observer.begin(self_, now, activity, messages_);
    const Moment free = model_.observer.at(ref, Point::receiver_free, cpu.end);
    free_times()[Layout::cpu(op.cpu)] = free;
    free_times()[model_.layout.rx(op.nic)] = model_.observer.at(ref, Point::receiver_gap, later(begin, costs.gap));
    const Time after_overhead = cpu.end - cpu.overhead;
    if (costs.bytes <= after_overhead && (!Observer::observes || costs.bytes < after_overhead || message.size <= 1)) {
        return free;  // and where both are as late, both have the same slopes
    }
    const Moment processed = latest(free, model_.observer.at(ref, Point::wire, later(cpu.overhead, costs.bytes)));
    model_.processed[self_] = latest(model_.processed[self_], processed);
    return processed;
}

}  // namespace idlewave
