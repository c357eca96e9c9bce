#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/thread_transport.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// A Transport for the partitions of several processes: a ThreadTransport within the process, and messages over an
/// idlewave_transport between processes, which one thread at a time uses.
template <class Payload>
class ProcessTransport {
  public:
    static_assert(std::is_trivially_copyable_v<Payload>);

    ProcessTransport(const idlewave_transport& transport, std::uint32_t threads)
        : mailboxes_(threads), transport_(transport), threads_(threads) {}
    ProcessTransport(const ProcessTransport&) = delete;
    ProcessTransport& operator=(const ProcessTransport&) = delete;
    ProcessTransport(ProcessTransport&&) = delete;
    ProcessTransport& operator=(ProcessTransport&&) = delete;
    /// Completes all sends: MPI frees a message that was received only when it is asked.
    ~ProcessTransport() {
        constexpr int patience = 1 << 20;  // after an error a message may never be received
        for (int i = 0; i < patience && !in_flight_.empty(); ++i) {
            try {
                complete_sends();
            } catch (const TransportError&) {
                return;
            }
        }
    }

    [[nodiscard]] std::uint32_t threads() const { return threads_; }
    [[nodiscard]] std::uint32_t partitions() const {
        return threads_ * static_cast<std::uint32_t>(transport_.processes);
    }
    /// The number of this process's first partition.
    [[nodiscard]] std::uint32_t first() const { return threads_ * static_cast<std::uint32_t>(transport_.process); }

    class Endpoint {
      public:
        Endpoint(ProcessTransport& processes, std::uint32_t thread)
            : transport_(processes), local_(processes.mailboxes_, thread), thread_(thread) {}

        MessageBatch<Payload>* empty_batch() { return local_.empty_batch(); }

        void send(std::uint32_t to, MessageBatch<Payload>* batch) {
            const std::uint32_t thread = to - transport_.first();
            if (thread < transport_.threads_) {
                local_.send(thread, batch);
                return;
            }
            transport_.post(to, *batch);
            batch->from = thread_;
            local_.release(batch);
        }

        MessageBatch<Payload>* receive() {
            MessageBatch<Payload>* batch = local_.receive();
            if (batch == nullptr) {
                transport_.poll_transport(local_);
                batch = local_.receive();
            }
            return batch;
        }

        void release(MessageBatch<Payload>* batch) { local_.release(batch); }

        void contribute(const Cut& cut) { local_.contribute(cut); }

        /// First the threads of a process agree, then the processes; thread 0 speaks for its process.
        bool completed(Cut& cut) {
            if (!local_completed_) {
                if (!local_.completed(local_cut_)) {
                    return false;
                }
                local_completed_ = true;
                if (thread_ == 0) {
                    transport_.contribute(local_cut_);
                }
            }
            if (thread_ == 0) {
                transport_.publish_cut(round_);
            }
            if (transport_.published_.load(std::memory_order_acquire) <= round_) {
                return false;
            }
            cut = transport_.cuts_[round_ % 2];
            ++round_;
            local_completed_ = false;
            return true;
        }

        [[nodiscard]] bool shares_memory_with(std::uint32_t partition) const {
            return partition - transport_.first() < transport_.threads_;
        }

        void abort() { local_.abort(); }
        [[nodiscard]] bool aborted() const { return local_.aborted(); }

      private:
        ProcessTransport& transport_;
        typename ThreadTransport<Payload>::Endpoint local_;
        std::uint32_t thread_;
        std::uint64_t round_ = 0;
        bool local_completed_ = false;
        Cut local_cut_;
    };

  private:
    using Bytes = std::vector<std::byte>;

    /// The header of a message, before a batch's events and payloads.
    struct Header {
        std::uint32_t thread = 0;  ///< of the receiver
        std::uint32_t epoch = 0;
        std::uint32_t records = 0;
        std::uint32_t payloads = 0;
    };

    /// A message whose send is not complete.
    struct InFlight {
        std::int32_t ticket = 0;
        Bytes bytes;
    };

    void check(int status) const {
        if (status != 0) {
            throw TransportError(transport_.error_text());
        }
    }

    void post(std::uint32_t to, const MessageBatch<Payload>& batch) {
        const Header header{to % threads_, batch.epoch, static_cast<std::uint32_t>(batch.events.size()),
                            static_cast<std::uint32_t>(batch.payloads.size())};
        const std::lock_guard lock(mutex_);
        Bytes bytes = spare();
        bytes.resize(sizeof header + batch.events.size() * sizeof(PendingEvent) +
                     batch.payloads.size() * sizeof(Payload));
        std::byte* end = put(bytes.data(), &header, 1);
        end = put(end, batch.events.data(), batch.events.size());
        put(end, batch.payloads.data(), batch.payloads.size());
        InFlight sending{0, std::move(bytes)};
        check(transport_.send(static_cast<std::int32_t>(to / threads_), sending.bytes.data(), sending.bytes.size(),
                              &sending.ticket));
        in_flight_.push_back(std::move(sending));
    }

    template <class T>
    static std::byte* put(std::byte* to, const T* values, std::size_t count) {
        if (count > 0) {
            std::memcpy(to, values, count * sizeof(T));
        }
        return to + count * sizeof(T);
    }

    template <class T>
    static const std::byte* take(const std::byte* from, std::vector<T>& values, std::size_t count) {
        values.resize(count);
        if (count > 0) {
            std::memcpy(values.data(), from, count * sizeof(T));
        }
        return from + count * sizeof(T);
    }

    Bytes spare() {
        if (spare_.empty()) {
            return {};
        }
        Bytes bytes = std::move(spare_.back());
        spare_.pop_back();
        return bytes;
    }

    /// Receives all messages that have arrived, for any thread of the process; skips it if another thread does that
    /// now.
    void poll_transport(typename ThreadTransport<Payload>::Endpoint& local) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            return;
        }
        complete_sends();
        while (true) {
            std::int64_t size = 0;
            check(transport_.probe(&size));
            if (size < 0) {
                return;
            }
            received_.resize(static_cast<std::size_t>(size));
            check(transport_.receive(received_.data()));
            Header header;
            std::memcpy(&header, received_.data(), sizeof header);
            MessageBatch<Payload>* batch = local.empty_batch();
            batch->epoch = header.epoch;
            const std::byte* next = take(received_.data() + sizeof header, batch->events, header.records);
            take(next, batch->payloads, header.payloads);
            local.send(header.thread, batch);
        }
    }

    void complete_sends() {
        for (std::size_t i = 0; i < in_flight_.size();) {
            std::int32_t done = 0;
            check(transport_.sent(in_flight_[i].ticket, &done));
            if (done == 0) {
                ++i;
                continue;
            }
            spare_.push_back(std::move(in_flight_[i].bytes));
            std::swap(in_flight_[i], in_flight_.back());
            in_flight_.pop_back();
        }
    }

    void contribute(const Cut& cut) {
        const idlewave_cut mine{{cut.in_transit, cut.executed},
                                {cut.first_pending, cut.first_sent, cut.continues, cut.busiest}};
        const std::lock_guard lock(mutex_);
        check(transport_.contribute(&mine));
    }

    void publish_cut(std::uint64_t round) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            return;
        }
        idlewave_cut cut{};
        std::int32_t done = 0;
        check(transport_.completed(&cut, &done));
        if (done != 0) {
            cuts_[round % 2] = {cut.sum[0], cut.sum[1], cut.least[0], cut.least[1], cut.least[2], cut.least[3]};
            published_.store(round + 1, std::memory_order_release);
        }
    }

    ThreadTransport<Payload> mailboxes_;
    const idlewave_transport& transport_;
    std::atomic<std::uint64_t> published_{0};  ///< rounds whose cut is known
    std::vector<InFlight> in_flight_;          ///< guarded by the mutex, as the next members and the transport are
    std::vector<Bytes> spare_;
    Bytes received_;
    std::mutex mutex_;
    std::array<Cut, 2> cuts_ = {};
    std::uint32_t threads_;
};

}  // namespace idlewave::pdes
