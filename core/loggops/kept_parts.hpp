#pragma once

#include <cstdint>

#include "loggops/rank.hpp"
#include "loggops/request.hpp"

/// What a rank is made of, field by field, as it is shown to an archive (base/archive.hpp): so that nothing that lies
/// between fields is kept. Message classes are left out, as they are a process's own.
namespace idlewave {

template <class Archive, class Cookie>
void keep_in(Archive& archive, Receive<Cookie>& receive) {
    archive(receive.op_index);
    archive(receive.cookie);
    archive(receive.cpu);
    archive(receive.nic);
    archive(receive.waits);
    archive(receive.to_be_told);
}

template <class Archive, class Cookie, class Moment>
void keep_in(Archive& archive, Stray<Cookie, Moment>& stray) {
    archive(stray.size);
    archive(stray.source);
    archive(stray.tag);
    archive(stray.number);
    archive(stray.kind);
    std::uint8_t bits = (stray.matched ? 1 : 0) | (stray.processed ? 2 : 0) | (stray.awaits_data ? 4 : 0);
    archive(bits);
    stray.matched = (bits & 1) != 0;
    stray.processed = (bits & 2) != 0;
    stray.awaits_data = (bits & 4) != 0;
    if (stray.kind == MessageKind::request_to_send && !stray.awaits_data) {
        archive(stray.sending);  // to be told
    }
    archive(stray.arrived_at);
    archive(stray.matched_at);
    archive(stray.processed_at);
    keep_in(archive, stray.receive);
}

template <class Archive, class Cookie>
void keep_in(Archive& archive, OpenSend<Cookie>& send) {
    archive(send.size);
    archive(send.rank);
    archive(send.peer);
    archive(send.tag);
    archive(send.number);
    archive(send.receiving);
    archive(send.open);
    keep_in(archive, send.op);
}

/// Of what a request is about only what it says.
template <class Archive, class Cookie, class Moment>
void keep_in(Archive& archive, Request<Cookie, Moment>& request) {
    ReadyOp<Cookie, Moment>& ready = request.ready;
    archive(request.turn);
    archive(request.work);
    archive(request.first_need);
    archive(request.second_need);
    archive(ready.at);
    archive(ready.op_index);
    archive(ready.op.size);
    archive(ready.op.peer);
    if (request.turn <= Turn::protocol) {
        archive(request.handle);
    }
    if (request.turn == Turn::arrival) {
        archive(ready.op.cpu);
        archive(ready.op.nic);
    }
    if (request.work == Work::receive_expected) {
        archive(ready.cookie);
    }
    if (request.turn > Turn::protocol) {
        archive(ready.op.tag);
        archive(ready.op.kind);
        archive(ready.op.cpu);
        archive(ready.op.nic);
        archive(ready.op.reduction);
        archive(ready.cookie);
    }
    if (request.work == Work::post) {
        archive(ready.exchange);
    }
}

}  // namespace idlewave
