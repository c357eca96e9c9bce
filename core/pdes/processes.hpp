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
#include "pdes/mail.hpp"
#include "pdes/mailboxes.hpp"
#include "pdes/wire.h"

namespace idlewave::pdes {

/// How the partitions of several processes tell each other things: within a process through mailboxes, and from one to
/// another over a wire, to which one thread at a time has access. A Transport like Mailboxes.
template <class Payload>
class Processes {
  public:
    static_assert(std::is_trivially_copyable_v<Payload>);

    Processes(const idlewave_wire& wire, std::uint32_t threads) : boxes_(threads), wire_(wire), threads_(threads) {}
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;
    Processes(Processes&&) = delete;
    Processes& operator=(Processes&&) = delete;
    /// What has been received has left; MPI wants to be asked.
    ~Processes() {
        constexpr int patience = 1 << 20;  // after an error nothing may leave any more
        for (int i = 0; i < patience && !leaving_.empty(); ++i) {
            try {
                forget_what_left();
            } catch (const TransportError&) {
                return;
            }
        }
    }

    [[nodiscard]] std::uint32_t threads() const { return threads_; }
    [[nodiscard]] std::uint32_t partitions() const { return threads_ * static_cast<std::uint32_t>(wire_.processes); }
    /// The number of this process's first partition.
    [[nodiscard]] std::uint32_t first() const { return threads_ * static_cast<std::uint32_t>(wire_.process); }

    class Port {
      public:
        Port(Processes& processes, std::uint32_t thread)
            : processes_(processes), local_(processes.boxes_, thread), thread_(thread) {}

        Mail<Payload>* blank() { return local_.blank(); }

        void send(std::uint32_t to, Mail<Payload>* mail) {
            const std::uint32_t place = to - processes_.first();
            if (place < processes_.threads_) {
                local_.send(place, mail);
                return;
            }
            processes_.post(to, *mail);
            mail->from = thread_;
            local_.give_back(mail);
        }

        Mail<Payload>* receive() {
            Mail<Payload>* mail = local_.receive();
            if (mail == nullptr) {
                processes_.look_at_wire(local_);
                mail = local_.receive();
            }
            return mail;
        }

        void give_back(Mail<Payload>* mail) { local_.give_back(mail); }

        void contribute(const Cut& cut) { local_.contribute(cut); }

        /// First the threads of a process agree, then the processes; the first thread speaks for its process.
        bool agreed(Cut& cut) {
            if (!local_agreed_) {
                if (!local_.agreed(local_cut_)) {
                    return false;
                }
                local_agreed_ = true;
                if (thread_ == 0) {
                    processes_.contribute(local_cut_);
                }
            }
            if (thread_ == 0) {
                processes_.publish_cut(round_);
            }
            if (processes_.published_.load(std::memory_order_acquire) <= round_) {
                return false;
            }
            cut = processes_.cuts_[round_ % 2];
            ++round_;
            local_agreed_ = false;
            return true;
        }

        [[nodiscard]] bool shares_memory_with(std::uint32_t partition) const {
            return partition - processes_.first() < processes_.threads_;
        }

        void give_up() { local_.give_up(); }
        [[nodiscard]] bool given_up() const { return local_.given_up(); }

      private:
        Processes& processes_;
        typename Mailboxes<Payload>::Port local_;
        std::uint32_t thread_;
        std::uint64_t round_ = 0;
        bool local_agreed_ = false;
        Cut local_cut_;
    };

  private:
    using Bytes = std::vector<std::byte>;

    /// What goes before a mail's records and payloads.
    struct Header {
        std::uint32_t thread = 0;  ///< whom it is for
        std::uint32_t epoch = 0;
        std::uint32_t records = 0;
        std::uint32_t payloads = 0;
    };

    /// A message that may not have left.
    struct Leaving {
        std::int32_t ticket = 0;
        Bytes bytes;
    };

    void check(int status) const {
        if (status != 0) {
            throw TransportError(wire_.error_text());
        }
    }

    void post(std::uint32_t to, const Mail<Payload>& mail) {
        const Header header{to % threads_, mail.epoch, static_cast<std::uint32_t>(mail.records.size()),
                            static_cast<std::uint32_t>(mail.payloads.size())};
        const std::lock_guard lock(mutex_);
        Bytes bytes = spare();
        bytes.resize(sizeof header + mail.records.size() * sizeof(Record) + mail.payloads.size() * sizeof(Payload));
        std::byte* end = put(bytes.data(), &header, 1);
        end = put(end, mail.records.data(), mail.records.size());
        put(end, mail.payloads.data(), mail.payloads.size());
        Leaving leaving{0, std::move(bytes)};
        check(wire_.send(static_cast<std::int32_t>(to / threads_), leaving.bytes.data(), leaving.bytes.size(),
                         &leaving.ticket));
        leaving_.push_back(std::move(leaving));
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

    /// Takes in all that has come, for any thread; unless another does that now.
    void look_at_wire(typename Mailboxes<Payload>::Port& local) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            return;
        }
        forget_what_left();
        while (true) {
            std::int64_t size = 0;
            check(wire_.probe(&size));
            if (size < 0) {
                return;
            }
            arrived_.resize(static_cast<std::size_t>(size));
            check(wire_.receive(arrived_.data()));
            Header header;
            std::memcpy(&header, arrived_.data(), sizeof header);
            Mail<Payload>* mail = local.blank();
            mail->epoch = header.epoch;
            const std::byte* next = take(arrived_.data() + sizeof header, mail->records, header.records);
            take(next, mail->payloads, header.payloads);
            local.send(header.thread, mail);
        }
    }

    void forget_what_left() {
        for (std::size_t i = 0; i < leaving_.size();) {
            std::int32_t done = 0;
            check(wire_.sent(leaving_[i].ticket, &done));
            if (done == 0) {
                ++i;
                continue;
            }
            spare_.push_back(std::move(leaving_[i].bytes));
            std::swap(leaving_[i], leaving_.back());
            leaving_.pop_back();
        }
    }

    void contribute(const Cut& cut) {
        const idlewave_cut mine{{cut.in_transit, cut.handled}, {cut.waiting, cut.sent, cut.goes_on, cut.busiest}};
        const std::lock_guard lock(mutex_);
        check(wire_.contribute(&mine));
    }

    void publish_cut(std::uint64_t round) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            return;
        }
        idlewave_cut cut{};
        std::int32_t done = 0;
        check(wire_.agreed(&cut, &done));
        if (done != 0) {
            cuts_[round % 2] = {cut.sum[0], cut.sum[1], cut.least[0], cut.least[1], cut.least[2], cut.least[3]};
            published_.store(round + 1, std::memory_order_release);
        }
    }

    Mailboxes<Payload> boxes_;
    const idlewave_wire& wire_;
    std::atomic<std::uint64_t> published_{0};  ///< rounds of which the cut is known
    std::vector<Leaving> leaving_;             ///< with what follows and the wire, for who holds the mutex
    std::vector<Bytes> spare_;
    Bytes arrived_;
    std::mutex mutex_;
    std::array<Cut, 2> cuts_ = {};
    std::uint32_t threads_;
};

}  // namespace idlewave::pdes
