#pragma once

#include <cstdint>

#include "loggops/rank.hpp"
#include "loggops/request.hpp"

/// What a rank is made of, field by field, as it is shown to an archive (base/archive.hpp): so that nothing that lies
/// between fields is kept. Message classes are left out, as they are a process's own.
namespace idlewave {

template <class Archive, class Cookie>
void serialise(Archive& archive, Receive<Cookie>& receive) {
    archive(receive.op_index);
    archive(receive.cookie);
    archive(receive.cpu);
    archive(receive.nic);
    archive(receive.waits);
    archive(receive.end_pending);
}

template <class Archive, class Cookie, class Moment>
void serialise(Archive& archive, ArrivedMessage<Cookie, Moment>& arrived) {
    archive(arrived.size);
    archive(arrived.source);
    archive(arrived.tag);
    archive(arrived.number);
    archive(arrived.kind);
    std::uint8_t bits = (arrived.matched ? 1 : 0) | (arrived.processed ? 2 : 0) | (arrived.awaits_data ? 4 : 0);
    archive(bits);
    arrived.matched = (bits & 1) != 0;
    arrived.processed = (bits & 2) != 0;
    arrived.awaits_data = (bits & 4) != 0;
    if (arrived.kind == MessageKind::request_to_send && !arrived.awaits_data) {
        archive(arrived.sending);  // the sender, which the clear to send names
    }
    archive(arrived.arrived_at);
    archive(arrived.matched_at);
    archive(arrived.processed_at);
    serialise(archive, arrived.receive);
}

template <class Archive, class Cookie>
void serialise(Archive& archive, OpenSend<Cookie>& send) {
    archive(send.size);
    archive(send.rank);
    archive(send.peer);
    archive(send.tag);
    archive(send.number);
    archive(send.receiving);
    archive(send.open);
    serialise(archive, send.op);
}

/// Of what a request is about only what it says.
template <class Archive, class Cookie, class Moment>
void serialise(Archive& archive, Request<Cookie, Moment>& request) {
    ReadyOp<Cookie, Moment>& ready = request.ready;
    archive(request.priority);
    archive(request.kind);
    archive(request.first_resource);
    archive(request.second_resource);
    archive(ready.at);
    archive(ready.op_index);
    archive(ready.op.size);
    archive(ready.op.peer);
    if (request.priority <= Priority::protocol) {
        archive(request.handle);
    }
    if (request.priority == Priority::arrival) {
        archive(ready.op.cpu);
        archive(ready.op.nic);
    }
    if (request.kind == RequestKind::receive_expected) {
        archive(ready.cookie);
    }
    if (request.priority > Priority::protocol) {
        archive(ready.op.tag);
        archive(ready.op.kind);
        archive(ready.op.cpu);
        archive(ready.op.nic);
        archive(ready.op.reduction);
        archive(ready.cookie);
    }
    if (request.kind == RequestKind::post) {
        archive(ready.exchange);
    }
}

}  // namespace idlewave
