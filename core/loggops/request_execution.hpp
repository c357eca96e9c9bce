#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/agenda.hpp"
#include "loggops/op_execution.hpp"
#include "loggops/rank_parts.hpp"
#include "loggops/request.hpp"
#include "loggops/started_op.hpp"

namespace idlewave::loggops {

/// Makes and starts the requests of a rank (docs/model.md, R14): an op that cannot start yet becomes a request, and the
/// request that the Dispatcher chooses starts. It owns the execution of ops, and with it the parts of the rank.
template <goal::Source S, class Observer>
class RequestExecution {
  public:
    using Ops = OpExecution<S, Observer>;
    using Parts = RankParts<S, Observer>;
    using Moment = typename Parts::Moment;
    using Cookie = typename Parts::Cookie;
    using Layout = typename Parts::Tables::Layout;
    using Ready = goal::ReadyOp<Cookie, Moment>;
    using Entry = Request<Cookie, Moment>;
    using Next = typename Agenda<Cookie, Moment>::Next;

    explicit RequestExecution(typename Parts::Tables& tables) : ops_(tables) {}

    [[nodiscard]] Ops& ops() { return ops_; }
    [[nodiscard]] const Ops& ops() const { return ops_; }
    [[nodiscard]] Parts& parts() { return ops_.parts(); }
    [[nodiscard]] const Parts& parts() const { return ops_.parts(); }

    /// An op becomes a request.
    [[gnu::noinline]] void request_op(const Ready& ready) {
        const goal::Op& op = ready.op;
        Entry& request = parts().agenda.make();
        request.ready = ready;
        request.first_resource = Layout::cpu(op.cpu);
        const bool posts_take_cpu = parts().transmission.posts_take_cpu();
        request.priority = priority_of(op.kind, posts_take_cpu);
        request.kind = request_kind_of(op.kind, posts_take_cpu);
        request.second_resource =
            request.kind == RequestKind::send ? parts().tables.layout.tx(op.nic) : request.first_resource;
        parts().agenda.added();
    }

    /// The ops in the list of Dependencies become requests.
    [[gnu::always_inline]] void request_ready_ops() {
        if (!parts().dependencies.ready().empty()) {
            request_all_ready_ops();
        }
    }

    /// Starts the request that is next. Ops that this makes ready are added to the list of Dependencies.
    template <class Context>
    void start(const Next& next, Context& context) {
        const std::uint32_t number = parts().agenda.take(next.queue);
        const Entry& request = parts().agenda[number];
        const Moment now = start_of(request, next.at);
        const std::uint32_t handle = request.handle;
        switch (request.kind) {
            case RequestKind::receive_expected:
                ops_.end(
                    ops_.ended_at(request.ready, parts().reception().receive_expected(parts().current, request, now)));
                break;
            case RequestKind::receive_unexpected:
            case RequestKind::receive_request_to_send:
                ops_.message_processed(handle, parts().reception().receive(parts().current, request,
                                                                           ops_.op_index_of_message(handle), now));
                break;
            case RequestKind::send_clear_to_send:
                parts().rendezvous.send_clear_to_send(parts().current, request, now, context);
                break;
            case RequestKind::receive_clear_to_send:
                parts().rendezvous.request_data(
                    handle, parts().reception().receive(parts().current, request,
                                                        parts().rendezvous.op_index_of_send(handle), now));
                break;
            case RequestKind::send_data:
                ops_.end(parts().rendezvous.send_data(parts().current, request, now, context));
                break;
            case RequestKind::receive_data:
                ops_.end(parts().rendezvous.data_processed(
                    parts().current, handle,
                    parts().reception().receive(parts().current, request,
                                                parts().rendezvous.op_index_of_receive(handle), now)));
                break;
            case RequestKind::receive_one_sided:
            case RequestKind::receive_get_reply:
            case RequestKind::initiate_reply:
            case RequestKind::transmit_by_nic:
                start_one_sided_request(request, now, context);
                break;
            case RequestKind::send:
            case RequestKind::initiate:
            case RequestKind::post:
            case RequestKind::post_on_cpu:
            case RequestKind::calc:
                ops_.start(request.ready, now, context);
                break;
        }
        parts().agenda.done(number);
    }

    /// The start of a request, whose time is `at`. An observer's moment has more: it is that of the ready time or of
    /// the resource that the request waits for.
    [[nodiscard, gnu::always_inline]] Moment start_of(const Entry& request, Time at) const {
        if constexpr (!Observer::observes) {
            return at;
        } else if (request.kind == RequestKind::post) {
            return request.ready.at;
        } else {
            return latest(request.ready.at, parts().current.free_times()[request.first_resource],
                          parts().current.free_times()[request.second_resource]);
        }
    }

  private:
    using Ended = EndedOp<Cookie, Moment>;

    [[gnu::noinline]] void request_all_ready_ops() {
        for (const Ready& ready : parts().dependencies.ready()) {
            request_op(ready);
        }
        parts().dependencies.ready().clear();
    }

    template <class Context>
    [[gnu::noinline]] void start_one_sided_request(const Entry& request, const Moment& now, Context& context) {
        if constexpr (MayHaveOneSided<S>) {
            auto& one_sided = parts().one_sided;
            Ended ended;
            if (request.kind == RequestKind::transmit_by_nic) {
                one_sided.transmit_by_nic(parts().current, request, now, context);
            } else if (request.kind == RequestKind::initiate_reply) {
                one_sided.initiate_reply(parts().current, request, now);
            } else if (request.kind == RequestKind::receive_get_reply) {
                ops_.end(one_sided.receive_reply(parts().current, request, now));
            } else if (one_sided.receive(parts().current, request, now, context, ended)) {
                ops_.end(ended);
            }
        }
    }

    Ops ops_;
};

}  // namespace idlewave::loggops
