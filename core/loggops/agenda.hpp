#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "base/time.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// Who goes first among requests that are ready at one time (SEMANTICS.md, "Who goes first").
enum class Turn : std::uint8_t { arrival, protocol, send, post, calc };

/// What a request will do when it has what it needs.
enum class Work : std::uint8_t { receive, clear_to_send, rendezvous_data, send, post, calc };

/// Something that a rank has to do: an op, a protocol message, or the reception of an arrival.
struct Request {
    // The order of requests: ready time, then turn, then by (peer, count) or by place.
    Time ready = 0;
    std::uint64_t count = 0;  ///< the source's sequence of an arrival, the request to send's of a protocol message
    std::uint32_t peer = 0;
    Turn turn = Turn::calc;

    Work work = Work::calc;
    std::uint32_t handle = 0;  ///< of an arrived message, or of a rendezvous send
    Place place = 0;           ///< of an op
    std::uint32_t cookie = 0;
    Op op = {};

    [[nodiscard]] auto order() const {
        // Ops of one turn stand in the order of the schedule.
        return std::tuple(ready, turn, peer, count);
    }
};

/// The times from which a rank's CPUs and its NICs' send and receive sides are free.
struct Clocks {
    std::span<Time> cpu;
    std::span<Time> tx;
    std::span<Time> rx;
};

/// What a request takes for its start.
enum class Needs : std::uint8_t { nothing, cpu, cpu_and_tx, cpu_and_rx };

/// A rank's requests. Those that need the same things wait in one queue, in the order in which they go first: when the
/// things are free, its head is the only one that can start. So a rank looks at a handful of heads, however many wait.
class Agenda {
  public:
    /// Where the next request is, and when it starts.
    struct Next {
        Time at = never;
        std::size_t queue = 0;
    };

    void add(const Request& request, Needs needs, std::uint8_t cpu, std::uint8_t nic) {
        Queue& queue = queue_of(needs, cpu, nic);
        queue.heap.push_back(request);
        std::push_heap(queue.heap.begin(), queue.heap.end(), Later{});
    }

    /// The request that starts first: at the first time at which it is ready and all that it needs is free, and among
    /// those of one time the first in order. `at` is `never` if there is none.
    [[nodiscard]] Next next(const Clocks& clocks) const {
        Next best;
        for (std::size_t i = 0; i < queues_.size(); ++i) {
            const Queue& queue = queues_[i];
            if (queue.heap.empty()) {
                continue;
            }
            const Request& head = queue.heap.front();
            const Time at = std::max(head.ready, free_at(queue, clocks));
            if (at < best.at || (at == best.at && best.at != never &&
                                 head.order() < queues_[best.queue].heap.front().order())) {
                best = {at, i};
            }
        }
        return best;
    }

    Request take(std::size_t queue_index) {
        std::vector<Request>& heap = queues_[queue_index].heap;
        std::pop_heap(heap.begin(), heap.end(), Later{});
        const Request request = heap.back();
        heap.pop_back();
        return request;
    }

  private:
    struct Queue {
        Needs needs;
        std::uint8_t cpu;
        std::uint8_t nic;
        std::vector<Request> heap;
    };

    struct Later {
        bool operator()(const Request& a, const Request& b) const { return a.order() > b.order(); }
    };

    static Time free_at(const Queue& queue, const Clocks& clocks) {
        switch (queue.needs) {
            case Needs::nothing: return 0;
            case Needs::cpu: return clocks.cpu[queue.cpu];
            case Needs::cpu_and_tx: return std::max(clocks.cpu[queue.cpu], clocks.tx[queue.nic]);
            case Needs::cpu_and_rx: return std::max(clocks.cpu[queue.cpu], clocks.rx[queue.nic]);
        }
        return 0;
    }

    Queue& queue_of(Needs needs, std::uint8_t cpu, std::uint8_t nic) {
        for (Queue& queue : queues_) {
            if (queue.needs == needs && queue.cpu == cpu && queue.nic == nic) {
                return queue;
            }
        }
        queues_.push_back({needs, cpu, nic, {}});
        return queues_.back();
    }

    std::vector<Queue> queues_;  ///< few: one for each combination of needs that has occurred
};

}  // namespace idlewave
