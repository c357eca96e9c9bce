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

/// A mailbox of message batches for each thread of a process, and the cuts of these threads.
template <class Payload>
class Mailboxes {
  public:
    explicit Mailboxes(std::uint32_t threads)
        : mailboxes_(threads), released_(threads), cuts_{std::vector<Slot>(threads), std::vector<Slot>(threads)} {}

    /// What one thread uses.
    class Endpoint {
      public:
        Endpoint(Mailboxes& all, std::uint32_t self) : all_(all), self_(self) {}
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
                empty_ = all_.released_[self_].take();
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
            all_.mailboxes_[to].push(batch);
        }

        /// The next batch for this thread, or null. Batches of one sender come in the order in which they were sent.
        /// The caller must release the batch.
        MessageBatch<Payload>* receive() {
            if (unread_ == nullptr) {
                MessageBatch<Payload>* last = all_.mailboxes_[self_].take();
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
            all_.released_[batch->from].push(batch);
        }

        /// Contributes to the next cut; one contribution at a time.
        void contribute(const Cut& cut) {
            Round& round = all_.rounds_[round_ % 2];
            all_.cuts_[round_ % 2][self_].cut = cut;
            round.contributed.fetch_add(1, std::memory_order_acq_rel);
        }

        /// Returns whether all threads have contributed, and then sets `cut`.
        bool completed(Cut& cut) {
            const auto threads = static_cast<std::uint64_t>(all_.mailboxes_.size());
            if (all_.rounds_[round_ % 2].contributed.load(std::memory_order_acquire) < (round_ / 2 + 1) * threads) {
                return false;
            }
            cut = {};
            for (const Slot& slot : all_.cuts_[round_ % 2]) {
                cut.add(slot.cut);
            }
            ++round_;
            return true;
        }

        /// Makes all threads of this process leave the run, after an error.
        void abort() { all_.aborted_.store(true, std::memory_order_relaxed); }
        [[nodiscard]] bool aborted() const { return all_.aborted_.load(std::memory_order_relaxed); }

      private:
        Mailboxes& all_;
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
