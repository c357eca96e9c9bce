#pragma once

#include <cstdint>

#include "loggops/matching.hpp"
#include "loggops/one_sided_records.hpp"
#include "loggops/rendezvous_records.hpp"
#include "loggops/request.hpp"
#include "loggops/started_op.hpp"

/// The records of a rank, shown to an archive (base/archive.hpp) field by field: padding is left out, and so are
/// handles in lists and message classes, which belong to a thread or a process.
namespace idlewave::loggops {

template <class Archive, class Cookie>
void serialise(Archive& archive, StartedOp<Cookie>& op) {
    archive(op.op_index);
    archive(op.cookie);
    archive(op.cpu);
    archive(op.nic);
    archive(op.end_has_successors);
}

/// Of an op, whether others wait for its start and its end.
template <class Archive>
void serialise_successors(Archive& archive, goal::Op& op) {
    std::uint8_t bits = (op.start_has_successors ? 1 : 0) | (op.end_has_successors ? 2 : 0);
    archive(bits);
    op.start_has_successors = (bits & 1) != 0;
    op.end_has_successors = (bits & 2) != 0;
}

template <class Archive, class Cookie, class Moment>
void serialise(Archive& archive, ArrivedMessage<Cookie, Moment>& message) {
    archive(message.size);
    archive(message.source);
    archive(message.tag);
    archive(message.sequence);
    archive(message.sender_handle);
    archive(message.kind);
    std::uint8_t bits = (message.matched ? 1 : 0) | (message.processed ? 2 : 0);
    archive(bits);
    message.matched = (bits & 1) != 0;
    message.processed = (bits & 2) != 0;
    archive(message.arrived_at);
    archive(message.matched_at);
    archive(message.processed_at);
    // An unmatched message has no receive: it may have a handle there (ArrivedMessage::next).
    StartedOp<Cookie> receive = message.matched ? message.receive : StartedOp<Cookie>{};
    serialise(archive, receive);
    message.receive = receive;  // of a copy, if it is written
}

template <class Archive, class Cookie>
void serialise(Archive& archive, OpenSend<Cookie>& send) {
    archive(send.size);
    archive(send.rank);
    archive(send.peer);
    archive(send.tag);
    archive(send.rendezvous_id);
    archive(send.receiver_handle);
    archive(send.open);
    serialise(archive, send.op);
}

template <class Archive, class Cookie, class Moment>
void serialise(Archive& archive, OpenReceive<Cookie, Moment>& receive) {
    archive(receive.source);
    archive(receive.rendezvous_id);
    archive(receive.sender_handle);
    archive(receive.open);
    archive(receive.cleared);
    serialise(archive, receive.op);
    archive(receive.requested_at);
    archive(receive.data_arrived_at);
}

template <class Archive, class Cookie, class Moment>
void serialise(Archive& archive, LockRequest<Cookie, Moment>& lock) {
    archive(lock.origin_rank);
    archive(lock.tag);
    archive(lock.shared);
    archive(lock.granted);
    archive(lock.origin.op_index);
    archive(lock.origin.cookie);
    archive(lock.origin.cpu);
    archive(lock.origin.nic);
    archive(lock.landed_at);
}

/// Only the fields that the kind of the request uses; the others are undefined. Request ids are not written: requests
/// are restored in order of precedence, and get new ones.
template <class Archive, class Cookie, class Moment>
void serialise(Archive& archive, Request<Cookie, Moment>& request) {
    goal::ReadyOp<Cookie, Moment>& ready = request.ready;
    archive(request.priority);
    archive(request.kind);
    archive(request.first_resource);
    archive(request.second_resource);
    archive(ready.at);
    if (request.priority <= Priority::nic_transmission) {
        archive(request.sequence);
        archive(ready.op.peer);
        archive(request.handle);
    }
    if (is_one_sided(request.kind)) {
        archive(request.message_class);
        archive(ready.op_index);
        archive(ready.cookie);
    }
    if (request.priority == Priority::arrival || is_one_sided(request.kind)) {
        archive(ready.op.size);
        archive(ready.op.tag);
        archive(ready.op.cpu);
        archive(ready.op.nic);
    }
    if (request.kind == RequestKind::receive_expected) {
        serialise_successors(archive, ready.op);
        archive(ready.op_index);
        archive(ready.cookie);
    }
    if (request.priority > Priority::nic_transmission) {
        archive(ready.op.size);
        archive(ready.op.peer);
        archive(ready.op.tag);
        archive(ready.op.kind);
        archive(ready.op.cpu);
        archive(ready.op.nic);
        bool reduction = ready.op.reduction;  // NOLINT(misc-const-correctness): a deserialiser writes to it
        archive(reduction);
        ready.op.reduction = reduction;
        serialise_successors(archive, ready.op);
        archive(ready.op_index);
        archive(ready.cookie);
    }
    if (request.kind == RequestKind::post || request.kind == RequestKind::post_on_cpu) {
        archive(ready.exchange);
    }
}

}  // namespace idlewave::loggops
