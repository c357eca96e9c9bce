#pragma once

#include "pdes/event.hpp"
#include "pdes/gvt.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/payload_store.hpp"

/// Events that come from outside of a process, or of a partition.
namespace idlewave::pdes {

/// Gives an event its payload, which came from outside of this partition: the model's code for it, or a slot.
template <WindowModel M>
void take_payload(PendingEvent& event, typename M::Payload& payload, typename M::Worker& worker,
                  PayloadPool<typename M::Payload>& payloads) {
    if constexpr (assigns_codes<M>) {
        event.code = worker.assign_code(payload);
    }
    if (event.code == QueuedEvent::pooled) {
        event.payload_slot = payloads.put(event.sequence, payload);
    }
}

/// Receives all message batches that have arrived, and calls `deliver` with each of their events.
template <WindowModel M, class Deliver>
void receive_batches(EndpointOf<M>& endpoint, Gvt& gvt, typename M::Worker& worker,
                     PayloadPool<typename M::Payload>& payloads, Deliver deliver) {
    while (MessageBatch<typename M::Payload>* batch = endpoint.receive()) {
        gvt.count_received_batch(batch->epoch);
        auto payload = batch->payloads.begin();
        for (PendingEvent& event : batch->events) {
            if (event.code == QueuedEvent::pooled) {
                take_payload<M>(event, *payload++, worker, payloads);
            }
            deliver(event);
        }
        endpoint.release(batch);
    }
}

}  // namespace idlewave::pdes
