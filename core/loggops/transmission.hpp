#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/message.hpp"
#include "loggops/message_classes.hpp"
#include "loggops/occupation.hpp"
#include "loggops/rank.hpp"
#include "loggops/started_op.hpp"
#include "loggops/tables.hpp"
#include "machine/costs.hpp"
#include "machine/variation.hpp"

namespace idlewave::loggops {

/// Sends and receives messages: takes the resources for their costs, and hands a sent message to the kernel
/// (docs/model.md, R3, R7, R8). Where L and G vary over time (R27), no message has a class, and what a message costs is
/// looked up at the time at which it costs that.
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
          network_eager_limit_(std::min(tables.machine.network.S, goal::largest_size)),
          node_eager_limit_(tables.machine.node ? std::min(tables.machine.node->S, goal::largest_size) : 0),
          network_control_(costs(tables.machine.network, 1)),
          node_control_(costs(tables.machine.node ? *tables.machine.node : tables.machine.network, 1)),
          one_sided_control_(costs(tables.machine.one_sided ? *tables.machine.one_sided : tables.machine.network, 1)),
          unclassified_{0, Level::network, costs(tables.machine.network, 0)},
          variation_(tables.machine.variation),
          always_eager_(node_ranks_ != 0 ? std::min(network_eager_limit_, node_eager_limit_) : network_eager_limit_),
          has_shared_buffer_(tables.machine.shared_buffer.has_value()),
          has_one_level_(node_ranks_ == 0 && !has_shared_buffer_),
          posts_take_cpu_(tables.machine.posts_take_cpu()) {}

    /// Whether a message is eager. A synchronous one never is; of the others, one that passes through a shared buffer
    /// always is (R3).
    [[nodiscard]] bool is_eager(const Current& current, const goal::Op& op) const {
        return op.size <= always_eager_ || is_eager_at_its_level(current, op);
    }

    /// Whether receives take the CPU on this machine.
    [[nodiscard, gnu::always_inline]] bool posts_take_cpu() const { return posts_take_cpu_; }

    /// Posts a receive on such a machine. One from any source counts as one from another node.
    Moment post(const Current& current, const Op& receive, const goal::Op& op, const Moment& now) {
        const bool known = op.peer < tables_.source.ranks();
        const Level level = known ? level_of(current, op.peer, op.tag) : Level::network;
        return occupation_.post(current, receive, {MessageKind::data, op.peer, op.size, level},
                                tables_.machine.level(level).of(op.size).o_p, now);
    }

    /// Transmits an eager message. Returns the time at which the send ends.
    template <class Ready, class Context>
    [[gnu::always_inline]] Moment send_eagerly(const Current& current, const Ready& ready, const Op& op,
                                               const Moment& now, Context& context) {
        const MessageClass* const known = recent_.find(ready.op.size, ready.op.tag);
        if (known == nullptr) [[unlikely]] {
            return send_without_class(current, ready.op, op, now, context);
        }
        const Level level = level_of(current, ready.op.peer, ready.op.tag);
        const auto sent = occupation_.transmit(current, op, {MessageKind::data, ready.op.peer, ready.op.size, level},
                                               known->costs(level), now);
        const std::uint16_t code = tables_.observer.code(known->message, sent.annotation);
        if (!Observer::observes || code != Message::no_class) [[likely]] {
            context.send(ready.op.peer, sent.arrival, code);
        } else {
            send_whole(ready.op.peer, known->message, sent, context);
        }
        return sent.done;
    }

    /// Transmits a message of the rendezvous protocol: rendezvous data, or a control message, which counts as one byte.
    /// Returns the time at which the send ends, if these are the data.
    template <class Context>
    Moment send_protocol(const Current& current, const Op& op, std::uint32_t peer, const Message& message,
                         const Moment& now, Context& context) {
        return transmit(current, op, peer, message, level_of(current, peer, no_tag), now, context);
    }

    // ---- one-sided operations (R22 to R26)

    /// Whether a CPU of the target takes part in them.
    [[nodiscard]] bool takes_target_cpu() const { return tables_.machine.progress == machine::Progress::cpu; }

    using Landing = typename Occupation<S, Observer>::Landed;

    /// What stands for the op at the target of a one-sided operation, which has none: its first CPU and NIC.
    static Op op_of_target() { return {.op_index = goal::unknown_op_index}; }

    /// A CPU hands a put, the request of another one-sided operation, or the reply to a get to the NIC. Returns when
    /// the NIC has it.
    Moment initiate(const Current& current, const Op& op, std::uint32_t peer, const Message& message,
                    const Moment& now) {
        const MessageEnd end = one_sided_end(current, peer, message);
        return occupation_.initiate(current, op, end, costs_without_class(end.size, end.level), now);
    }

    /// The NIC transmits what was handed to it.
    template <class Context>
    void transmit_by_nic(const Current& current, const Op& op, std::uint32_t peer, const Message& message,
                         const Moment& now, Context& context) {
        const MessageEnd end = one_sided_end(current, peer, message);
        auto sent = occupation_.transmit_by_nic(current, op, end, costs_at(end.size, end.level, time_of(now)), now);
        sent.arrival = arrival_of(sent.arrival, end.size, end.level);
        send_whole(peer, message, sent, context);
    }

    /// Receives a message of `size` bytes on the wire, by the NIC alone or with the CPU. `origin` is the operation, if
    /// it is one of this rank.
    [[nodiscard]] Landing land(const Current& current, const Origin<typename S::Cookie>* origin, MessageKind kind,
                               std::uint32_t source, std::uint64_t size, const Moment& now) {
        const Level level = one_sided_level(current, source);
        const Op op = origin == nullptr ? op_of_target()
                                        : Op{.op_index = origin->op_index, .cpu = origin->cpu, .nic = origin->nic};
        const MessageEnd end{kind, source, size, level};
        const machine::Costs& costs = costs_at(size, level, time_of(now));
        return takes_target_cpu() ? occupation_.land_by_cpu(current, op, end, costs, now)
                                  : occupation_.land(current, op, end, costs, now);
    }

    /// Sends an acknowledgement to `peer` of `size` bytes that have landed. It takes no CPU and no NIC: it leaves at
    /// `at` and arrives L later, that of `size` bytes.
    template <class Context>
    void acknowledge(const Current& current, std::uint32_t peer, const Origin<typename S::Cookie>& origin,
                     std::uint64_t size, const Landing& landing, const Moment& at, Context& context) {
        Message message{.size = 1, .tag = 0, .kind = MessageKind::acknowledgement};
        set_origin(message, origin);
        const Level level = one_sided_level(current, peer);
        const Time arrival = tables_.machine.varies(level) ? arrival_of(time_of(at), size, level)
                                                           : later(time_of(at), costs_without_class(size, level).L);
        const auto annotation = tables_.observer.acknowledge(landing.activity, at, level);
        if constexpr (Observer::observes) {
            context.send(peer, arrival, message, annotation);
        } else {
            context.send(peer, arrival, message);
        }
    }

    /// Receives a message from `source`; `tag` is that of an eager message. Returns the time at which it is processed.
    [[gnu::always_inline]] Moment receive(const Current& current, const Op& op, MessageKind kind, std::uint32_t source,
                                          std::uint64_t size, std::uint32_t tag, std::uint16_t message_class,
                                          const Moment& now) {
        const Level level = level_of(current, source, kind == MessageKind::data ? tag : no_tag);
        return occupation_.receive(current, op, {kind, source, size, level},
                                   costs_of(message_class, size, level, time_of(now)), now);
    }

    /// Gives a message that came from another process its class in this process. Those of one-sided operations have
    /// none.
    [[nodiscard]] std::uint16_t classify(Message& message) {
        if (is_one_sided(message.kind)) {
            return Message::no_class;
        }
        const MessageClass* const known =
            message.kind == MessageKind::data ? recent_.find(message.size, message.tag) : nullptr;
        message.message_class = known == nullptr ? Message::no_class : known->message.message_class;
        return message.message_class;
    }

  private:
    using Level = machine::LevelKind;

    /// Of messages that do not pass through a shared buffer, whatever their tag is.
    static constexpr std::uint32_t no_tag = 0;

    /// The costs of the last message without a class, such as the data of a rendezvous: the next one often has its
    /// size.
    struct UnclassifiedCosts {
        std::uint64_t size;
        Level level;
        machine::Costs costs;
    };

    [[nodiscard, gnu::noinline]] bool is_eager_at_its_level(const Current& current, const goal::Op& op) const {
        if (goal::is_synchronous(op.size)) {
            return false;
        }
        const Level level = level_of(current, op.peer, op.tag);
        return level == Level::shared_buffer ||
               op.size <= (level == Level::node ? node_eager_limit_ : network_eager_limit_);
    }

    /// The level of the messages of one-sided operations (R22).
    [[nodiscard]] Level one_sided_level(const Current& current, std::uint32_t peer) const {
        return tables_.machine.one_sided ? Level::one_sided : level_of(current, peer, no_tag);
    }

    /// A message of a one-sided operation at its sender. Requests count as one byte.
    [[nodiscard]] MessageEnd one_sided_end(const Current& current, std::uint32_t peer, const Message& message) const {
        const bool has_data = message.kind == MessageKind::put || message.kind == MessageKind::get_reply;
        return {message.kind, peer, has_data ? message.size : 1, one_sided_level(current, peer)};
    }

    /// The level of a message. On a machine without a network within nodes, all ranks share the buffer.
    [[nodiscard, gnu::always_inline]] Level level_of(const Current& current, std::uint32_t peer,
                                                     std::uint32_t tag) const {
        if (has_one_level_) [[likely]] {
            return Level::network;
        }
        return level_among_several(current, peer, tag);
    }
    [[nodiscard, gnu::noinline]] Level level_among_several(const Current& current, std::uint32_t peer,
                                                           std::uint32_t tag) const {
        const bool within_node = node_ranks_ != 0 && current.number() / node_ranks_ == peer / node_ranks_;
        if (has_shared_buffer_ && goal::has_shared_buffer_tag(tag)) {
            return node_ranks_ == 0 || within_node ? Level::shared_buffer : Level::network;
        }
        return within_node ? Level::node : Level::network;
    }

    [[gnu::always_inline]] const machine::Costs& costs_of(std::uint16_t message_class, std::uint64_t size, Level level,
                                                          Time begin) {
        return message_class != Message::no_class ? classes_[message_class].costs(level) : costs_at(size, level, begin);
    }
    /// The costs of a message without a class, whose transmission or reception begins at `begin`.
    const machine::Costs& costs_at(std::uint64_t size, Level level, Time begin) {
        const machine::Costs& costs = costs_without_class(size, level);
        return tables_.machine.varies(level) ? varied_costs(costs, size, level, begin) : costs;
    }
    /// The same where L and G vary. They have no L: it depends on when the first byte departs, which `arrival_of`
    /// knows.
    [[gnu::noinline]] const machine::Costs& varied_costs(const machine::Costs& costs, std::uint64_t size, Level level,
                                                         Time begin) {
        varied_ = costs;
        varied_.L = 0;
        if (const double factor = variation_.factor_of_G(begin); size > 1 && factor != 1) {
            varied_ = with_bytes(varied_, tables_.machine.level(level).of(size).G * factor, size);
        }
        return varied_;
    }
    /// The arrival of a message without a class that arrives at `arrival` by `costs_at`.
    Time arrival_of(Time arrival, std::uint64_t size, Level level) {
        return tables_.machine.varies(level) ? variation_.arrival(arrival, costs_without_class(size, level).L)
                                             : arrival;
    }
    const machine::Costs& costs_without_class(std::uint64_t size, Level level) {
        if (size == 1 && level <= Level::node) {
            return level == Level::network ? network_control_ : node_control_;
        }
        if (size == 1 && level == Level::one_sided) {
            return one_sided_control_;
        }
        if (size != unclassified_.size || level != unclassified_.level) {
            unclassified_ = {size, level, costs(tables_.machine.level(level), size)};
        }
        return unclassified_.costs;
    }

    /// Transmits an eager message for which there is no class.
    template <class Context>
    [[gnu::noinline]] Moment send_without_class(const Current& current, const goal::Op& send, const Op& op,
                                                const Moment& now, Context& context) {
        const Message message{.size = send.size, .tag = send.tag};
        return transmit(current, op, send.peer, message, level_of(current, send.peer, send.tag), now, context);
    }

    /// Transmits a message without a class. Returns the time at which the send ends.
    template <class Context>
    Moment transmit(const Current& current, const Op& op, std::uint32_t peer, const Message& message, Level level,
                    const Moment& now, Context& context) {
        auto sent = occupation_.transmit(current, op, {message.kind, peer, message.size, level},
                                         costs_at(message.size, level, time_of(now)), now);
        sent.arrival = arrival_of(sent.arrival, message.size, level);
        send_whole(peer, message, sent, context);
        return sent.done;
    }

    template <class Sent, class Context>
    [[gnu::always_inline]] static void send_whole(std::uint32_t peer, const Message& message, const Sent& sent,
                                                  Context& context) {
        if constexpr (Observer::observes) {
            context.send(peer, sent.arrival, message, sent.annotation);
        } else {
            context.send(peer, sent.arrival, message);
        }
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
    machine::Costs one_sided_control_;
    UnclassifiedCosts unclassified_;
    machine::VariationCursor variation_;
    machine::Costs varied_;
    std::uint64_t always_eager_;  ///< messages of up to this size are eager at all levels
    bool has_shared_buffer_;
    bool has_one_level_;
    bool posts_take_cpu_;
};

}  // namespace idlewave::loggops
