#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pdes/exchange.hpp"
#include "pdes/message_batch.hpp"

namespace idlewave::pdes {

/// A lock-free stack: any thread pushes, one thread takes all batches at once.
template <class Payload>
class BatchStack {
  public:
    BatchStack() = default;
    BatchStack(const BatchStack&) = delete;
    BatchStack& operator=(const BatchStack&) = delete;
    BatchStack(BatchStack&&) = delete;
    BatchStack& operator=(BatchStack&&) = delete;
    ~BatchStack() { drop(take()); }

    void push(MessageBatch<Payload>* batch) {
        batch->next = top_.load(std::memory_order_relaxed);
        while (!top_.compare_exchange_weak(batch->next, batch, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }
    /// All batches, the latest first, linked by `next`.
    MessageBatch<Payload>* take() {
        return top_.load(std::memory_order_relaxed) == nullptr ? nullptr
                                                               : top_.exchange(nullptr, std::memory_order_acquire);
    }

    static void drop(MessageBatch<Payload>* batch) {
        while (batch != nullptr) {
            const std::unique_ptr<MessageBatch<Payload>> owned(batch);
            batch = batch->next;
        }
    }

  private:
    alignas(64) std::atomic<MessageBatch<Payload>*> top_{nullptr};
};

/// A Transport for the partitions of one process, each on a thread of its own: a mailbox of message batches for each
/// partition.
template <class Payload>
class ThreadTransport {
  public:
    /// `partitions` of the process, which are all of the run.
    explicit ThreadTransport(std::uint32_t partitions)
        : mailboxes_(partitions),
          released_(partitions),
          cuts_{std::vector<Slot>(partitions), std::vector<Slot>(partitions)} {}

    [[nodiscard]] std::uint32_t threads() const { return static_cast<std::uint32_t>(mailboxes_.size()); }
    [[nodiscard]] std::uint32_t partitions() const { return threads(); }
    /// The number of this process's first partition.
    [[nodiscard]] static std::uint32_t first() { return 0; }

    /// The end of the transport that one partition uses.
    class Endpoint {
      public:
        Endpoint(ThreadTransport& transport, std::uint32_t self) : transport_(transport), self_(self) {}
        Endpoint(const Endpoint&) = delete;
        Endpoint& operator=(const Endpoint&) = delete;
        Endpoint(Endpoint&&) = delete;
        Endpoint& operator=(Endpoint&&) = delete;
        ~Endpoint() {
            BatchStack<Payload>::drop(unread_);
            BatchStack<Payload>::drop(empty_);
        }

        /// An empty batch, which the caller owns.
        MessageBatch<Payload>* empty_batch() {
            if (empty_ == nullptr) {
                empty_ = transport_.released_[self_].take();
            }
            if (empty_ == nullptr) {
                return std::make_unique<MessageBatch<Payload>>().release();
            }
            MessageBatch<Payload>* batch = empty_;
            empty_ = batch->next;
            batch->next = nullptr;  // after a failure it is dropped unsent, without the batches that it was linked to
            return batch;
        }

        void send(std::uint32_t to, MessageBatch<Payload>* batch) {
            batch->from = self_;
            transport_.mailboxes_[to].push(batch);
        }

        /// The next batch for this partition, or null. Batches of one sender come in the order in which they were sent.
        /// The caller must release the batch.
        MessageBatch<Payload>* receive() {
            if (unread_ == nullptr) {
                MessageBatch<Payload>* last = transport_.mailboxes_[self_].take();
                while (last != nullptr) {
                    MessageBatch<Payload>* before = last->next;
                    last->next = unread_;
                    unread_ = last;
                    last = before;
                }
            }
            MessageBatch<Payload>* batch = unread_;
            unread_ = batch == nullptr ? nullptr : batch->next;
            return batch;
        }

        void release(MessageBatch<Payload>* batch) {
            batch->events.clear();
            batch->payloads.clear();
            transport_.released_[batch->from].push(batch);
        }

        /// Contributes to the next cut; one contribution at a time.
        void contribute(const Cut& cut) {
            Round& round = transport_.rounds_[round_ % 2];
            transport_.cuts_[round_ % 2][self_].cut = cut;
            round.contributed.fetch_add(1, std::memory_order_acq_rel);
        }

        /// Returns whether all partitions have contributed, and then sets `cut`.
        bool completed(Cut& cut) {
            const auto partitions = static_cast<std::uint64_t>(transport_.mailboxes_.size());
            if (transport_.rounds_[round_ % 2].contributed.load(std::memory_order_acquire) <
                (round_ / 2 + 1) * partitions) {
                return false;
            }
            cut = {};
            for (const Slot& slot : transport_.cuts_[round_ % 2]) {
                cut.add(slot.cut);
            }
            ++round_;
            return true;
        }

        /// Whether a partition is in this process.
        [[nodiscard]] static bool shares_memory_with(std::uint32_t /*partition*/) { return true; }

        /// Makes all partitions of this process leave the run, after an error.
        void abort() { transport_.aborted_.store(true, std::memory_order_relaxed); }
        [[nodiscard]] bool aborted() const { return transport_.aborted_.load(std::memory_order_relaxed); }

      private:
        ThreadTransport& transport_;
        std::uint32_t self_;
        std::uint64_t round_ = 0;
        MessageBatch<Payload>* unread_ = nullptr;
        MessageBatch<Payload>* empty_ = nullptr;
    };

  private:
    struct alignas(64) Slot {
        Cut cut;
    };
    struct alignas(64) Round {
        std::atomic<std::uint64_t> contributed{0};
    };

    std::array<Round, 2> rounds_;
    std::vector<BatchStack<Payload>> mailboxes_;
    std::vector<BatchStack<Payload>> released_;
    /// A slot is written again two rounds later. By then all have read it, since they have contributed to the round
    /// between.
    std::array<std::vector<Slot>, 2> cuts_;
    std::atomic<bool> aborted_{false};
};

}  // namespace idlewave::pdes
