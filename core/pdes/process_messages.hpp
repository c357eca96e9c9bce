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
#include "pdes/mailboxes.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {

/// Message batches, and cuts, between the processes of a run, over an idlewave_transport, which one thread at a time
/// uses.
template <class Payload>
class ProcessMessages {
  public:
    static_assert(std::is_trivially_copyable_v<Payload>);
    using Mailbox = typename Mailboxes<Payload>::Endpoint;

    /// `threads` of each process.
    ProcessMessages(const idlewave_transport& transport, std::uint32_t threads)
        : transport_(transport), threads_(threads) {}
    ProcessMessages(const ProcessMessages&) = delete;
    ProcessMessages& operator=(const ProcessMessages&) = delete;
    ProcessMessages(ProcessMessages&&) = delete;
    ProcessMessages& operator=(ProcessMessages&&) = delete;
    /// Completes all sends: MPI frees a message that was received only when it is asked.
    ~ProcessMessages() {
        constexpr int patience = 1 << 20;  // after an error a message may never be received
        for (int i = 0; i < patience && !in_flight_.empty(); ++i) {
            try {
                complete_sends();
            } catch (const TransportError&) {
                return;
            }
        }
    }

    /// Sends a copy of a batch to a partition of another process.
    void send(std::uint32_t to, const MessageBatch<Payload>& batch) {
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

    /// Receives all messages that have arrived, for any thread of the process, into their mailboxes; skips it if
    /// another thread does that now. `own`: of the calling thread.
    void receive(Mailbox& own) {
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
            MessageBatch<Payload>* batch = own.empty_batch();
            batch->epoch = header.epoch;
            const std::byte* next = take(received_.data() + sizeof header, batch->events, header.records);
            take(next, batch->payloads, header.payloads);
            own.send(header.thread, batch);
        }
    }

    /// Contributes this process's numbers to the next cut of all processes.
    void contribute(const Cut& cut) {
        const idlewave_cut mine{{cut.in_transit, cut.executed},
                                {cut.first_pending, cut.first_sent, cut.continues, cut.busiest}};
        const std::lock_guard lock(mutex_);
        check(transport_.contribute(&mine));
    }

    /// Asks whether all processes have contributed to the cut of a round, and publishes it then to this process's
    /// threads; skips it if another thread uses the transport now.
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

    /// Returns whether the cut of a round is published, and then sets `cut`.
    bool published(std::uint64_t round, Cut& cut) const {
        if (published_.load(std::memory_order_acquire) <= round) {
            return false;
        }
        cut = cuts_[round % 2];
        return true;
    }

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
