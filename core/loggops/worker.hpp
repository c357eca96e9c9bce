#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/archive.hpp"
#include "base/slab.hpp"
#include "loggops/agenda.hpp"
#include "loggops/model.hpp"
#include "loggops/moved_handles.hpp"
#include "pdes/event.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave {

/// Simulates ranks, one at a time: a thread's part of the model. Here is how a rank is entered and left, and whom it
/// tells; which thing is next is in following.hpp, what ops do in ops.hpp, what a message costs in transmission.hpp,
/// what becomes of one that has come in arrival.hpp, how it meets its receive in meeting.hpp, the rendezvous in
/// rendezvous.hpp.
template <Source S, class Observer>
class RankWorker {
  public:
    using Model = LogGops<S, Observer>;
    using Moment = typename Observer::Moment;
    using Payload = typename Observer::Payload;
    using State = Rank<S, Moment>;
    using Cookie = typename S::Cookie;
    using Layout = typename Model::Layout;
    using Ready = ReadyOp<Cookie, Moment>;
    using Event = pdes::Event<Payload>;

    explicit RankWorker(Model& model)
        : model_(model), recent_(model.classes), noisy_(!model.noise.empty()), levels_(model.machine.node) {}

    [[nodiscard]] std::uint64_t messages() const { return messages_.sent; }

    template <class Context>
    Time start(State& rank, Time until, Context& context) {
        enter(rank, context.self());
        if (noisy_) {
            model_.noise[self_] = model_.machine.noise.begin(model_.seed, self_);
        }
        model_.source.begin(self_, rank.source, scratch_, *ready_);
        follow_all(until, context);
        return run_until({}, until, context);
    }

    template <class Context>
    Time run(State& rank, std::span<const Event> events, Time until, Context& context) {
        remember(rank, context);
        enter(rank, context.self());
        return run_until(events, until, context);
    }

    /// The same with one event: most often all that a rank is told, while nothing waits.
    template <class Context>
    [[gnu::always_inline]] Time run_one(State& rank, const Event& event, Time until, Context& context) {
        remember(rank, context);
        enter(rank, context.self());
        if (agenda_.idle() && !rank.posted.end_pending && event.payload->kind == MessageKind::data) [[likely]] {
            meet_alone(event, until, context);
            return agenda_.idle() ? leave(pending_end()) : run_until({}, until, context);
        }
        return run_until(std::span(&event, 1), until, context);
    }

    template <class Context>
    Time step(State& rank, std::span<const Event> events, Time now, Context& context) {
        enter(rank, context.self());
        for (const Event& event : events) {
            arrive(event);
        }
        const auto next = agenda_.next(free_times());
        if (next.at > now) {
            return leave(next.at);
        }
        perform({now, next.index}, context);
        request_ready_ops();
        leave();
        return now;
    }

    /// Bring what lies apart from a rank's state into the cache.
    [[gnu::always_inline]] void prefetch(const State& rank, std::uint32_t r) const {
        if (noisy_) {
            __builtin_prefetch(&model_.noise[r], 1);
        }
        if constexpr (requires { model_.source.prefetch(r, rank.source); }) {
            model_.source.prefetch(r, rank.source);
        }
        if ((rank.pending | rank.overflow) != 0) {
            agenda_.prefetch(rank.pending);
            arrived_messages_.prefetch(rank.first_unexpected());
            if (rank.has_overflow()) {
                overflows_.prefetch(rank.overflow);
            }
        }
    }

    /// All that rank `r` is, to be unpacked by this worker or another one, of this process or another one.
    void pack(const State& rank, std::uint32_t r, Serialiser& packer);
    /// Makes a rank what was packed, in the place of what it is.
    void unpack(State& rank, std::uint32_t r, Deserialiser& unpacker);
    /// What it was before a visit, of which `undo_data` was written.
    void undo(State& rank, std::span<const std::byte> undo_data, std::uint32_t r) {
        discard(rank, r);
        Deserialiser unpacker(undo_data);
        unpack(rank, r, unpacker);
    }

    /// A rank with much to pack, or with open rendezvous, of which others know where they are kept, goes ahead of
    /// nothing; nor does one that is told of a rendezvous, since only a true one can go on.
    [[nodiscard]] bool is_conservative(const State& rank, std::uint32_t r) const {
        return rank.has_overflow() || !model_.open[r].none();
    }
    [[nodiscard]] static bool is_conservative(const Payload& message) { return message.kind != MessageKind::data; }

    /// A message from another process: its class here, if it has one.
    [[nodiscard]] std::uint16_t assign_code(Payload& message)
        requires(!Observer::observes)
    {
        message.message_class =
            message.kind == MessageKind::data ? recent_.number(message.size, message.tag) : Message::no_class;
        return message.message_class;
    }

    /// The messages that it has sent: what the kernel may take back.
    [[nodiscard]] std::uint64_t& executed() { return messages_.sent; }

    /// What is left of rank `r` when nothing can happen any more, its sends apart.
    void collect_unfinished(std::uint32_t r, const State& rank, Unfinished& unfinished) const;
    void collect_unfinished_sends(Unfinished& unfinished) const;

  private:
    // ---- one rank at a time

    [[gnu::always_inline]] void enter(State& rank, std::uint32_t self) {
        rank_ = &rank;
        self_ = self;
        if constexpr (!S::single_cpu_and_nic) {
            free_times_ = model_.free_times_of(self, rank);
        }
        RequestQueues<Cookie, Moment>* queues = nullptr;
        if (rank.has_overflow() && !overflows_[rank.overflow].requests.empty()) [[unlikely]] {
            queues = &overflows_[rank.overflow].requests;
        }
        agenda_.open(rank.pending, queues);
    }

    /// From when on the rank's CPUs and NICs are free, as Layout says.
    [[nodiscard, gnu::always_inline]] Moment* free_times() const {
        if constexpr (S::single_cpu_and_nic) {
            return rank_->free_times.data();
        } else {
            return free_times_;
        }
    }

    /// `next` is when the rank goes on by itself.
    [[gnu::always_inline]] Time leave(Time next) {
        rank_->pending = agenda_.close();
        if (rank_->has_overflow() && overflows_[rank_->overflow].empty()) {
            overflows_.remove(rank_->overflow);
            rank_->overflow = 0;
        }
        return next;
    }

    Time leave() { return leave(agenda_.next(free_times()).at); }

    /// The rank's overflow, into which its few unexpected messages move.
    Overflow<Cookie, Moment>& overflow() {
        if (!rank_->has_overflow()) {
            std::uint32_t arrived = rank_->first_unexpected();
            rank_->overflow = overflows_.add();
            for (; arrived != 0; arrived = arrived_messages_[arrived].next) {
                overflows_[rank_->overflow].unexpected.add(arrived_messages_[arrived].source,
                                                           arrived_messages_[arrived].tag, arrived);
            }
        }
        return overflows_[rank_->overflow];
    }

    /// Where to write a new request, which then has to be `agenda_.added()`.
    Request<Cookie, Moment>& new_request() {
        if (agenda_.full()) [[unlikely]] {
            agenda_.use(overflow().requests, performing_);
        }
        return agenda_.make();
    }

    /// Whether a detour holds the CPU at `t`.
    [[nodiscard]] bool is_in_detour(Time t) const {
        NoiseState ahead = model_.noise[self_];
        return model_.machine.noise.finish(ahead, t, 0) > t;
    }

    // ---- what is next: following.hpp

    template <class Context>
    Time run_until(std::span<const Event> events, Time until, Context& context);
    bool start_only_request(const typename Agenda<Cookie, Moment>::Next& next);
    template <class Context>
    void perform(const typename Agenda<Cookie, Moment>::Next& next, Context& context);
    template <class Context>
    void perform(const Ready& ready, const Moment& now, Context& context);
    /// When the rank goes on by itself, while nothing waits.
    [[nodiscard]] Time pending_end() const {
        return rank_->posted.end_pending ? time_of(free_times()[Layout::cpu(0)]) : never;
    }
    template <class Context>
    void report_pending_end(Time until, Context& context);
    template <class Context>
    void follow(bool there, Time until, Context& context);
    template <class Context>
    void follow_all(Time until, Context& context);

    [[nodiscard, gnu::always_inline]] Moment start_of(const Ready& ready) const {
        switch (ready.op.kind) {
            case OpKind::send:
                return start_of_send(ready);
            case OpKind::recv:
                return ready.at;
            default:
                return latest(ready.at, free_times()[Layout::cpu(ready.op.cpu)]);
        }
    }
    [[nodiscard, gnu::always_inline]] Moment start_of_send(const Ready& ready) const {
        return latest(ready.at, free_times()[Layout::cpu(ready.op.cpu)], free_times()[model_.layout.tx(ready.op.nic)]);
    }

    /// The moment at which a request starts, whose time is known.
    [[nodiscard, gnu::always_inline]] Moment start_of(const Request<Cookie, Moment>& request, Time at) const {
        if constexpr (!Observer::observes) {
            return at;
        } else if (request.kind == RequestKind::post) {
            return request.ready.at;
        } else {
            return latest(request.ready.at, free_times()[request.first_resource],
                          free_times()[request.second_resource]);
        }
    }

    /// The order of docs/model.md among ops: the first to start, then ready time, kind, and op index.
    [[nodiscard]] bool goes_first(const Ready& a, const Ready& b) const {
        if (a.op.kind == OpKind::send && b.op.kind == OpKind::recv) [[likely]] {
            return time_of(start_of(a)) <=
                   time_of(b.at);  // at one time the send was ready no later, and sends go first
        }
        const auto order = [this](const Ready& ready) {
            return std::tuple(time_of(start_of(ready)), time_of(ready.at), priority_of(ready.op.kind), ready.op_index);
        };
        return order(a) < order(b);
    }

    // ---- ops

    [[gnu::always_inline]] void request_ready_ops() {
        if (!ready_->empty()) {
            request_all_ready();
        }
    }

    [[gnu::noinline]] void request_all_ready() {
        for (const Ready& ready : *ready_) {
            request_op(ready);
        }
        ready_->clear();
    }

    [[gnu::noinline]] void request_op(const Ready& ready) {
        const Op& op = ready.op;
        Request<Cookie, Moment>& request = new_request();
        request.ready = ready;
        request.first_resource = Layout::cpu(op.cpu);
        request.second_resource = op.kind == OpKind::send ? model_.layout.tx(op.nic) : request.first_resource;
        request.priority = priority_of(op.kind);
        request.kind = request_kind_of(op.kind);
        agenda_.added();
    }

    /// An op starts: those who look on are told.
    [[gnu::always_inline]] void record_start(const Ready& ready, const Moment& now) {
        if constexpr (Observer::records) {
            const Op& op = ready.op;
            model_.observer.started(
                self_, ready.op_index,
                {op.kind, op.peer, op.tag, op.size, model_.source.call(self_, rank_->source, ready.cookie)}, ready.at,
                now);
        }
    }

    /// The source is told; whether this made an op ready that is now in `next`.
    [[gnu::always_inline]] bool report_start(OpIndex op_index, Cookie cookie, const Moment& now, Ready& next) {
        return model_.source.started(self_, rank_->source, scratch_, {now, op_index, cookie}, next, *ready_);
    }
    /// Whether a receive brings a send along.
    [[nodiscard]] static bool brings_send(const Ready& receive) {
        if constexpr (S::has_exchanges) {
            return receive.exchange.send_to != no_rank;
        } else {
            return false;
        }
    }
    /// The same as `report_start` of a receive, which may bring a send along; `next` may be `posted`.
    [[gnu::always_inline]] bool report_posted(const Ready& posted, const Moment& now, Ready& next) {
        if constexpr (S::has_exchanges) {
            if (brings_send(posted)) {
                next.at = now;
                next.op.size = posted.op.size;
                next.op.peer = posted.exchange.send_to;
                next.op.tag = posted.op.tag;
                next.op.kind = OpKind::send;
                next.op.cpu = posted.op.cpu;
                next.op.nic = posted.op.nic;
                next.op.reduction = false;
                next.op_index = posted.op_index + 1;
                next.cookie = posted.cookie;
                next.exchange.send_to = no_rank;
                return true;
            }
        }
        return report_start(posted.op_index, posted.cookie, now, next);
    }
    [[gnu::always_inline]] bool report_end(OpIndex op_index, Cookie cookie, const Moment& end, Ready& next) {
        model_.observer.ended(self_, op_index, end);
        return model_.source.ended(self_, rank_->source, scratch_, {end, op_index, cookie}, next, *ready_);
    }

    [[gnu::always_inline]] void keep(bool there, const Ready& next) {
        if (there) {
            ready_->push_back(next);
        }
    }

    void op_started(const Ready& ready, const Moment& now) {
        Ready next;
        keep(report_start(ready.op_index, ready.cookie, now, next), next);
    }
    void op_ended(OpIndex op_index, Cookie cookie, const Moment& end) {
        Ready next;
        keep(report_end(op_index, cookie, end, next), next);
    }

    void calc(const Ready& ready, const Moment& now);
    Moment begin_calc(const Ready& ready, const Moment& now);
    [[nodiscard]] bool is_eager(const Op& send) const { return send.size <= model_.machine.level(self_, send.peer).S; }

    template <class Context>
    void send(const Ready& ready, const Moment& now, Context& context);
    template <class Context>
    Moment begin_send(const Ready& ready, const Moment& now, Context& context);
    /// What is needed of an op once it has started; of a receive, that waits.
    [[nodiscard, gnu::always_inline]] static Receive<Cookie> started_op(const Ready& ready) {
        if constexpr (S::single_cpu_and_nic) {
            return {.op_index = ready.op_index, .cookie = ready.cookie, .waits = true};
        } else {
            return {.op_index = ready.op_index,
                    .cookie = ready.cookie,
                    .cpu = ready.op.cpu,
                    .nic = ready.op.nic,
                    .waits = true};
        }
    }

    // ---- what a message costs: transmission.hpp

    [[nodiscard]] bool within_node(std::uint32_t peer) const {
        return levels_ && self_ / model_.machine.node_ranks == peer / model_.machine.node_ranks;
    }
    [[nodiscard]] const Costs& costs_of(std::uint16_t message_class, std::uint64_t size, std::uint32_t peer);
    /// A message as one end sees it.
    struct About {
        MessageKind kind;
        std::uint32_t peer;
        std::uint64_t size;  ///< on the wire
    };
    /// What a message does with the CPU at one end.
    struct Transfer {
        Activity activity;
        Occupied cpu;
    };
    [[nodiscard]] Transfer transfer(ActivityKind kind, const Overhead& overhead, const Costs& costs,
                                    const About& message, OpIndex op_index, Time begin);
    /// Whether detours hold the CPU when a transfer begins, and when noise reaches it only later: when it goes on to
    /// the bytes.
    struct Stands {
        bool first = false;
        bool late = false;
    };
    [[nodiscard]] Stands stands_of(const Overhead& overhead, Time bytes, Time begin) const;
    /// What a transmission leads to.
    struct Departure {
        Moment free;                                                  ///< the CPU
        Time arrival;                                                 ///< of the message
        [[no_unique_address]] typename Observer::Annotation carried;  ///< by the message, beside itself
    };
    Departure occupy_sender(const Receive<Cookie>& op, const About& message, const Costs& costs, const Moment& now);
    template <class Context>
    Moment transmit(const Receive<Cookie>& op, std::uint32_t peer, const Message& message, const Costs& costs,
                    const Moment& now, Context& context);
    template <class Context>
    Moment send_eagerly(const Ready& ready, const Moment& now, Context& context);
    Moment occupy_receiver(const Receive<Cookie>& op, const About& message, const Costs& costs, const Moment& now);

    // ---- a message that has come: arrival.hpp

    template <class Context>
    void meet_alone(const Event& event, Time until, Context& context);
    template <class Context>
    void meet_among_others(const Event& event, Time until, Context& context);
    [[nodiscard]] Moment reception_at(const Moment& arrived, const Receive<Cookie>& op) const;
    bool receive_at_once(const Event& event, const Receive<Cookie>& receive, Time until);
    void arrive(const Event& event);
    void await_receive(const Event& event);
    void await_receive_alone(const Event& event, Time until);
    void request_reception(const Event& event, const Receive<Cookie>& receive, RequestKind kind, std::uint32_t handle);
    std::uint32_t add_arrived_message(const Event& event);
    [[nodiscard]] OpIndex place_of(const Request<Cookie, Moment>& reception) const;
    Moment receive(const Request<Cookie, Moment>& request, const Moment& now);
    void message_processed(std::uint32_t handle, const Moment& time);

    // ---- a receive and its message: meeting.hpp

    bool take_posted(std::uint32_t source, std::uint32_t tag, Receive<Cookie>& receive);
    [[nodiscard]] std::uint32_t posted_receives() const;
    void add_unexpected(std::uint32_t arrived);
    bool take_unexpected(std::uint32_t source, std::uint32_t tag, std::uint32_t& arrived);
    [[nodiscard]] std::uint32_t unexpected_messages() const;
    /// Whether a receive that is posted now is the only one, and no message waits for it.
    [[nodiscard]] bool posts_alone() const { return rank_->overflow == 0 && !rank_->posted.waits; }
    bool post_alone(Ready& ready, const Moment& now);
    bool post_among_others(const Ready& ready, const Moment& now, Ready& next);
    void look_for_message(const Receive<Cookie>& receive, std::uint32_t source, std::uint32_t tag, const Moment& now);
    void wait_for(const Receive<Cookie>& receive, std::uint32_t source, std::uint32_t tag);
    void meet(std::uint32_t handle);

    // ---- large messages: rendezvous.hpp

    template <class T>
    static void link(Slab<T>& slab, std::uint32_t& first, std::uint32_t handle);
    template <class T>
    static void unlink(Slab<T>& slab, std::uint32_t& first, std::uint32_t handle);
    void remove_send(std::uint32_t handle);
    [[nodiscard]] std::uint32_t send_of(const Message& clearance);
    [[nodiscard]] std::uint32_t message_of(const Event& data);
    template <class Context>
    Moment send_control(const Receive<Cookie>& op, std::uint32_t peer, const Message& message, const Moment& now,
                        Context& context);
    template <class Context>
    void request_to_send(const Ready& ready, const Moment& now, Context& context);
    void arrive_control(const Event& event);
    void request_protocol_send(RequestKind kind, std::uint32_t handle, std::uint32_t peer, std::uint32_t number,
                               const Receive<Cookie>& op, const Moment& time);
    void request_clear_to_send(std::uint32_t handle, const Moment& time);
    void cleared_to_send(std::uint32_t handle, const Moment& time);
    template <class Context>
    void send_clear_to_send(const Request<Cookie, Moment>& request, const Moment& now, Context& context);
    template <class Context>
    void send_data(const Request<Cookie, Moment>& request, const Moment& now, Context& context);

    // ---- a rank as it is: packing.hpp

    struct DetachedState;
    [[nodiscard]] DetachedState detached_state_of(const State& rank, std::uint32_t r) const;
    template <class Archive>
    void serialise_fixed(State& rank, std::uint32_t r, Archive& archive);
    void unpack_detached_state(Deserialiser& unpacker);
    std::uint32_t unpack_arrived_message(Deserialiser& unpacker);
    void discard(State& rank, std::uint32_t r);
    template <class Context>
    void remember(State& rank, Context& context) {
        if constexpr (requires { context.undo_data->size(); }) {
            if (context.undo_data != nullptr) [[unlikely]] {
                Serialiser packer(*context.undo_data);
                pack(rank, context.self(), packer);
            }
        }
    }

    Model& model_;
    RecentClasses recent_;
    bool noisy_;
    bool levels_;  ///< a network within nodes
    MessageCount messages_;
    std::uint64_t next_request_id_ = 0;  ///< requests of the protocol so far

    State* rank_ = nullptr;
    Moment* free_times_ = nullptr;  ///< where ranks may have several CPUs or NICs
    std::uint32_t self_ = 0;
    Costs unclassified_costs_;  ///< of a message that has no message_class
    Agenda<Cookie, Moment> agenda_;
    static constexpr std::uint32_t nothing = 31;
    std::uint32_t performing_ = nothing;  ///< the slot of the request that is being performed
    typename S::Scratch scratch_{};
    std::array<Ready, 2> next_;  ///< the op that is next, and room for what its end makes ready
    using ReadyList = ReadyOps<Cookie, Moment>;
    std::array<ReadyList, 2> ready_lists_;
    ReadyList* ready_ = &ready_lists_[0];  ///< ops that have just become ready; in the other list one may be starting

    Slab<Overflow<Cookie, Moment>> overflows_;
    Slab<ArrivedMessage<Cookie, Moment>> arrived_messages_;
    Slab<OpenSend<Cookie>> sends_;
    MovedHandles moved_sends_;     ///< open sends that came from elsewhere, by their ranks and numbers
    MovedHandles moved_messages_;  ///< messages that await data, by their senders and numbers
};

}  // namespace idlewave

#include "loggops/arrival.hpp"
#include "loggops/dependencies.hpp"
#include "loggops/matching.hpp"
#include "loggops/ops.hpp"
#include "loggops/rendezvous.hpp"
#include "loggops/serialisation.hpp"
#include "loggops/transmission.hpp"
#include "loggops/unfinished.hpp"
