#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pdes/gvt.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/model.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// The message batches that a partition is filling, one for each receiver.
template <class Payload>
class Outbox {
  public:
    using Endpoint = typename PartitionTransport<Payload>::Endpoint;

    Outbox(std::uint32_t partitions, Endpoint& endpoint, Gvt& gvt)
        : endpoint_(endpoint), gvt_(gvt), batches_(partitions) {}

    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;
    Outbox(Outbox&&) = delete;
    Outbox& operator=(Outbox&&) = delete;

    ~Outbox() {
        for (const std::uint32_t partition : written_) {
            BatchStack<Payload>::drop(batches_[partition]);
        }
    }

    [[nodiscard]] Endpoint& endpoint() { return endpoint_; }

    /// Sends an event, which lies in `cell` at the receiver.
    void send(std::uint32_t partition, const PendingEvent& event, std::int64_t cell) {
        batch_for(partition).events.push_back(event);
        gvt_.note_sent(cell);
        ++events_;
    }
    void send(std::uint32_t partition, const PendingEvent& event, std::int64_t cell, const Payload& payload) {
        MessageBatch<Payload>& batch = batch_for(partition);
        batch.events.push_back(event);
        batch.payloads.push_back(payload);
        gvt_.note_sent(cell);
        ++events_;
    }

    /// Sends an event with a code; to another process, which may not know the code, with its payload.
    template <WindowModel M>
    void send_coded(const M& model, std::uint32_t partition, PendingEvent event, std::int64_t cell) {
        if constexpr (assigns_codes<M>) {
            if (!endpoint_.shares_memory_with(partition)) {
                const std::uint16_t code = std::exchange(event.code, QueuedEvent::pooled);
                send(partition, event, cell, model.payload(code));
                return;
            }
        }
        send(partition, event, cell);
    }

    void flush() {
        for (const std::uint32_t partition : written_) {
            send_batch(partition);
        }
        written_.clear();
    }

    /// Number of events and of batches sent.
    [[nodiscard]] std::uint64_t events() const { return events_; }
    [[nodiscard]] std::uint64_t batches() const { return sent_batches_; }

  private:
    static constexpr std::size_t full = 1 << 12;  ///< events

    MessageBatch<Payload>& batch_for(std::uint32_t partition) {
        MessageBatch<Payload>*& batch = batches_[partition];
        if (batch == nullptr) {
            written_.push_back(partition);
            batch = endpoint_.empty_batch();
        } else if (batch->events.size() >= full) {
            send_batch(partition);
            batch = endpoint_.empty_batch();
        }
        return *batch;
    }

    void send_batch(std::uint32_t partition) {
        MessageBatch<Payload>* batch = batches_[partition];
        batches_[partition] = nullptr;
        batch->next = nullptr;
        batch->epoch = gvt_.epoch();
        gvt_.count_sent_batch();
        ++sent_batches_;
        endpoint_.send(partition, batch);
    }

    Endpoint& endpoint_;
    Gvt& gvt_;
    std::vector<MessageBatch<Payload>*> batches_;  ///< by partition; null if it is empty
    std::vector<std::uint32_t> written_;           ///< partitions with a batch
    std::uint64_t events_ = 0;
    std::uint64_t sent_batches_ = 0;
};

}  // namespace idlewave::pdes
