#pragma once

#include <cstdint>
#include <memory>

#include "pdes/mailboxes.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/process_messages.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// Connects the partitions of a run, each on a thread: mailboxes within a process, messages between processes. It is
/// one type for both, so that no scheduler and no model is compiled twice; it is asked once for a batch of events.
template <class Payload>
class PartitionTransport {
  public:
    /// `threads` of each process; `processes`: null if there is one process.
    explicit PartitionTransport(std::uint32_t threads, const idlewave_transport* processes = nullptr)
        : mailboxes_(threads), threads_(threads), partitions_(threads) {
        if (processes != nullptr) {
            first_ = threads * static_cast<std::uint32_t>(processes->process);
            partitions_ = threads * static_cast<std::uint32_t>(processes->processes);
            messages_ = std::make_unique<ProcessMessages<Payload>>(*processes, threads);
        }
    }

    [[nodiscard]] std::uint32_t threads() const { return threads_; }
    [[nodiscard]] std::uint32_t partitions() const { return partitions_; }
    /// The number of this process's first partition.
    [[nodiscard]] std::uint32_t first() const { return first_; }

    /// The end of the transport that one partition uses.
    class Endpoint {
      public:
        Endpoint(PartitionTransport& transport, std::uint32_t thread)
            : transport_(transport), local_(transport.mailboxes_, thread), thread_(thread) {}

        /// An empty batch, which the caller owns.
        MessageBatch<Payload>* empty_batch() { return local_.empty_batch(); }

        void send(std::uint32_t to, MessageBatch<Payload>* batch) {
            if (!shares_memory_with(to)) {
                std::unique_ptr<MessageBatch<Payload>> owned(batch);  // freed if the transport fails
                transport_.messages_->send(to, *batch);
                batch->from = thread_;
                local_.release(owned.release());
                return;
            }
            local_.send(to - transport_.first_, batch);
        }

        /// The next batch for this partition, or null. Batches of one sender come in the order in which they were sent.
        /// The caller must release the batch.
        MessageBatch<Payload>* receive() {
            MessageBatch<Payload>* batch = local_.receive();
            if (batch == nullptr && transport_.messages_ != nullptr) {
                transport_.messages_->receive(local_);
                batch = local_.receive();
            }
            return batch;
        }

        void release(MessageBatch<Payload>* batch) { local_.release(batch); }

        /// Contributes to the next cut; one contribution at a time.
        void contribute(const Cut& cut) { local_.contribute(cut); }

        /// Returns whether all partitions have contributed, and then sets `cut`.
        bool completed(Cut& cut) {
            if (transport_.messages_ != nullptr) {
                return completed_in_all_processes(cut);
            }
            return local_.completed(cut);
        }

        /// Whether a partition is in this process.
        [[nodiscard]] bool shares_memory_with(std::uint32_t partition) const {
            return partition - transport_.first_ < transport_.threads_;
        }

        /// Makes all partitions of this process leave the run, after an error.
        void abort() { local_.abort(); }
        [[nodiscard]] bool aborted() const { return local_.aborted(); }

      private:
        /// First the threads of a process agree, then the processes; thread 0 speaks for its process.
        bool completed_in_all_processes(Cut& cut) {
            ProcessMessages<Payload>& messages = *transport_.messages_;
            if (!local_completed_) {
                Cut own;
                if (!local_.completed(own)) {
                    return false;
                }
                local_completed_ = true;
                if (thread_ == 0) {
                    messages.contribute(own);
                }
            }
            if (thread_ == 0) {
                messages.publish_cut(round_);
            }
            if (!messages.published(round_, cut)) {
                return false;
            }
            ++round_;
            local_completed_ = false;
            return true;
        }

        PartitionTransport& transport_;
        typename Mailboxes<Payload>::Endpoint local_;
        std::uint32_t thread_;
        std::uint64_t round_ = 0;
        bool local_completed_ = false;
    };

  private:
    Mailboxes<Payload> mailboxes_;
    std::unique_ptr<ProcessMessages<Payload>> messages_;  ///< null if there is one process
    std::uint32_t threads_;
    std::uint32_t first_ = 0;
    std::uint32_t partitions_;
};

/// The transport of a model's run, and its end in one partition.
template <class M>
using TransportOf = PartitionTransport<typename M::Payload>;
template <class M>
using EndpointOf = typename TransportOf<M>::Endpoint;

}  // namespace idlewave::pdes
