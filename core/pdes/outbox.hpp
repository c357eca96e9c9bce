#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pdes/gvt.hpp"
#include "pdes/mail.hpp"
#include "pdes/mailboxes.hpp"

namespace idlewave::pdes {

/// What a partition tells others, in mails that are on their way or still being written.
template <class Payload, class Port>
class Outbox {
  public:
    Outbox(std::uint32_t partitions, Port& port, Gvt& gvt) : port_(port), gvt_(gvt), mails_(partitions) {}

    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;
    Outbox(Outbox&&) = delete;
    Outbox& operator=(Outbox&&) = delete;

    ~Outbox() {
        for (const std::uint32_t partition : written_) {
            MailStack<Payload>::drop(mails_[partition]);
        }
    }

    /// `cell`: in which the record lies there.
    void tell(std::uint32_t partition, const Record& told, std::int64_t cell) {
        mail_for(partition).records.push_back(told);
        gvt_.told(cell);
        ++told_;
    }
    void tell(std::uint32_t partition, const Record& told, std::int64_t cell, const Payload& payload) {
        Mail<Payload>& mail = mail_for(partition);
        mail.records.push_back(told);
        mail.payloads.push_back(payload);
        gvt_.told(cell);
        ++told_;
    }

    void send_all() {
        for (const std::uint32_t partition : written_) {
            send(partition);
        }
        written_.clear();
    }

    /// How many records there were, and how many mails.
    [[nodiscard]] std::uint64_t told() const { return told_; }
    [[nodiscard]] std::uint64_t sent() const { return sent_; }

  private:
    static constexpr std::size_t full = 1 << 12;  ///< records

    Mail<Payload>& mail_for(std::uint32_t partition) {
        Mail<Payload>*& mail = mails_[partition];
        if (mail == nullptr) {
            written_.push_back(partition);
            mail = port_.blank();
        } else if (mail->records.size() >= full) {
            send(partition);
            mail = port_.blank();
        }
        return *mail;
    }

    void send(std::uint32_t partition) {
        Mail<Payload>* mail = mails_[partition];
        mails_[partition] = nullptr;
        mail->next = nullptr;
        mail->epoch = gvt_.epoch();
        gvt_.sent();
        ++sent_;
        port_.send(partition, mail);
    }

    Port& port_;
    Gvt& gvt_;
    std::vector<Mail<Payload>*> mails_;   ///< by partition; null if there is nothing to tell
    std::vector<std::uint32_t> written_;  ///< the partitions for which there is one
    std::uint64_t told_ = 0;
    std::uint64_t sent_ = 0;
};

}  // namespace idlewave::pdes
