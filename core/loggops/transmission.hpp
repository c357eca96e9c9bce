#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "loggops/message.hpp"
#include "loggops/message_classes.hpp"
#include "loggops/occupation.hpp"
#include "loggops/rank.hpp"
#include "loggops/started_op.hpp"
#include "loggops/tables.hpp"
#include "machine/costs.hpp"

namespace idlewave::loggops {

/// Sends and receives messages: takes the resources for their costs, and hands a sent message to the kernel
/// (docs/model.md, R3, R7, R8).
template <goal::Source S, class Observer>
class Transmission {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Current = CurrentRank<S, Moment>;
    using Op = StartedOp<typename S::Cookie>;

    Transmission(Tables& tables, Occupation<S, Observer>& occupation)
        : tables_(tables),
          occupation_(occupation),
          classes_(tables.classes),
          recent_(tables.classes),
          node_ranks_(tables.machine.node ? tables.machine.node_ranks : 0),
          network_eager_limit_(tables.machine.network.S),
          node_eager_limit_(tables.machine.node ? tables.machine.node->S : 0),
          network_control_(costs(tables.machine.network, 1)),
          node_control_(costs(tables.machine.node ? *tables.machine.node : tables.machine.network, 1)),
          unclassified_{0, false, costs(tables.machine.network, 0)},
          posts_take_cpu_(tables.machine.posts_take_cpu()) {}

    [[nodiscard]] bool is_eager(const Current& current, std::uint32_t peer, std::uint64_t size) const {
        return size <= (is_within_node(current, peer) ? node_eager_limit_ : network_eager_limit_);
    }

    /// Whether receives take the CPU on this machine.
    [[nodiscard, gnu::always_inline]] bool posts_take_cpu() const { return posts_take_cpu_; }

    /// Posts a receive on such a machine. One from any source counts as one from another node.
    Moment post(const Current& current, const Op& receive, std::uint32_t source, std::uint64_t size,
                const Moment& now) {
        const bool within_node = source < tables_.source.ranks() && is_within_node(current, source);
        const machine::Level& level = within_node ? *tables_.machine.node : tables_.machine.network;
        return occupation_.post(current, receive, {MessageKind::data, source, size, within_node}, level.of(size).o_p,
                                now);
    }

    /// Transmits an eager message. Returns the time at which the send ends.
    template <class Ready, class Context>
    [[gnu::always_inline]] Moment send_eagerly(const Current& current, const Ready& ready, const Op& op,
                                               const Moment& now, Context& context) {
        const std::uint16_t message_class = recent_.number(ready.op.size, ready.op.tag);
        const Message message{.size = ready.op.size, .tag = ready.op.tag, .message_class = message_class};
        const bool within_node = is_within_node(current, ready.op.peer);
        return transmit(current, op, ready.op.peer, message, within_node,
                        costs_of(message_class, ready.op.size, within_node), now, context);
    }

    /// Transmits a message of the rendezvous protocol: rendezvous data, or a control message, which counts as one byte.
    /// Returns the time at which the send ends, if these are the data.
    template <class Context>
    Moment send_protocol(const Current& current, const Op& op, std::uint32_t peer, const Message& message,
                         const Moment& now, Context& context) {
        const bool within_node = is_within_node(current, peer);
        return transmit(current, op, peer, message, within_node, costs_of(Message::no_class, message.size, within_node),
                        now, context);
    }

    /// Receives a message from `source`. Returns the time at which it is processed.
    [[gnu::always_inline]] Moment receive(const Current& current, const Op& op, MessageKind kind, std::uint32_t source,
                                          std::uint64_t size, std::uint16_t message_class, const Moment& now) {
        const bool within_node = is_within_node(current, source);
        return occupation_.receive(current, op, {kind, source, size, within_node},
                                   costs_of(message_class, size, within_node), now);
    }

    /// Gives a message that came from another process its class in this process.
    [[nodiscard]] std::uint16_t classify(Message& message) {
        message.message_class =
            message.kind == MessageKind::data ? recent_.number(message.size, message.tag) : Message::no_class;
        return message.message_class;
    }

  private:
    /// The costs of the last message without a class, such as the data of a rendezvous: the next one often has its
    /// size.
    struct UnclassifiedCosts {
        std::uint64_t size;
        bool within_node;
        machine::Costs costs;
    };

    [[nodiscard, gnu::always_inline]] bool is_within_node(const Current& current, std::uint32_t peer) const {
        return node_ranks_ != 0 && current.number() / node_ranks_ == peer / node_ranks_;
    }

    [[gnu::always_inline]] const machine::Costs& costs_of(std::uint16_t message_class, std::uint64_t size,
                                                          bool within_node) {
        if (message_class != Message::no_class) {
            return within_node ? classes_[message_class].node : classes_[message_class].network;
        }
        if (size == 1) {
            return within_node ? node_control_ : network_control_;
        }
        if (size != unclassified_.size || within_node != unclassified_.within_node) {
            unclassified_ = {size, within_node,
                             costs(within_node ? *tables_.machine.node : tables_.machine.network, size)};
        }
        return unclassified_.costs;
    }

    /// Returns the time at which the send ends.
    template <class Context>
    [[gnu::always_inline]] Moment transmit(const Current& current, const Op& op, std::uint32_t peer,
                                           const Message& message, bool within_node,
                                           const machine::Costs& message_costs, const Moment& now, Context& context) {
        const auto sent =
            occupation_.transmit(current, op, {message.kind, peer, message.size, within_node}, message_costs, now);
        if (message.kind == MessageKind::data && message.message_class != Message::no_class) [[likely]] {
            const std::uint16_t code = tables_.observer.code(message, sent.annotation);
            if (code != Message::no_class) [[likely]] {
                context.send(peer, sent.arrival, code);
                return sent.done;
            }
        }
        if constexpr (Observer::observes) {
            context.send(peer, sent.arrival, message, sent.annotation);
        } else {
            context.send(peer, sent.arrival, message);
        }
        return sent.done;
    }

    Tables& tables_;
    Occupation<S, Observer>& occupation_;
    const MessageClasses& classes_;
    RecentClasses recent_;
    // Copies of the machine's, which each message needs.
    std::uint32_t node_ranks_;  ///< 0: the machine has no network within nodes
    std::uint64_t network_eager_limit_;
    std::uint64_t node_eager_limit_;
    machine::Costs network_control_;  ///< of one byte, as all control messages are
    machine::Costs node_control_;     ///< the same within nodes
    UnclassifiedCosts unclassified_;
    bool posts_take_cpu_;
};

}  // namespace idlewave::loggops
