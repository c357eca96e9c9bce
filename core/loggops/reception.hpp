#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "loggops/agenda.hpp"
#include "loggops/matching.hpp"
#include "loggops/message.hpp"
#include "loggops/occupation.hpp"
#include "loggops/rank.hpp"
#include "loggops/request.hpp"
#include "loggops/started_op.hpp"
#include "loggops/tables.hpp"
#include "loggops/transmission.hpp"
#include "pdes/event.hpp"

namespace idlewave::loggops {

/// The reception of eager messages (docs/model.md, R8 to R10): an arrived message is matched and received. It is
/// received at once where the rank does nothing else before; otherwise the reception is a request in the agenda.
template <goal::Source S, class Observer>
class Reception {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Cookie = typename S::Cookie;
    using Current = CurrentRank<S, Moment>;
    using Op = StartedOp<Cookie>;
    using Ended = EndedOp<Cookie, Moment>;
    using Event = pdes::Event<typename Observer::Payload>;
    using Entry = Request<Cookie, Moment>;

    Reception(Tables& tables, Occupation<S, Observer>& occupation, Agenda<Cookie, Moment>& agenda,
              Matching<Cookie, Moment>& matching, Transmission<S, Observer>& transmission)
        : tables_(tables), occupation_(occupation), agenda_(agenda), matching_(matching), transmission_(transmission) {}

    /// An eager message arrives. The rank does nothing else before `until`, so a reception that begins before is done
    /// at once; one that begins later is requested. Returns whether the receive has ended, which is then in `ended`.
    [[gnu::always_inline]] bool arrive(const Current& current, const Event& event, Time until, Ended& ended) {
        auto& match = current.state().match;
        Op receive;
        const std::uint32_t posted = Observer::observes ? matching_.posted_receives(match) : 0;
        const bool matched = matching_.take_posted(match, event.source, event.payload->tag, receive);
        if constexpr (S::single_cpu_and_nic) {
            receive.cpu = receive.nic = 0;  // which the compiler does not know otherwise
        }
        tables_.observer.arrived(current.number(), posted, matched);
        if (!matched) [[unlikely]] {
            arrive_unexpected(*this, current, event, until);
            return false;
        }
        const auto& message = *event.payload;
        if (event.time < until) {  // no reception begins before its message arrives
            const Moment arrived = tables_.observer.arrival(message, event.time);
            const Moment now = occupation_.start_of_reception(current, arrived, receive.cpu, receive.nic);
            if (time_of(now) < until) [[likely]] {
                ended.at = transmission_.receive(current, receive, message.kind, event.source, message.size,
                                                 message.tag, message.message_class, now);
                ended.op_index = receive.op_index;
                ended.cookie = receive.cookie;
                ended.has_successors = receive.end_has_successors;
                tables_.observer.received(current.number(), receive.op_index, arrived, arrived, ended.at);
                return true;
            }
        }
        request_reception(*this, event, receive, RequestKind::receive_expected, 0);
        return false;
    }

    /// A requested reception begins. `op_index` is the op that it belongs to, as far as it is known. Returns the time
    /// at which the message is processed.
    Moment receive(const Current& current, const Entry& request, goal::OpIndex op_index, const Moment& now) {
        const Op op{.op_index = op_index, .cpu = request.ready.op.cpu, .nic = request.ready.op.nic};
        return transmission_.receive(current, op, message_kind_of(request.kind), request.ready.op.peer,
                                     request.ready.op.size, request.ready.op.tag, request.message_class, now);
    }

    /// The receive of an expected message, whose requested reception begins. Returns its end.
    Moment receive_expected(const Current& current, const Entry& request, const Moment& now) {
        const Moment processed = receive(current, request, request.ready.op_index, now);
        tables_.observer.received(current.number(), request.ready.op_index, request.ready.at, request.ready.at,
                                  processed);
        return processed;
    }

    /// `receive` matched an unexpected message at `matched_at`, and the message is received: the receive ends (R10).
    /// Removes the message.
    Ended end_receive(const Current& current, std::uint32_t handle, const Op& receive, const Moment& matched_at) {
        const ArrivedMessage<Cookie, Moment>& message = matching_[handle];
        tables_.observer.received(current.number(), receive.op_index, message.arrived_at, message.arrived_at,
                                  message.processed_at);
        const Ended ended{.op_index = receive.op_index,
                          .cookie = receive.cookie,
                          .has_successors = receive.end_has_successors,
                          .at = latest(matched_at, message.processed_at)};
        matching_.remove(handle);
        return ended;
    }

  private:
    // The rarer cases take the reception as a copy: its address is not needed then, and it stays in registers.

    /// No posted receive matches the message. It is received all the same, since progress is asynchronous (R8).
    [[gnu::noinline]] static void arrive_unexpected(Reception self, const Current& current, const Event& event,
                                                    Time until) {
        Matching<Cookie, Moment>& matching = self.matching_;
        const Op unknown{.op_index = goal::unknown_op_index};
        const auto& message = *event.payload;
        const Moment arrived = self.tables_.observer.arrival(message, event.time);
        const std::uint32_t handle = matching.add_arrived(event, arrived);
        matching.add_unexpected(current.state().match, handle);
        const Moment now = self.occupation_.start_of_reception(current, arrived, unknown.cpu, unknown.nic);
        if (time_of(now) >= until) {
            request_reception(self, event, unknown, RequestKind::receive_unexpected, handle);
            return;
        }
        ArrivedMessage<Cookie, Moment>& unexpected = matching[handle];
        unexpected.processed_at = self.transmission_.receive(current, unknown, message.kind, event.source, message.size,
                                                             message.tag, message.message_class, now);
        unexpected.processed = true;
    }

    /// The reception waits for the CPU and NIC of `op`.
    static void request_reception(Reception self, const Event& event, Op op, RequestKind kind, std::uint32_t handle) {
        Entry& request = self.agenda_.make();
        request.ready.at = self.tables_.observer.arrival(*event.payload, event.time);
        request.ready.op = {
            .size = event.payload->size, .peer = event.source, .tag = event.payload->tag, .cpu = op.cpu, .nic = op.nic};
        request.ready.op_index = op.op_index;
        request.ready.cookie = op.cookie;
        request.ready.op.end_has_successors = op.end_has_successors;
        request.sequence = event.sequence;
        request.handle = handle;
        request.message_class = event.payload->message_class;
        request.first_resource = Tables::Layout::cpu(op.cpu);
        request.second_resource = self.tables_.layout.rx(op.nic);
        request.priority = Priority::arrival;
        request.kind = kind;
        self.agenda_.added();
    }

    Tables& tables_;
    Occupation<S, Observer>& occupation_;
    Agenda<Cookie, Moment>& agenda_;
    Matching<Cookie, Moment>& matching_;
    Transmission<S, Observer>& transmission_;
};

}  // namespace idlewave::loggops
