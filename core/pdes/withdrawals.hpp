#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "pdes/visit_log.hpp"

namespace idlewave::pdes {

/// Something that an LP has sent.
struct SentBy {
    Sent sent;
    std::uint32_t sequence = 0;
    std::uint32_t source = 0;
};

/// What an LP has sent in visits that were undone, as long as it may send the same again (lazy cancellation): in the
/// order of its sequence, which goes on where the LP's own now stands.
template <class Payload>
class Withdrawn {
  public:
    [[nodiscard]] bool empty() const { return sent_.empty(); }

    /// All that a visit sent, which comes before all that there is.
    void add(Visit& visit, std::uint32_t source) {
        std::deque<Item> more;
        const std::byte* payload = visit.payloads().data();
        std::uint32_t sequence = visit.sequence;
        for (const Sent& sent : visit.sent()) {
            Item& item = more.emplace_back(Item{{sent, sequence++, source}, visit.cell, {}});
            if (sent.code == Stored::in_parcel) {
                std::memcpy(&item.payload, payload, sizeof(Payload));
                payload += sizeof(Payload);
            }
        }
        sent_.insert(sent_.begin(), more.begin(), more.end());
    }

    /// Whether what the LP sends now, `payload` (null if it has none) with it, it has sent before: then that stands.
    /// Else what stands in its way goes to `take_back`.
    template <class TakeBack>
    bool sends_again(const Sent& sent, std::uint32_t sequence, const Payload* payload, TakeBack take_back) {
        while (!sent_.empty() && sent_.front().by.sequence <= sequence) {
            const Item old = sent_.front();
            sent_.pop_front();
            if (old.by.sequence == sequence && old.by.sent == sent &&
                (payload == nullptr || alike(old.payload, *payload))) {
                return true;
            }
            take_back(old.by);
        }
        return false;
    }

    /// What was sent up to `cell`, which the LP has gone through again, goes to `take_back`.
    template <class TakeBack>
    void settle(std::int64_t cell, TakeBack take_back) {
        while (!sent_.empty() && sent_.front().cell <= cell) {
            const SentBy old = sent_.front().by;
            sent_.pop_front();
            take_back(old);
        }
    }

  private:
    struct Item {
        SentBy by;
        std::int64_t cell = 0;  ///< in which it was sent
        Payload payload{};
    };

    /// Payloads that cannot be compared are never alike, and are sent anew.
    static bool alike(const Payload& a, const Payload& b) {
        if constexpr (std::equality_comparable<Payload>) {
            return a == b;
        } else {
            return false;
        }
    }

    std::deque<Item> sent_;
};

/// Of those LPs of a partition that have any, by place.
template <class Payload>
class Withdrawals {
  public:
    /// Null if there is nothing.
    [[nodiscard]] Withdrawn<Payload>* find(std::uint32_t local) {
        if (of_lp_.empty()) [[likely]] {
            return nullptr;
        }
        const auto found = of_lp_.find(local);
        return found == of_lp_.end() ? nullptr : &found->second;
    }

    void add(Visit& visit, std::uint32_t source) {
        if (visit.sends > 0) {
            of_lp_[visit.lp].add(visit, source);
        }
    }

    void remove(std::uint32_t local) { of_lp_.erase(local); }

  private:
    std::unordered_map<std::uint32_t, Withdrawn<Payload>> of_lp_;
};

}  // namespace idlewave::pdes
