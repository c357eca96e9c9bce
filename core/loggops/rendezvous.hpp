#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/slab.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/agenda.hpp"
#include "loggops/matching.hpp"
#include "loggops/message.hpp"
#include "loggops/migrated_handles.hpp"
#include "loggops/rank.hpp"
#include "loggops/rendezvous_records.hpp"
#include "loggops/request.hpp"
#include "loggops/started_op.hpp"
#include "loggops/tables.hpp"
#include "loggops/transmission.hpp"
#include "pdes/event.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::loggops {

/// The rendezvous of a message larger than S (docs/model.md, R11 to R13), in the order in which it happens. Both sides
/// are here; each function says on which side it runs. Between two steps a message travels or a request waits:
///
///     sender                                    receiver
///     1 request_to_send          -- request -->
///                                               2 arrive_request_to_send, and it is received
///                                               3 request_clear_to_send, once processed and matched
///                               <-- clear ----  4 send_clear_to_send
///     5 arrive_clear_to_send, and it is received
///     6 request_data
///     7 send_data; the send ends  --- data --->
///                                               8 arrive_data, and they are received
///                                               9 data_processed; the receive ends
///
/// Each message costs what any message costs, so a rendezvous has the same lookahead as an eager message.
template <goal::Source S, class Observer>
class Rendezvous {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Cookie = typename S::Cookie;
    using Current = CurrentRank<S, Moment>;
    using Op = StartedOp<Cookie>;
    using Ended = EndedOp<Cookie, Moment>;
    using Event = pdes::Event<typename Observer::Payload>;
    using Entry = Request<Cookie, Moment>;

    Rendezvous(Tables& tables, Agenda<Cookie, Moment>& agenda, Matching<Cookie, Moment>& matching,
               Transmission<S, Observer>& transmission)
        : tables_(tables), agenda_(agenda), matching_(matching), transmission_(transmission) {}

    // ---- R11: request to send

    /// 1, sender: the send starts and transmits its request to send. The send remains open.
    template <class Ready, class Context>
    void request_to_send(const Current& current, const Ready& ready, const Op& op, const Moment& now,
                         Context& context) {
        const std::uint32_t handle = sends_.add();
        sends_[handle] = {.size = goal::bytes_of(ready.op.size),
                          .rank = current.number(),
                          .peer = ready.op.peer,
                          .tag = ready.op.tag,
                          .rendezvous_id = context.sent(),
                          .open = true,
                          .op = op};
        link(sends_, tables_.open[current.number()].send, handle);
        const Message request{
            .size = 1, .tag = ready.op.tag, .sender_handle = handle, .kind = MessageKind::request_to_send};
        transmission_.send_protocol(current, op, ready.op.peer, request, now, context);
    }

    /// 2, receiver: the request to send arrives. It is matched as an eager message is (R9), and waits for its
    /// reception.
    void arrive_request_to_send(const Current& current, const Event& event) {
        const Message& request = *event.payload;
        const Moment arrived_at = tables_.observer.arrival(*event.payload, event.time);
        const std::uint32_t handle = matching_.add_arrived(event, arrived_at);
        auto& match = current.state().match;
        const std::uint32_t posted = Observer::observes ? matching_.posted_receives(match) : 0;
        Op receive;
        const bool matched = matching_.take_posted(match, event.source, request.tag, receive);
        tables_.observer.arrived(current.number(), posted, matched);
        if (matched) {
            matching_[handle].matched = true;
            matching_[handle].matched_at = arrived_at;
            matching_[handle].receive = receive;
        } else {
            matching_.add_unexpected(match, handle);
        }
        request_reception(event, receive, RequestKind::receive_request_to_send, handle);
    }

    // ---- R12: clear to send

    /// 3, receiver: the request to send is processed and its receive is posted, both at `time` or before. From now on
    /// the rendezvous is an OpenReceive.
    void request_clear_to_send(const Current& current, std::uint32_t arrived, const Moment& time) {
        const ArrivedMessage<Cookie, Moment>& request = matching_[arrived];
        const std::uint32_t handle = receives_.add();
        OpenReceive<Cookie, Moment>& receive = receives_[handle];
        receive.source = request.source;
        receive.rendezvous_id = request.sequence;
        receive.sender_handle = request.sender_handle;
        receive.open = true;
        receive.cleared = false;
        receive.op = request.receive;
        receive.requested_at = request.arrived_at;
        receive.data_arrived_at = {};
        link(receives_, tables_.open[current.number()].receive, handle);
        request_send(RequestKind::send_clear_to_send, handle, receive.source, receive.rendezvous_id, receive.op, time);
        matching_.remove(arrived);
    }

    /// 4, receiver: CPU and NIC are free, so the clear to send leaves.
    template <class Context>
    void send_clear_to_send(const Current& current, const Entry& request, const Moment& now, Context& context) {
        OpenReceive<Cookie, Moment>& receive = receives_[request.handle];
        const Message clear{.size = 1,
                            .rendezvous_id = receive.rendezvous_id,
                            .sender_handle = receive.sender_handle,
                            .receiver_handle = request.handle,
                            .kind = MessageKind::clear_to_send};
        transmission_.send_protocol(current, receive.op, receive.source, clear, now, context);
        receive.cleared = true;
    }

    /// 5, sender: the clear to send arrives and waits for its reception.
    void arrive_clear_to_send(const Current& current, const Event& event) {
        const std::uint32_t handle = find_send(current.number(), *event.payload);
        OpenSend<Cookie>& send = sends_[handle];
        send.receiver_handle = event.payload->receiver_handle;
        request_reception(event, send.op, RequestKind::receive_clear_to_send, handle);
    }

    // ---- R13: data

    /// 6, sender: the clear to send is processed at `time`.
    void request_data(std::uint32_t handle, const Moment& time) {
        const OpenSend<Cookie>& send = sends_[handle];
        request_send(RequestKind::send_data, handle, send.peer, send.rendezvous_id, send.op, time);
    }

    /// 7, sender: CPU and NIC are free, so the data leave. The send ends as R7 says.
    template <class Context>
    Ended send_data(const Current& current, const Entry& request, const Moment& now, Context& context) {
        const OpenSend<Cookie>& send = sends_[request.handle];
        const Message data{.size = send.size,
                           .rendezvous_id = send.rendezvous_id,
                           .receiver_handle = send.receiver_handle,
                           .kind = MessageKind::rendezvous_data};
        const Moment end = transmission_.send_protocol(current, send.op, send.peer, data, now, context);
        const Ended ended{.op_index = send.op.op_index,
                          .cookie = send.op.cookie,
                          .has_successors = send.op.end_has_successors,
                          .at = end};
        remove(sends_, tables_.open[current.number()].send, request.handle);
        return ended;
    }

    /// 8, receiver: the data arrive and wait for their reception.
    void arrive_data(const Event& event) {
        const std::uint32_t handle = find_receive(event);
        OpenReceive<Cookie, Moment>& receive = receives_[handle];
        receive.data_arrived_at = tables_.observer.arrival(*event.payload, event.time);
        request_reception(event, receive.op, RequestKind::receive_data, handle);
    }

    /// 9, receiver: the data are processed at `time`, and the receive ends (R10).
    Ended data_processed(const Current& current, std::uint32_t handle, const Moment& time) {
        const OpenReceive<Cookie, Moment>& receive = receives_[handle];
        tables_.observer.received(current.number(), receive.op.op_index, receive.requested_at, receive.data_arrived_at,
                                  time);
        const Ended ended{.op_index = receive.op.op_index,
                          .cookie = receive.op.cookie,
                          .has_successors = receive.op.end_has_successors,
                          .at = latest(receive.data_arrived_at, time)};
        remove(receives_, tables_.open[current.number()].receive, handle);
        return ended;
    }

    // ---- what others ask

    /// The op that the reception of a clear to send or of data belongs to.
    [[nodiscard]] goal::OpIndex op_index_of_send(std::uint32_t handle) const { return sends_[handle].op.op_index; }
    [[nodiscard]] goal::OpIndex op_index_of_receive(std::uint32_t handle) const {
        return receives_[handle].op.op_index;
    }

    /// Whether other ranks know handles of this rank's records.
    [[nodiscard]] bool is_open(std::uint32_t rank) const { return !tables_.open[rank].none(); }

    /// Adds the open sends of all ranks of the thread, which still wait for their receivers.
    void collect_unfinished_sends(standstill::Unfinished& unfinished) const {
        sends_.each([&unfinished](const OpenSend<Cookie>& send) {
            if (send.open) {
                unfinished.add(standstill::PendingOp{.size = send.size,
                                                     .rank = send.rank,
                                                     .op_index = send.op.op_index,
                                                     .peer = send.peer,
                                                     .tag = send.tag,
                                                     .kind = goal::OpKind::send});
            }
        });
    }

    // ---- a rank as a whole

    /// The handles of a rank's records, in an order that does not depend on where the rank has been.
    [[nodiscard]] std::vector<std::uint32_t> sends_of(std::uint32_t rank) const {
        std::vector<std::uint32_t> handles = list(sends_, tables_.open[rank].send);
        std::sort(handles.begin(), handles.end(), [this](std::uint32_t a, std::uint32_t b) {
            return sends_[a].rendezvous_id < sends_[b].rendezvous_id;
        });
        return handles;
    }
    [[nodiscard]] std::vector<std::uint32_t> receives_of(std::uint32_t rank) const {
        std::vector<std::uint32_t> handles = list(receives_, tables_.open[rank].receive);
        std::sort(handles.begin(), handles.end(), [this](std::uint32_t a, std::uint32_t b) {
            return std::pair(receives_[a].source, receives_[a].rendezvous_id) <
                   std::pair(receives_[b].source, receives_[b].rendezvous_id);
        });
        return handles;
    }
    [[nodiscard]] const OpenSend<Cookie>& send(std::uint32_t handle) const { return sends_[handle]; }
    [[nodiscard]] const OpenReceive<Cookie, Moment>& receive(std::uint32_t handle) const { return receives_[handle]; }

    /// Adds a record of a rank that is restored, perhaps in another thread than before. The other side still sends its
    /// old handle. Returns the new one.
    std::uint32_t restore(std::uint32_t rank, const OpenSend<Cookie>& send) {
        const std::uint32_t handle = sends_.add();
        sends_[handle] = send;
        link(sends_, tables_.open[rank].send, handle);
        migrated_sends_.add(rank, send.rendezvous_id, handle);
        return handle;
    }
    std::uint32_t restore(std::uint32_t rank, const OpenReceive<Cookie, Moment>& receive) {
        const std::uint32_t handle = receives_.add();
        receives_[handle] = receive;
        link(receives_, tables_.open[rank].receive, handle);
        if (receive.cleared) {
            migrated_receives_.add(receive.source, receive.rendezvous_id, handle);
        }
        return handle;
    }

    /// Removes all records of a rank.
    void discard(std::uint32_t rank) {
        discard(sends_, tables_.open[rank].send);
        discard(receives_, tables_.open[rank].receive);
    }

  private:
    /// A message of the protocol may leave from `time` on. Of those that are ready at one time the first goes whose
    /// answered transmission was first (R15).
    void request_send(RequestKind kind, std::uint32_t handle, std::uint32_t peer, std::uint32_t answers, const Op& op,
                      const Moment& time) {
        Entry& request = agenda_.make();
        request.ready.at = time;
        request.ready.op.peer = peer;
        request.sequence = answers;
        request.handle = handle;
        request.request_id = agenda_.next_request_id();
        request.first_resource = Tables::Layout::cpu(op.cpu);
        request.second_resource = tables_.layout.tx(op.nic);
        request.priority = Priority::protocol;
        request.kind = kind;
        agenda_.added();
    }

    /// A message of the protocol has arrived and needs the CPU and NIC of `op`.
    void request_reception(const Event& event, const Op& op, RequestKind kind, std::uint32_t handle) {
        Entry& request = agenda_.make();
        request.ready.at = tables_.observer.arrival(*event.payload, event.time);
        request.ready.op = {.size = event.payload->size, .peer = event.source, .cpu = op.cpu, .nic = op.nic};
        request.sequence = event.sequence;
        request.handle = handle;
        request.message_class = Message::no_class;
        request.first_resource = Tables::Layout::cpu(op.cpu);
        request.second_resource = tables_.layout.rx(op.nic);
        request.priority = Priority::arrival;
        request.kind = kind;
        agenda_.added();
    }

    /// The open send of a clear to send: at the handle that travelled with the rendezvous, or moved since.
    std::uint32_t find_send(std::uint32_t rank, const Message& clear) {
        const std::uint32_t handle = clear.sender_handle;
        if (sends_.has(handle) && sends_[handle].open && sends_[handle].rank == rank &&
            sends_[handle].rendezvous_id == clear.rendezvous_id) [[likely]] {
            return handle;
        }
        return migrated_sends_.take(rank, clear.rendezvous_id);
    }

    /// The open receive of rendezvous data, in the same way.
    std::uint32_t find_receive(const Event& data) {
        const std::uint32_t handle = data.payload->receiver_handle;
        if (receives_.has(handle) && receives_[handle].open && receives_[handle].source == data.source &&
            receives_[handle].rendezvous_id == data.payload->rendezvous_id) [[likely]] {
            return handle;
        }
        return migrated_receives_.take(data.source, data.payload->rendezvous_id);
    }

    // ---- the lists of a rank: `first` is the handle of their first record

    template <class Record>
    static void link(Slab<Record>& records, std::uint32_t& first, std::uint32_t handle) {
        records[handle].next = first;
        records[handle].previous = 0;
        if (first != 0) {
            records[first].previous = handle;
        }
        first = handle;
    }

    template <class Record>
    static void remove(Slab<Record>& records, std::uint32_t& first, std::uint32_t handle) {
        const std::uint32_t next = records[handle].next;
        const std::uint32_t previous = records[handle].previous;
        (previous != 0 ? records[previous].next : first) = next;
        if (next != 0) {
            records[next].previous = previous;
        }
        records[handle].open = false;
        records.remove(handle);
    }

    template <class Record>
    static void discard(Slab<Record>& records, std::uint32_t& first) {
        while (first != 0) {
            remove(records, first, first);
        }
    }

    template <class Record>
    static std::vector<std::uint32_t> list(const Slab<Record>& records, std::uint32_t first) {
        std::vector<std::uint32_t> handles;
        for (std::uint32_t handle = first; handle != 0; handle = records[handle].next) {
            handles.push_back(handle);
        }
        return handles;
    }

    Tables& tables_;
    Agenda<Cookie, Moment>& agenda_;
    Matching<Cookie, Moment>& matching_;
    Transmission<S, Observer>& transmission_;
    Slab<OpenSend<Cookie>> sends_;
    Slab<OpenReceive<Cookie, Moment>> receives_;
    MigratedHandles migrated_sends_;     ///< restored open sends
    MigratedHandles migrated_receives_;  ///< restored open receives
};

}  // namespace idlewave::loggops
