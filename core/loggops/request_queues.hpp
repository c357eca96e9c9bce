#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/large_vector.hpp"
#include "base/time.hpp"
#include "loggops/request.hpp"

namespace idlewave::loggops {

/// Requests that need the same resources, in order of precedence. Most are added in that order: these are in a vector,
/// the others in a heap.
template <class Cookie, class Moment>
class RequestQueue {
  public:
    /// From now on the queue is for requests with the resources of this one. It has to be empty.
    void use_for(const Request<Cookie, Moment>& request) { resources_ = Resources::of(request); }

    /// Whether it is the queue for requests with the resources of this one; it may be empty.
    [[nodiscard]] bool suits(const Request<Cookie, Moment>& request) const {
        return resources_ == Resources::of(request);
    }

    [[nodiscard]] bool empty() const { return next_ == row_.size() && heap_.empty(); }

    /// The request with precedence over all others.
    [[nodiscard]] const Request<Cookie, Moment>& front() const { return from_row() ? row_[next_] : heap_.front(); }

    void add(const Request<Cookie, Moment>& request) {
        if (2 * next_ >= row_.size()) {
            row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(next_));
            next_ = 0;
        }
        if (row_.empty() || !request.before(row_.back())) {
            row_.push_back(request);
            return;
        }
        heap_.push_back(request);
        std::push_heap(heap_.begin(), heap_.end(), Later{});
    }

    Request<Cookie, Moment> take() {
        if (from_row()) {
            return row_[next_++];
        }
        std::pop_heap(heap_.begin(), heap_.end(), Later{});
        const Request<Cookie, Moment> request = heap_.back();
        heap_.pop_back();
        return request;
    }

    template <class Use>
    void each(Use use) const {
        std::for_each(row_.begin() + static_cast<std::ptrdiff_t>(next_), row_.end(), use);
        std::for_each(heap_.begin(), heap_.end(), use);
    }

  private:
    /// What the requests of a queue wait for. A post waits for no resource: posts have queues of their own.
    struct Resources {
        std::uint16_t first = 0;
        std::uint16_t second = 0;
        bool none = true;

        static Resources of(const Request<Cookie, Moment>& request) {
            return {request.first_resource, request.second_resource, request.kind == RequestKind::post};
        }
        bool operator==(const Resources&) const = default;
    };

    struct Later {
        bool operator()(const Request<Cookie, Moment>& a, const Request<Cookie, Moment>& b) const {
            return b.before(a);
        }
    };

    [[nodiscard]] bool from_row() const {
        return next_ < row_.size() && (heap_.empty() || !heap_.front().before(row_[next_]));
    }

    LargeVector<Request<Cookie, Moment>> row_;
    std::size_t next_ = 0;  ///< the first of `row_` that was not taken
    Resources resources_;
    LargeVector<Request<Cookie, Moment>> heap_;
};

/// The requests of a rank that has many. Requests that need the same resources wait in one queue: when these are free,
/// only the head of the queue can start. So a rank compares a handful of heads, however many requests wait.
template <class Cookie, class Moment = Time>
class RequestQueues {
  public:
    [[nodiscard]] bool empty() const { return waiting_ == 0; }

    void add(const Request<Cookie, Moment>& request) {
        queue_of(request).add(request);
        ++waiting_;
    }

    /// Calls `consider(head, number)` for every queue that is not empty.
    template <class Consider>
    void each_head(Consider consider) const {
        for (std::uint32_t i = 0; i < queues_.size(); ++i) {
            if (!queues_[i].empty()) {
                consider(queues_[i].front(), i);
            }
        }
    }

    Request<Cookie, Moment> take(std::uint32_t number) {
        --waiting_;
        return queues_[number].take();
    }

    /// Calls `use` with every request, in no order.
    template <class Use>
    void each(Use use) const {
        for (const Queue& queue : queues_) {
            queue.each(use);
        }
    }

    void clear() {
        queues_.clear();
        waiting_ = 0;
    }

  private:
    using Queue = RequestQueue<Cookie, Moment>;

    Queue& queue_of(const Request<Cookie, Moment>& request) {
        for (Queue& queue : queues_) {
            if (queue.suits(request)) {
                return queue;
            }
        }
        const auto unused = std::ranges::find_if(queues_, &Queue::empty);
        Queue& queue = unused != queues_.end() ? *unused : queues_.emplace_back();
        queue.use_for(request);
        return queue;
    }

    std::vector<Queue> queues_;
    std::uint64_t waiting_ = 0;
};

}  // namespace idlewave::loggops
