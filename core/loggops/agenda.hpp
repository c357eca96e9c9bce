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

namespace idlewave {

/// The requests of the rank that is being simulated. They are where they were written as long as they wait, linked
/// while other ranks are simulated; where there are many, they wait in the rank's queues.
template <class Cookie, class Moment = Time>
class Agenda {
  public:
    /// Where the next request is, and when it starts.
    struct Next {
        Time at = never;
        std::uint32_t index = 0;
    };

    /// Begin with a rank: its waiting requests, and its queues if it has some.
    [[gnu::always_inline]] void open(std::uint32_t pending, RequestQueues<Cookie, Moment>* queues) {
        used_ = 0;
        queues_ = queues;
        std::uint32_t count = 0;
        for (std::uint32_t i = pending; i != 0;) {
            Waiting& waiting = waiting_[i];
            slots_[count++] = &waiting;
            used_ = 2 * used_ + 1;
            i = waiting.next;
        }
    }

    /// Bring a rank's waiting request into the cache.
    [[gnu::always_inline]] void prefetch(std::uint32_t pending) const { waiting_.prefetch(pending); }

    /// Leave the rank; returns its waiting requests.
    [[gnu::always_inline]] std::uint32_t close() {
        std::uint32_t first = 0;
        for (; used_ != 0; used_ &= used_ - 1) {
            Waiting& waiting = *slots_[std::countr_zero(used_)];
            waiting.next = first;
            first = waiting.number;
        }
        return first;
    }

    /// Whether nothing waits.
    [[nodiscard]] bool idle() const { return used_ == 0 && queues_ == nullptr; }

    /// Whether one waits, and no more.
    [[nodiscard]] bool one() const { return used_ != 0 && (used_ & (used_ - 1)) == 0 && queues_ == nullptr; }

    /// Whether there is no room for another one.
    [[nodiscard]] bool full() const { return used_ == all && queues_ == nullptr; }

    /// From now on requests wait in `queues`; what a slot held that is being performed stays there.
    void use(RequestQueues<Cookie, Moment>& queues, std::uint32_t performing) {
        queues_ = &queues;
        for (std::uint32_t others = used_ & ~(1U << performing); others != 0; others &= others - 1) {
            const Waiting& waiting = *slots_[std::countr_zero(others)];
            queues.add(waiting.request);
            waiting_.remove(waiting.number);
        }
        used_ &= 1U << performing;
    }

    /// Where to write a new request, which then has to be `added`. Needs room: not `full`.
    Request<Cookie, Moment>& make() {
        const std::uint32_t number = waiting_.add();
        made_ = &waiting_[number];
        made_->number = number;
        return made_->request;
    }
    void added() {
        if (queues_ != nullptr) [[unlikely]] {
            queues_->add(made_->request);
            waiting_.remove(made_->number);
            return;
        }
        add_made();
    }

    /// The request that starts first: at the first time at which it is ready and all that it needs is free, and among
    /// those of one time the first in order. `at` is `never` if there is none.
    [[nodiscard]] Next next(const Moment* free_times) const {
        if (queues_ != nullptr) [[unlikely]] {
            return next_in_queues(free_times);
        }
        if (used_ == 0) {
            return {};
        }
        auto first = static_cast<std::uint32_t>(std::countr_zero(used_));
        Next best{start(slots_[first]->request, free_times), first};
        for (std::uint32_t others = used_ & (used_ - 1); others != 0; others &= others - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(others));
            const Request<Cookie, Moment>& other = slots_[i]->request;
            const Time at = start(other, free_times);
            if (at < best.at || (at == best.at && other.before(slots_[best.index]->request))) {
                best = {at, i};
            }
        }
        return best;
    }

    /// The request at `index`, which stays in its slot until it is `done`. Returns the slot.
    std::uint32_t take(std::uint32_t index) {
        if (queues_ == nullptr) [[likely]] {
            return index;
        }
        make() = queues_->take(index);
        add_made();
        if (queues_->empty()) {
            queues_ = nullptr;
        }
        return 0;
    }
    [[nodiscard]] const Request<Cookie, Moment>& operator[](std::uint32_t slot) const { return slots_[slot]->request; }
    void done(std::uint32_t slot) {
        used_ &= ~(1U << slot);
        waiting_.remove(slots_[slot]->number);
    }

    /// Calls `visit` with all requests of a rank that has no queues and is not open: those linked from `pending` on.
    template <class Visit>
    void each(std::uint32_t pending, Visit visit) const {
        for (std::uint32_t i = pending; i != 0; i = waiting_[i].next) {
            visit(waiting_[i].request);
        }
    }
    /// They are no longer there.
    void discard(std::uint32_t pending) {
        while (pending != 0) {
            waiting_.remove(std::exchange(pending, waiting_[pending].next));
        }
    }

  private:
    /// With plain times it is a cache line.
    struct alignas(64) Waiting {
        Request<Cookie, Moment> request;
        std::uint32_t next = 0;
        std::uint32_t number = 0;  ///< its own
    };
    static_assert(sizeof(Moment) > sizeof(Time) || sizeof(Waiting) == 64);

    void add_made() {
        slots_[static_cast<std::size_t>(std::countr_one(used_))] = made_;
        used_ |= used_ + 1;
    }

    static Time start(const Request<Cookie, Moment>& request, const Moment* free_times) {
        const Time ready = time_of(request.ready.at);
        const Time free =
            std::max(time_of(free_times[request.first_resource]), time_of(free_times[request.second_resource]));
        return request.kind == RequestKind::post ? ready : std::max(ready, free);
    }

    [[nodiscard]] Next next_in_queues(const Moment* free_times) const {
        Next best;
        const Request<Cookie, Moment>* first = nullptr;
        queues_->each_head([&](const Request<Cookie, Moment>& request, std::uint32_t index) {
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

    std::array<Waiting*, most> slots_{};
    std::uint32_t used_ = 0;   ///< a bit a slot
    Waiting* made_ = nullptr;  ///< the request that has been made last
    RequestQueues<Cookie, Moment>* queues_ = nullptr;
    Slab<Waiting> waiting_;  ///< of all of the thread's ranks
};

}  // namespace idlewave
