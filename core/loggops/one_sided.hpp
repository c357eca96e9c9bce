#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/slab.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/agenda.hpp"
#include "loggops/matching.hpp"
#include "loggops/message.hpp"
#include "loggops/one_sided_records.hpp"
#include "loggops/rank.hpp"
#include "loggops/request.hpp"
#include "loggops/started_op.hpp"
#include "loggops/tables.hpp"
#include "loggops/transmission.hpp"
#include "pdes/event.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::loggops {

/// One-sided operations (docs/model.md, R22 to R26), in the order of their steps: a CPU of the origin hands the
/// operation to the NIC, which transmits it; the target's NIC, and a CPU on some machines, receives and answers; and
/// the operation ends at its origin.
template <goal::Source S, class Observer>
class OneSided {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Cookie = typename S::Cookie;
    using Current = CurrentRank<S, Moment>;
    using Ended = EndedOp<Cookie, Moment>;
    using Event = pdes::Event<typename Observer::Payload>;
    using Entry = Request<Cookie, Moment>;
    using Lock = LockRequest<Cookie, Moment>;

    OneSided(Tables& tables, Agenda<Cookie, Moment>& agenda, Transmission<S, Observer>& transmission)
        : tables_(tables), agenda_(agenda), transmission_(transmission) {}

    // ---- the origin begins

    /// A put, get, lock or unlock starts: its CPU hands its data or its request to the NIC. Returns when the NIC has
    /// it.
    template <class Ready>
    Moment initiate(const Current& current, const Ready& ready, const Moment& now) {
        const goal::Op& op = ready.op;
        const Origin<Cookie> origin{.op_index = ready.op_index, .cookie = ready.cookie, .cpu = op.cpu, .nic = op.nic};
        Message message{.size = op.size, .tag = op.tag, .kind = message_kind_of(op.kind)};
        if (op.kind == goal::OpKind::get) {
            message.tag = 0;
        }
        const Moment handed_over = transmission_.initiate(current, op_at_origin(origin), op.peer, message, now);
        request_nic_transmission(op.peer, message, origin, op.nic, handed_over);
        return handed_over;
    }

    /// The NIC is free for what was handed to it, and transmits it.
    template <class Context>
    void transmit_by_nic(const Current& current, const Entry& request, const Moment& now, Context& context) {
        const auto kind = static_cast<MessageKind>(request.handle);
        const Origin<Cookie> origin = origin_of_request(request);
        Message message{.size = request.ready.op.size, .tag = request.ready.op.tag, .kind = kind};
        set_origin(message, origin);
        const bool replies = kind == MessageKind::get_reply;
        const auto op = replies ? transmission_.op_of_target() : op_at_origin(origin);
        transmission_.transmit_by_nic(current, op, request.ready.op.peer, message, now, context);
        if (!replies) {
            tables_.observer.transmitted(current.number(), origin.op_index, time_of(request.ready.at), now);
        }
    }

    /// An await starts. Returns whether a notification is there: then it ends, as `ended` says (R25).
    template <class Ready>
    bool await(const Current& current, const Ready& ready, const Moment& now, Ended& ended) {
        const StartedOp<Cookie> op{
            .op_index = ready.op_index, .cookie = ready.cookie, .end_has_successors = ready.op.end_has_successors};
        std::uint32_t handle = 0;
        if (!notifications_.post(state(current).notifications, op, ready.op.peer, ready.op.tag, handle)) {
            return false;
        }
        const auto& notification = notifications_[handle];
        ended = notified(current, op, notification.arrived_at, notification.processed_at);
        ended.at = latest(now, ended.at);
        notifications_.remove(handle);
        notifications_.leave(state(current).notifications);
        return true;
    }

    // ---- the target

    /// A message of a one-sided operation arrives, and waits for its reception. An acknowledgement needs none: its
    /// operation ends, as `ended` says, and true is returned.
    bool arrive(const Current& current, const Event& event, Ended& ended) {
        const Message& message = *event.payload;
        const Moment arrived = tables_.observer.arrival(*event.payload, event.time);
        const Origin<Cookie> origin = origin_of<Cookie>(message);
        if (message.kind == MessageKind::acknowledgement) {
            ended = end_at_origin(current, origin, arrived);
            return true;
        }
        const bool replies = message.kind == MessageKind::get_reply;
        Entry& request = agenda_.make();
        request.ready.at = arrived;
        request.ready.op = {.size = message.size, .peer = event.source, .tag = message.tag};
        request.ready.op_index = origin.op_index;
        request.ready.cookie = origin.cookie;
        request.message_class = origin.resources();
        request.sequence = event.sequence;
        request.handle = static_cast<std::uint32_t>(message.kind);
        request.second_resource = tables_.layout.rx(replies ? origin.nic : std::uint8_t{0});
        request.first_resource = transmission_.takes_target_cpu()
                                     ? Tables::Layout::cpu(replies ? origin.cpu : std::uint8_t{0})
                                     : request.second_resource;
        request.priority = Priority::arrival;
        request.kind = replies ? RequestKind::receive_get_reply : RequestKind::receive_one_sided;
        agenda_.added();
        return false;
    }

    /// The reception of a put, a request of a get, a lock or an unlock begins. Returns whether an await of this rank
    /// has ended, as `ended` says.
    template <class Context>
    bool receive(const Current& current, const Entry& request, const Moment& now, Context& context, Ended& ended) {
        const auto kind = static_cast<MessageKind>(request.handle);
        const std::uint32_t source = request.ready.op.peer;
        const Origin<Cookie> origin = origin_of_request(request);
        const bool gets = kind == MessageKind::get;
        const auto landing = transmission_.land(current, nullptr, kind, source, gets ? 1 : request.ready.op.size, now);
        switch (kind) {
            case MessageKind::put: {
                const bool notifies = request.ready.op.tag != goal::no_notification;
                const bool awaited = notifies && notify(current, request, landing.landed, ended);
                transmission_.acknowledge(current, source, origin, request.ready.op.size, landing, landing.landed,
                                          context);
                return awaited;
            }
            case MessageKind::get:
                request_reply(request, landing.landed);
                return false;
            case MessageKind::unlock:
                unlock(current, request, origin, landing, context);
                return false;
            default:
                add_lock(current.number(), {.origin_rank = source,
                                            .tag = request.ready.op.tag,
                                            .shared = kind == MessageKind::shared_lock,
                                            .origin = origin,
                                            .landed_at = landing.landed});
                grant_locks(current, request.ready.op.tag, landing, context);
                return false;
        }
    }

    /// A CPU of the target hands the reply to a get to the NIC (R24).
    void initiate_reply(const Current& current, const Entry& request, const Moment& now) {
        const Moment handed_over = transmission_.initiate(current, transmission_.op_of_target(), request.ready.op.peer,
                                                          reply_to(request), now);
        request_nic_transmission(request.ready.op.peer, reply_to(request), origin_of_request(request), 0, handed_over);
    }

    // ---- the origin again

    /// The reception of the reply to a get begins: the get ends.
    Ended receive_reply(const Current& current, const Entry& request, const Moment& now) {
        const Origin<Cookie> origin = origin_of_request(request);
        const auto landing = transmission_.land(current, &origin, MessageKind::get_reply, request.ready.op.peer,
                                                request.ready.op.size, now);
        return end_at_origin(current, origin, landing.landed);
    }

    // ---- what others ask

    /// Whether a rank has notifications, awaits or locks.
    [[nodiscard]] bool is_open(std::uint32_t rank) const {
        return !tables_.one_sided.empty() && !tables_.one_sided[rank].none();
    }

    /// Adds the awaits of a rank that have not ended, and the locks of it that are not granted.
    void collect_unfinished(std::uint32_t rank, standstill::Unfinished& unfinished) const {
        if (tables_.one_sided.empty()) {
            return;
        }
        const auto& own = tables_.one_sided[rank];
        notifications_.each_posted(own.notifications, [&](std::uint32_t source, std::uint32_t tag, const auto& await) {
            unfinished.add(standstill::PendingOp{
                .rank = rank, .op_index = await.op_index, .peer = source, .tag = tag, .kind = goal::OpKind::await});
        });
        for (std::uint32_t handle = own.first_lock; handle != 0; handle = locks_[handle].next) {
            const Lock& lock = locks_[handle];
            if (!lock.granted) {
                unfinished.add(
                    standstill::PendingOp{.rank = lock.origin_rank,
                                          .op_index = lock.origin.op_index,
                                          .peer = rank,
                                          .tag = lock.tag,
                                          .holder = first_holder(own.first_lock, lock.tag),
                                          .kind = lock.shared ? goal::OpKind::shared_lock : goal::OpKind::lock});
            }
        }
    }

    // ---- a rank as a whole

    [[nodiscard]] Matching<Cookie, Moment>& notifications() { return notifications_; }

    /// Calls `use` with each request for a lock of a rank, oldest first.
    template <class Use>
    void each_lock(std::uint32_t rank, Use use) const {
        for (std::uint32_t handle = tables_.one_sided[rank].first_lock; handle != 0; handle = locks_[handle].next) {
            use(locks_[handle]);
        }
    }

    /// Adds a request for a lock of a rank behind all others.
    void add_lock(std::uint32_t rank, const Lock& lock) {
        auto& own = tables_.one_sided[rank];
        const std::uint32_t handle = locks_.add();
        locks_[handle] = lock;
        locks_[handle].next = 0;
        (own.first_lock == 0 ? own.first_lock : locks_[own.last_lock].next) = handle;
        own.last_lock = handle;
    }

    /// Removes everything that a rank has.
    void discard(std::uint32_t rank) {
        auto& own = tables_.one_sided[rank];
        std::vector<std::uint32_t> handles;
        notifications_.each_unexpected(own.notifications,
                                       [&handles](std::uint32_t handle) { handles.push_back(handle); });
        for (const std::uint32_t handle : handles) {
            notifications_.remove(handle);
        }
        notifications_.clear(own.notifications);
        for (std::uint32_t handle = own.first_lock; handle != 0;) {
            const std::uint32_t next = locks_[handle].next;
            locks_.remove(handle);
            handle = next;
        }
        own = {};
    }

  private:
    using Landing = typename Transmission<S, Observer>::Landing;

    [[nodiscard]] OneSidedState<Cookie>& state(const Current& current) { return tables_.one_sided[current.number()]; }

    static constexpr MessageKind message_kind_of(goal::OpKind kind) {
        switch (kind) {
            case goal::OpKind::get:
                return MessageKind::get;
            case goal::OpKind::lock:
                return MessageKind::lock;
            case goal::OpKind::shared_lock:
                return MessageKind::shared_lock;
            case goal::OpKind::unlock:
                return MessageKind::unlock;
            default:
                return MessageKind::put;
        }
    }

    static StartedOp<Cookie> op_at_origin(const Origin<Cookie>& origin) {
        return {.op_index = origin.op_index, .cookie = origin.cookie, .cpu = origin.cpu, .nic = origin.nic};
    }

    static Origin<Cookie> origin_of_request(const Entry& request) {
        Origin<Cookie> origin{.op_index = request.ready.op_index, .cookie = request.ready.cookie};
        origin.set_resources(request.message_class);
        return origin;
    }

    /// The operation is complete, which its CPU notices when it is free (R23).
    Ended end_at_origin(const Current& current, const Origin<Cookie>& origin, const Moment& complete) {
        const Moment end = latest(complete, current.free_times()[Tables::Layout::cpu(origin.cpu)]);
        tables_.processed[current.number()] = latest(tables_.processed[current.number()], end);
        return {.op_index = origin.op_index, .cookie = origin.cookie, .at = end};
    }

    /// A put has notified this rank (R25). Returns whether an await has ended.
    bool notify(const Current& current, const Entry& request, const Moment& landed, Ended& ended) {
        const goal::Op& op = request.ready.op;
        StartedOp<Cookie> await;
        if (notifications_.take_posted(state(current).notifications, op.peer, op.tag, await)) {
            notifications_.leave(state(current).notifications);
            ended = notified(current, await, request.ready.at, landed);
            return true;
        }
        const std::uint32_t handle = notifications_.add({.size = op.size,
                                                         .source = op.peer,
                                                         .tag = op.tag,
                                                         .sequence = request.sequence,
                                                         .kind = MessageKind::put,
                                                         .processed = true,
                                                         .arrived_at = request.ready.at,
                                                         .processed_at = landed});
        notifications_.add_unexpected(state(current).notifications, handle);
        return false;
    }

    Ended notified(const Current& current, const StartedOp<Cookie>& await, const Moment& arrived,
                   const Moment& landed) {
        tables_.observer.received(current.number(), await.op_index, arrived, arrived, landed);
        return {.op_index = await.op_index,
                .cookie = await.cookie,
                .has_successors = await.end_has_successors,
                .at = landed};
    }

    static Message reply_to(const Entry& get) {
        return {.size = get.ready.op.size, .tag = 0, .kind = MessageKind::get_reply};
    }

    /// The request of a get will have landed at `landed`: then the NIC has the reply, or a CPU can initiate it.
    void request_reply(const Entry& get, const Moment& landed) {
        if (!transmission_.takes_target_cpu()) {
            request_nic_transmission(get.ready.op.peer, reply_to(get), origin_of_request(get), 0, landed);
            return;
        }
        Entry& request = agenda_.make();
        request.ready = get.ready;
        request.ready.at = landed;
        request.message_class = get.message_class;
        request.sequence = get.sequence;
        request.handle = static_cast<std::uint32_t>(MessageKind::get_reply);
        request.request_id = agenda_.next_request_id();
        request.first_resource = request.second_resource = Tables::Layout::cpu(0);
        request.priority = Priority::protocol;
        request.kind = RequestKind::initiate_reply;
        agenda_.added();
    }

    /// A NIC is handed a transmission, which waits for the others that it has.
    void request_nic_transmission(std::uint32_t peer, const Message& message, const Origin<Cookie>& origin,
                                  std::uint8_t nic, const Moment& handed_over) {
        Entry& request = agenda_.make();
        request.ready.at = handed_over;
        request.ready.op = {.size = message.size, .peer = peer, .tag = message.tag};
        request.ready.op_index = origin.op_index;
        request.ready.cookie = origin.cookie;
        request.message_class = origin.resources();
        request.sequence = 0;
        request.handle = static_cast<std::uint32_t>(message.kind);
        request.request_id = agenda_.next_request_id();
        request.first_resource = request.second_resource = tables_.layout.tx(nic);
        request.priority = Priority::nic_transmission;
        request.kind = RequestKind::transmit_by_nic;
        agenda_.added();
    }

    // ---- locks (R26)

    /// The rank that has had the lock of this number longest; `handle` is the first request of the lock's rank. For a
    /// lock that another waits for there is one.
    [[nodiscard]] std::uint32_t first_holder(std::uint32_t handle, std::uint32_t tag) const {
        while (handle != 0 && !(locks_[handle].granted && locks_[handle].tag == tag)) {
            handle = locks_[handle].next;
        }
        return handle == 0 ? goal::any : locks_[handle].origin_rank;
    }

    /// Releases a lock, and grants it to those that waited for it.
    template <class Context>
    void unlock(const Current& current, const Entry& request, const Origin<Cookie>& origin, const Landing& landing,
                Context& context) {
        const std::uint32_t holder = request.ready.op.peer;
        const std::uint32_t tag = request.ready.op.tag;
        auto& own = state(current);
        std::uint32_t before = 0;
        std::uint32_t handle = own.first_lock;
        while (handle != 0 &&
               !(locks_[handle].granted && locks_[handle].origin_rank == holder && locks_[handle].tag == tag)) {
            before = handle;
            handle = locks_[handle].next;
        }
        if (handle == 0) {
            throw InputError("rank " + std::to_string(holder) + ", op " + std::to_string(origin.op_index) +
                             ": expected it to hold lock " + std::to_string(tag) + " at rank " +
                             std::to_string(current.number()) + ", which it unlocks");
        }
        const std::uint32_t next = locks_[handle].next;
        (before == 0 ? own.first_lock : locks_[before].next) = next;
        if (next == 0) {
            own.last_lock = before;
        }
        locks_.remove(handle);
        transmission_.acknowledge(current, holder, origin, 1, landing, landing.landed, context);
        grant_locks(current, tag, landing, context);
    }

    /// Grants a lock to those at the head of its queue that may hold it together.
    template <class Context>
    void grant_locks(const Current& current, std::uint32_t tag, const Landing& landing, Context& context) {
        bool in_use = false;
        bool all_shared = true;
        for (std::uint32_t handle = state(current).first_lock; handle != 0; handle = locks_[handle].next) {
            Lock& lock = locks_[handle];
            if (lock.tag != tag) {
                continue;
            }
            if (!lock.granted) {
                if (in_use && !(all_shared && lock.shared)) {
                    return;
                }
                lock.granted = true;
                transmission_.acknowledge(current, lock.origin_rank, lock.origin, 1, landing,
                                          latest(landing.landed, lock.landed_at), context);
            }
            in_use = true;
            all_shared = all_shared && lock.shared;
        }
    }

    Tables& tables_;
    Agenda<Cookie, Moment>& agenda_;
    Transmission<S, Observer>& transmission_;
    Matching<Cookie, Moment> notifications_;
    Slab<Lock> locks_;
};

}  // namespace idlewave::loggops
