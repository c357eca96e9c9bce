#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "loggops/request.hpp"

namespace idlewave {

/// The requests of a rank that has many. Those that need the same things wait in one queue, in the order in which they
/// go first: when the things are free, its head is the only one that can start. So a rank looks at a handful of
/// requests, however many wait.
template <class Cookie, class Moment = Time>
class RequestQueues {
  public:
    [[nodiscard]] bool empty() const { return waiting_ == 0; }

    void add(const Request<Cookie, Moment>& request) {
        Queue& queue = queue_of(request);
        queue.push_back(request);
        std::push_heap(queue.begin(), queue.end(), Later{});
        ++waiting_;
    }

    /// Calls `consider` with the head of every queue, and its number.
    template <class Consider>
    void each_head(Consider consider) const {
        for (std::uint32_t i = 0; i < queues_.size(); ++i) {
            if (!queues_[i].empty()) {
                consider(queues_[i].front(), i);
            }
        }
    }

    Request<Cookie, Moment> take(std::uint32_t number) {
        Queue& queue = queues_[number];
        std::pop_heap(queue.begin(), queue.end(), Later{});
        const Request<Cookie, Moment> request = queue.back();
        queue.pop_back();
        --waiting_;
        return request;
    }

  private:
    using Queue = std::vector<Request<Cookie, Moment>>;  ///< a heap; all of its requests need the same

    struct Later {
        bool operator()(const Request<Cookie, Moment>& a, const Request<Cookie, Moment>& b) const {
            return b.before(a);
        }
    };

    /// A post needs nothing, and so waits apart from all that need something.
    static bool alike(const Request<Cookie, Moment>& a, const Request<Cookie, Moment>& b) {
        return (a.work == Work::post) == (b.work == Work::post) && a.first_need == b.first_need &&
               a.second_need == b.second_need;
    }

    Queue& queue_of(const Request<Cookie, Moment>& request) {
        for (Queue& queue : queues_) {
            if (!queue.empty() && alike(queue.front(), request)) {
                return queue;
            }
        }
        for (Queue& queue : queues_) {
            if (queue.empty()) {
                return queue;
            }
        }
        return queues_.emplace_back();
    }

    std::vector<Queue> queues_;
    std::uint64_t waiting_ = 0;
};

}  // namespace idlewave
