#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pdes/mail.hpp"

namespace idlewave::pdes {

/// A stack that many push to, and from which one takes all at once.
template <class Payload>
class MailStack {
  public:
    MailStack() = default;
    MailStack(const MailStack&) = delete;
    MailStack& operator=(const MailStack&) = delete;
    MailStack(MailStack&&) = delete;
    MailStack& operator=(MailStack&&) = delete;
    ~MailStack() { drop(take()); }

    void push(Mail<Payload>* mail) {
        mail->next = top_.load(std::memory_order_relaxed);
        while (!top_.compare_exchange_weak(mail->next, mail, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }
    /// All, the last first; linked by `next`.
    Mail<Payload>* take() {
        return top_.load(std::memory_order_relaxed) == nullptr ? nullptr
                                                               : top_.exchange(nullptr, std::memory_order_acquire);
    }

    static void drop(Mail<Payload>* mail) {
        while (mail != nullptr) {
            const std::unique_ptr<Mail<Payload>> owned(mail);
            mail = mail->next;
        }
    }

  private:
    alignas(64) std::atomic<Mail<Payload>*> top_{nullptr};
};

/// How the partitions of one process tell each other things, each on a thread of its own: a Transport.
template <class Payload>
class Mailboxes {
  public:
    /// `partitions`: of this process, which has all.
    explicit Mailboxes(std::uint32_t partitions)
        : boxes_(partitions),
          returned_(partitions),
          cuts_{std::vector<Slot>(partitions), std::vector<Slot>(partitions)} {}

    [[nodiscard]] std::uint32_t threads() const { return static_cast<std::uint32_t>(boxes_.size()); }
    [[nodiscard]] std::uint32_t partitions() const { return threads(); }
    /// The number of this process's first partition.
    [[nodiscard]] static std::uint32_t first() { return 0; }

    /// One partition's end.
    class Port {
      public:
        Port(Mailboxes& mailboxes, std::uint32_t self) : mailboxes_(mailboxes), self_(self) {}
        Port(const Port&) = delete;
        Port& operator=(const Port&) = delete;
        Port(Port&&) = delete;
        Port& operator=(Port&&) = delete;
        ~Port() {
            MailStack<Payload>::drop(unread_);
            MailStack<Payload>::drop(blank_);
        }

        /// An empty mail; it is the caller's.
        Mail<Payload>* blank() {
            if (blank_ == nullptr) {
                blank_ = mailboxes_.returned_[self_].take();
            }
            if (blank_ == nullptr) {
                return std::make_unique<Mail<Payload>>().release();
            }
            Mail<Payload>* mail = blank_;
            blank_ = mail->next;
            mail->next = nullptr;  // after a failure it is dropped unsent, and the others with what had linked them
            return mail;
        }

        void send(std::uint32_t to, Mail<Payload>* mail) {
            mail->from = self_;
            mailboxes_.boxes_[to].push(mail);
        }

        /// The next mail for this partition, or null; of one sender in the order in which they were sent. It has to be
        /// given back.
        Mail<Payload>* receive() {
            if (unread_ == nullptr) {
                Mail<Payload>* last = mailboxes_.boxes_[self_].take();
                while (last != nullptr) {
                    Mail<Payload>* before = last->next;
                    last->next = unread_;
                    unread_ = last;
                    last = before;
                }
            }
            Mail<Payload>* mail = unread_;
            unread_ = mail == nullptr ? nullptr : mail->next;
            return mail;
        }

        void give_back(Mail<Payload>* mail) {
            mail->records.clear();
            mail->payloads.clear();
            mailboxes_.returned_[mail->from].push(mail);
        }

        /// This partition's part of the cut that is next: one at a time.
        void contribute(const Cut& cut) {
            Round& round = mailboxes_.rounds_[round_ % 2];
            mailboxes_.cuts_[round_ % 2][self_].cut = cut;
            round.contributed.fetch_add(1, std::memory_order_acq_rel);
        }

        /// Whether all have contributed to it; then what they agree upon is in `cut`.
        bool agreed(Cut& cut) {
            const auto partitions = static_cast<std::uint64_t>(mailboxes_.boxes_.size());
            if (mailboxes_.rounds_[round_ % 2].contributed.load(std::memory_order_acquire) <
                (round_ / 2 + 1) * partitions) {
                return false;
            }
            cut = {};
            for (const Slot& slot : mailboxes_.cuts_[round_ % 2]) {
                cut.add(slot.cut);
            }
            ++round_;
            return true;
        }

        /// Whether a partition is in this process.
        [[nodiscard]] static bool shares_memory_with(std::uint32_t /*partition*/) { return true; }

        /// To end the run where something went wrong.
        void give_up() { mailboxes_.given_up_.store(true, std::memory_order_relaxed); }
        [[nodiscard]] bool given_up() const { return mailboxes_.given_up_.load(std::memory_order_relaxed); }

      private:
        Mailboxes& mailboxes_;
        std::uint32_t self_;
        std::uint64_t round_ = 0;
        Mail<Payload>* unread_ = nullptr;
        Mail<Payload>* blank_ = nullptr;
    };

  private:
    struct alignas(64) Slot {
        Cut cut;
    };
    struct alignas(64) Round {
        std::atomic<std::uint64_t> contributed{0};
    };

    std::array<Round, 2> rounds_;
    std::vector<MailStack<Payload>> boxes_;
    std::vector<MailStack<Payload>> returned_;
    /// A slot is written again two rounds later, when all have read it: they have contributed to the round between.
    std::array<std::vector<Slot>, 2> cuts_;
    std::atomic<bool> given_up_{false};
};

}  // namespace idlewave::pdes
