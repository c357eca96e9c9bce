#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "base/slab.hpp"
#include "base/time.hpp"
#include "loggops/request.hpp"
#include "loggops/request_queues.hpp"

namespace idlewave::loggops {

/// Where the pending requests of a rank are while other ranks are simulated: nowhere, in a linked list, or in queues.
class PendingRequests {
  public:
    [[nodiscard]] bool none() const { return word_ == 0; }
    [[nodiscard]] bool in_queues() const { return (word_ & many) != 0; }
    [[nodiscard]] std::uint32_t queues() const { return word_ - many; }
    /// The first of the list, or 0.
    [[nodiscard]] std::uint32_t first() const { return in_queues() ? 0 : word_; }

    static PendingRequests list(std::uint32_t first) { return PendingRequests(first); }
    static PendingRequests queued(std::uint32_t queues) { return PendingRequests(many + queues); }
    PendingRequests() = default;

  private:
    static constexpr std::uint32_t many = 0x80000000;
    explicit PendingRequests(std::uint32_t word) : word_(word) {}
    std::uint32_t word_ = 0;
};

/// The pending requests of the rank that is being simulated (docs/model.md, R14 and R15). Up to twelve of them are in
/// slots, and stay where they were written as long as they wait; the requests of a rank with more are in RequestQueues.
template <class Cookie, class Moment = Time>
class Agenda {
  public:
    using Entry = Request<Cookie, Moment>;

    /// The next request to start, and its start.
    struct Next {
        Time at = never;
        std::uint32_t index = 0;
    };

    /// Begins with a rank.
    [[gnu::always_inline]] void open(PendingRequests pending) {
        used_ = 0;
        if (pending.in_queues()) [[unlikely]] {
            queues_number_ = pending.queues();
            queues_ = &all_queues_[queues_number_];
            return;
        }
        std::uint32_t count = 0;
        for (std::uint32_t number = pending.first(); number != 0;) {
            Waiting& waiting = waiting_[number];
            slots_[count] = &waiting;
            numbers_[count++] = number;
            used_ = 2 * used_ + 1;
            number = waiting.next;
        }
    }

    /// Leaves the rank. Returns its pending requests.
    [[gnu::always_inline]] PendingRequests close() {
        if (queues_number_ != 0) [[unlikely]] {
            return close_queues();
        }
        return PendingRequests::list(link_slots());
    }

    /// Brings the first pending request of a rank into the cache.
    [[gnu::always_inline]] void prefetch(PendingRequests pending) const { waiting_.prefetch(pending.first()); }

    /// Whether no request is pending.
    [[nodiscard]] bool idle() const { return used_ == 0 && queues_ == nullptr; }

    /// Whether exactly one request is pending.
    [[nodiscard]] bool one() const { return used_ != 0 && (used_ & (used_ - 1)) == 0 && queues_ == nullptr; }

    /// Where to write a new request, which then has to be `added`: it is written where it stays.
    Entry& make() {
        if (used_ == all && queues_ == nullptr) [[unlikely]] {
            move_to_queues();
        }
        made_number_ = waiting_.add();
        made_ = &waiting_[made_number_];
        return made_->request;
    }
    void added() {
        if (queues_ != nullptr) [[unlikely]] {
            queues_->add(made_->request);
            waiting_.remove(made_number_);
            return;
        }
        add_made();
    }
    /// The number of the next protocol send, for its `request_id`.
    std::uint32_t next_request_id() { return next_request_id_++; }

    /// The request that starts first: each starts at the first time at which it is ready and its resources are free,
    /// and of several at one time the one with precedence starts. `at` is `never` if there is none.
    [[nodiscard]] Next next(const Moment* free_times) const {
        if (queues_ != nullptr) [[unlikely]] {
            return next_in_queues(free_times);
        }
        if (used_ == 0) {
            return {};
        }
        const auto first = static_cast<std::uint32_t>(std::countr_zero(used_));
        Next best{start(slots_[first]->request, free_times), first};
        for (std::uint32_t others = used_ & (used_ - 1); others != 0; others &= others - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(others));
            const Entry& other = slots_[i]->request;
            const Time at = start(other, free_times);
            if (at < best.at || (at == best.at && other.before(slots_[best.index]->request))) {
                best = {at, i};
            }
        }
        return best;
    }

    /// The request at `index` starts. It stays in its slot, which is returned, until it is `done`.
    std::uint32_t take(std::uint32_t index) {
        if (queues_ == nullptr) [[likely]] {
            started_ = index;
            return index;
        }
        made_number_ = waiting_.add();
        made_ = &waiting_[made_number_];
        made_->request = queues_->take(index);
        add_made();
        if (queues_->empty()) {
            queues_ = nullptr;
        }
        started_ = 0;
        return 0;
    }
    [[nodiscard]] const Entry& operator[](std::uint32_t slot) const { return slots_[slot]->request; }
    void done(std::uint32_t slot) {
        used_ &= ~(1U << slot);
        waiting_.remove(numbers_[slot]);
        started_ = no_slot;
    }

    /// Calls `use` with each pending request of a rank that is not open.
    template <class Use>
    void each(PendingRequests pending, Use use) const {
        if (pending.in_queues()) {
            all_queues_[pending.queues()].each(use);
        }
        for (std::uint32_t i = pending.first(); i != 0; i = waiting_[i].next) {
            use(waiting_[i].request);
        }
    }

    /// Removes the pending requests of a rank that is not open.
    void discard(PendingRequests pending) {
        if (pending.in_queues()) {
            all_queues_[pending.queues()].clear();
            all_queues_.remove(pending.queues());
        }
        for (std::uint32_t i = pending.first(); i != 0;) {
            const std::uint32_t next = waiting_[i].next;
            waiting_.remove(i);
            i = next;
        }
    }

  private:
    using Queues = RequestQueues<Cookie, Moment>;

    /// A request in a slot or a list. With plain times it is a cache line.
    struct alignas(64) Waiting {
        [[no_unique_address]] Entry request;  ///< `next` is in its padding
        std::uint32_t next = 0;               ///< in the list of its rank
    };
    static_assert(sizeof(Moment) > sizeof(Time) || sizeof(Waiting) == 64);

    void add_made() {
        const auto slot = static_cast<std::size_t>(std::countr_one(used_));
        slots_[slot] = made_;
        numbers_[slot] = made_number_;
        used_ |= used_ + 1;
    }

    [[gnu::always_inline]] std::uint32_t link_slots() {
        std::uint32_t first = 0;
        for (; used_ != 0; used_ &= used_ - 1) {
            const auto slot = static_cast<std::size_t>(std::countr_zero(used_));
            slots_[slot]->next = first;
            first = numbers_[slot];
        }
        return first;
    }

    /// From now on requests wait in queues. The request that has just started stays in its slot.
    [[gnu::noinline]] void move_to_queues() {
        if (queues_number_ == 0) {
            queues_number_ = all_queues_.add();
        }
        queues_ = &all_queues_[queues_number_];
        const std::uint32_t started = started_ == no_slot ? 0 : 1U << started_;
        for (std::uint32_t others = used_ & ~started; others != 0; others &= others - 1) {
            const auto slot = static_cast<std::size_t>(std::countr_zero(others));
            queues_->add(slots_[slot]->request);
            waiting_.remove(numbers_[slot]);
        }
        used_ &= started;
    }

    [[gnu::noinline]] PendingRequests close_queues() {
        const std::uint32_t number = std::exchange(queues_number_, 0);
        if (std::exchange(queues_, nullptr) != nullptr) {
            return PendingRequests::queued(number);
        }
        all_queues_.remove(number);
        return PendingRequests::list(link_slots());
    }

    static Time start(const Entry& request, const Moment* free_times) {
        const Time ready = time_of(request.ready.at);
        const Time free =
            std::max(time_of(free_times[request.first_resource]), time_of(free_times[request.second_resource]));
        return request.kind == RequestKind::post ? ready : std::max(ready, free);
    }

    [[nodiscard]] Next next_in_queues(const Moment* free_times) const {
        Next best;
        const Entry* first = nullptr;
        queues_->each_head([&](const Entry& request, std::uint32_t index) {
            const Time at = start(request, free_times);
            if (first == nullptr || at < best.at || (at == best.at && request.before(*first))) {
                best = {at, index};
                first = &request;
            }
        });
        return best;
    }

    static constexpr std::uint32_t most = 12;
    static constexpr std::uint32_t all = (1U << most) - 1;
    static constexpr std::uint32_t no_slot = 31;

    std::array<Waiting*, most> slots_{};
    std::array<std::uint32_t, most> numbers_{};  ///< in `waiting_`, by slot
    std::uint32_t used_ = 0;                     ///< slots, a bit each
    std::uint32_t started_ = no_slot;            ///< the slot of the request that has started and is not done
    Waiting* made_ = nullptr;                    ///< the request that `make` has made
    std::uint32_t made_number_ = 0;
    std::uint32_t next_request_id_ = 0;
    std::uint32_t queues_number_ = 0;  ///< of the rank's queues, if it has some
    Queues* queues_ = nullptr;         ///< these queues, unless they are empty
    Slab<Waiting> waiting_;            ///< requests in slots and lists, of all ranks of the thread
    Slab<Queues> all_queues_;          ///< of all ranks of the thread
};

}  // namespace idlewave::loggops
