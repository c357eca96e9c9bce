#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/inline_vector.hpp"
#include "base/slab.hpp"
#include "base/time.hpp"
#include "loggops/request.hpp"

namespace idlewave::loggops {

/// Where the pending requests of a rank are while other ranks are simulated: nowhere, in the only request, or in blocks
/// of queues. Most ranks have one request at most.
class PendingRequests {
  public:
    [[nodiscard]] bool none() const { return word_ == 0; }
    /// Whether there are so many that serialising the rank takes longer than simulating it.
    [[nodiscard]] bool many() const { return (word_ & kind) == many_queued; }
    /// Whether there are several, which are in blocks of queues.
    [[nodiscard]] bool several() const { return (word_ & kind) != 0; }
    /// The only request, or 0.
    [[nodiscard]] std::uint32_t only() const { return several() ? 0 : word_; }
    /// The first block of queues, or 0.
    [[nodiscard]] std::uint32_t queues() const { return several() ? word_ & ~kind : 0; }

    static PendingRequests one(std::uint32_t request) { return PendingRequests(request); }
    static PendingRequests queued(std::uint32_t block, bool many) {
        return PendingRequests(block | (many ? many_queued : few_queued));
    }
    PendingRequests() = default;

  private:
    static constexpr std::uint32_t few_queued = 0x40000000;
    static constexpr std::uint32_t many_queued = 0x80000000;
    static constexpr std::uint32_t kind = few_queued | many_queued;
    explicit PendingRequests(std::uint32_t word) : word_(word) {}
    std::uint32_t word_ = 0;
};

/// The pending requests of the rank that is being simulated (docs/model.md, R14 and R15). Requests that need the same
/// resources wait in one queue, in order of precedence: when these are free, only the head of the queue can start. So a
/// rank compares a handful of heads, however many requests wait. Requests stay where they were written.
template <class Cookie, class Moment = Time>
class Agenda {
  public:
    using Entry = Request<Cookie, Moment>;

    /// The queue whose head starts next, and the time at which that starts.
    struct Next {
        Time at = never;
        Time ready = never;  ///< of that head
        std::uint32_t queue = 0;
    };

    /// Begins with a rank.
    [[gnu::always_inline]] void open(PendingRequests pending) {
        queues_.clear();
        waiting_ = 0;
        inserted_ = 0;
        if (!pending.none()) {
            open_pending(pending);
        }
    }

    /// Leaves the rank. Returns its pending requests.
    [[gnu::always_inline]] PendingRequests close() {
        return waiting_ == 0   ? PendingRequests()
               : waiting_ == 1 ? PendingRequests::one(queues_[0].last)
                               : close_queues();
    }

    /// Brings a rank's only request, or its first block of queues, into the cache.
    [[gnu::always_inline]] void prefetch(PendingRequests pending) const {
        blocks_.prefetch(pending.queues());
        requests_.prefetch(pending.only());
    }

    /// Brings the ends of a rank's queues into the cache, once `prefetch` has brought where they are.
    [[gnu::always_inline]] void prefetch_requests(PendingRequests pending) const {
        if (pending.several()) {
            const Block& block = blocks_[pending.queues()];
            for (std::uint32_t i = 0; i < block.used; ++i) {
                requests_.prefetch(block.queues[i].last);
            }
        }
    }

    /// Whether any rank has a pending request, or several.
    [[nodiscard]] bool any_pending() const { return !requests_.empty(); }
    [[nodiscard]] bool any_queued() const { return !blocks_.empty(); }

    /// Whether no request is pending.
    [[nodiscard]] bool idle() const { return waiting_ == 0; }

    /// Whether exactly one request is pending.
    [[nodiscard]] bool one() const { return waiting_ == 1; }

    /// Where to write a new request, which then has to be `added`: it is written where it stays.
    Entry& make() {
        made_ = requests_.add();
        return requests_[made_].request;
    }
    void added() {
        Waiting& made = requests_[made_];
        ++waiting_;
        const Resources resources = Resources::of(made.request);
        for (Queue& queue : queues_) {
            if (queue.resources == resources) {
                append(queue, made);
                return;
            }
        }
        made.next = made_;
        add_queue(made, made_, resources);
    }
    /// The number of the next protocol request or transmission by a NIC, for its `request_id`.
    std::uint32_t next_request_id() { return next_request_id_++; }

    /// The request that starts first: each starts at the first time at which it is ready and its resources are free,
    /// and of several at one time the one with precedence starts. `at` is `never` if there is none.
    [[nodiscard, gnu::always_inline]] Next next(const Moment* free_times) const {
        if (queues_.size() == 1) [[likely]] {
            return {start(*queues_.begin(), free_times), queues_.begin()->ready, 0};
        }
        return queues_.empty() ? Next{} : first_of_several(free_times);
    }

    /// The head of a queue, which starts next.
    [[nodiscard]] const Entry& head(std::uint32_t queue) const { return requests_[head_of(queues_[queue])].request; }

    /// The head of a queue starts, and leaves the queue. It stays where it is, at the number that is returned, until it
    /// is `done`.
    std::uint32_t take(std::uint32_t queue) {
        Queue& from = queues_[queue];
        const std::uint32_t taken = head_of(from);
        --waiting_;
        if (taken == inserted_) {
            inserted_ = 0;
        }
        if (taken == from.last) {
            from = queues_.back();
            queues_.pop_back();
        } else {
            const std::uint32_t next = requests_[taken].next;
            requests_[from.last].next = next;
            from.ready = time_of(requests_[next].request.ready.at);
        }
        return taken;
    }
    [[nodiscard]] const Entry& operator[](std::uint32_t request) const { return requests_[request].request; }
    void done(std::uint32_t request) { requests_.remove(request); }

    /// Calls `use` with each pending request of a rank that is not open.
    template <class Use>
    void each(PendingRequests pending, Use use) const {
        each_number(pending, [&](std::uint32_t request) { use(requests_[request].request); });
    }

    /// Removes the pending requests of a rank that is not open.
    void discard(PendingRequests pending) {
        each_number(pending, [this](std::uint32_t request) { requests_.remove(request); });
        for (std::uint32_t block = pending.queues(); block != 0;) {
            const std::uint32_t next = blocks_[block].next;
            blocks_.remove(block);
            block = next;
        }
    }

  private:
    /// A request and its neighbours in its queue. With plain times and a cookie of a word it is a cache line.
    struct alignas(64) Waiting {
        [[no_unique_address]] Entry request;  ///< the others are in its padding
        std::uint32_t next = 0;               ///< of the last one the head
        std::uint32_t previous = 0;           ///< undefined for the head
    };
    static_assert(sizeof(Moment) > sizeof(Time) || sizeof(Cookie) > sizeof(std::uint32_t) || sizeof(Waiting) == 64);

    /// What the requests of a queue wait for. A post waits for no resource.
    struct Resources {
        std::uint16_t first = none;
        std::uint16_t second = none;

        static constexpr std::uint16_t none = 0xffff;
        static Resources of(const Entry& request) {
            return request.kind == RequestKind::post ? Resources()
                                                     : Resources{request.first_resource, request.second_resource};
        }
        bool operator==(const Resources&) const = default;
    };

    struct Queue {
        Time ready = never;  ///< of the head
        std::uint32_t last = 0;
        Resources resources;
    };

    /// Queues of a rank that is not open.
    struct alignas(64) Block {
        static constexpr std::uint32_t most = 3;
        std::array<Queue, most> queues;
        std::uint32_t next = 0;
        std::uint32_t used = 0;     ///< queues
        std::uint32_t waiting = 0;  ///< requests, in this and the next blocks
    };
    static_assert(sizeof(Block) == 64);

    static constexpr std::uint32_t most_to_serialise = 12;  ///< requests

    [[nodiscard]] std::uint32_t head_of(const Queue& queue) const { return requests_[queue.last].next; }

    static Time start(const Queue& queue, const Moment* free_times) {
        if (queue.resources.first == Resources::none) {
            return queue.ready;
        }
        return std::max(
            {queue.ready, time_of(free_times[queue.resources.first]), time_of(free_times[queue.resources.second])});
    }

    /// Of several queues.
    [[nodiscard, gnu::noinline]] Next first_of_several(const Moment* free_times) const {
        const Queue* const queues = queues_.begin();
        const std::uint32_t count = queues_.size();
        Next best{start(queues[0], free_times), queues[0].ready, 0};
        for (std::uint32_t i = 1; i < count; ++i) {
            const Time at = start(queues[i], free_times);
            if (at < best.at || (at == best.at && goes_before(queues[i], queues[best.queue]))) {
                best = {at, queues[i].ready, i};
            }
        }
        return best;
    }

    /// Whether the head of a queue has precedence over that of another. Their ready times decide most often.
    [[nodiscard, gnu::always_inline]] bool goes_before(const Queue& queue, const Queue& other) const {
        return queue.ready != other.ready ? queue.ready < other.ready : head_goes_before(queue, other);
    }
    [[nodiscard, gnu::noinline]] bool head_goes_before(const Queue& queue, const Queue& other) const {
        return requests_[head_of(queue)].request.before(requests_[head_of(other)].request);
    }

    /// Adds the request that was made. Most requests come in order of precedence.
    void append(Queue& queue, Waiting& made) {
        Waiting& last = requests_[queue.last];
        if (made.request.before(last.request)) [[unlikely]] {
            insert(queue, made);
            return;
        }
        made.next = last.next;
        made.previous = queue.last;
        last.next = made_;
        queue.last = made_;
    }

    /// Adds it in front of those that it precedes. Requests that do not come in order of precedence often come in some
    /// other order, such as that of a list of successors: so the search begins where the last one was inserted.
    [[gnu::noinline]] void insert(Queue& queue, Waiting& made) {
        const std::uint32_t head = head_of(queue);
        std::uint32_t next = queue.last;
        if (made.request.before(requests_[head].request)) {
            next = head;
        } else if (inserted_ != 0 && Resources::of(requests_[inserted_].request) == queue.resources) {
            next = inserted_;
            while (!made.request.before(requests_[next].request)) {
                next = requests_[next].next;
            }
        }
        while (next != head && made.request.before(requests_[requests_[next].previous].request)) {
            next = requests_[next].previous;
        }
        if (next == head) {
            requests_[queue.last].next = made_;
            queue.ready = time_of(made.request.ready.at);
        } else {
            made.previous = requests_[next].previous;
            requests_[made.previous].next = made_;
        }
        made.next = next;
        requests_[next].previous = made_;
        inserted_ = made_;
    }

    /// Adds a queue with one request. It is written in place: a copy would stall on store forwarding.
    void add_queue(const Waiting& only, std::uint32_t number, const Resources& resources) {
        Queue& queue = queues_.add();
        queue.ready = time_of(only.request.ready.at);
        queue.last = number;
        queue.resources = resources;
    }

    void open_pending(PendingRequests pending) {
        if (const std::uint32_t only = pending.only(); only != 0) {
            Waiting& request = requests_[only];
            request.next = only;
            add_queue(request, only, Resources::of(request.request));
            waiting_ = 1;
            return;
        }
        waiting_ = blocks_[pending.queues()].waiting;
        for (std::uint32_t number = pending.queues(); number != 0;) {
            const Block& block = blocks_[number];
            for (std::uint32_t i = 0; i < block.used; ++i) {
                queues_.push_back(block.queues[i]);
            }
            blocks_.remove(number);
            number = block.next;
        }
    }

    [[gnu::noinline]] PendingRequests close_queues() {
        std::uint32_t next = 0;
        for (std::uint32_t left = queues_.size(); left > 0;) {
            const std::uint32_t number = blocks_.add();
            Block& block = blocks_[number];
            block.next = next;
            block.used = std::min(left, Block::most);
            block.waiting = waiting_;
            left -= block.used;
            std::copy_n(queues_.begin() + left, block.used, block.queues.begin());
            next = number;
        }
        return PendingRequests::queued(next, waiting_ > most_to_serialise);
    }

    template <class Use>
    void each_number(PendingRequests pending, Use use) const {
        if (pending.only() != 0) {
            use(pending.only());
        }
        for (std::uint32_t number = pending.queues(); number != 0; number = blocks_[number].next) {
            for (std::uint32_t i = 0; i < blocks_[number].used; ++i) {
                const std::uint32_t last = blocks_[number].queues[i].last;
                std::uint32_t next = requests_[last].next;
                bool more = true;
                while (more) {
                    const std::uint32_t request = next;
                    next = requests_[request].next;
                    more = request != last;
                    use(request);
                }
            }
        }
    }

    InlineVector<Queue, 4> queues_;  ///< the queues that are not empty
    std::uint32_t waiting_ = 0;      ///< requests in them
    std::uint32_t made_ = 0;         ///< the request that `make` has made
    std::uint32_t inserted_ = 0;     ///< the one that was added last in front of others and still waits, or 0
    std::uint32_t next_request_id_ = 0;
    Slab<Waiting> requests_;  ///< of all ranks of the thread
    Slab<Block> blocks_;      ///< of all its ranks that are not open
};

}  // namespace idlewave::loggops
