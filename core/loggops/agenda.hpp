#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/inline_vector.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"

namespace idlewave {

/// Who goes first among requests that are ready at one time (SEMANTICS.md, "Who goes first").
enum class Turn : std::uint8_t { arrival, protocol, send, post, calc };

/// What a request will do when it has what it needs.
enum class Work : std::uint8_t { receive, clear_to_send, rendezvous_data, send, post, calc };

/// Something that a rank has to do: an op, a protocol message, or the reception of an arrival.
struct Request {
    Time ready = 0;
    std::uint64_t count = 0;   ///< an op's place; else the number of the arrival, or of the request to send
    std::uint64_t size = 0;    ///< an op's
    std::uint32_t peer = 0;    ///< of an op its own; else the other rank
    std::uint32_t tag = 0;     ///< an op's
    std::uint32_t handle = 0;  ///< of an op its cookie; else of the arrived message or the rendezvous send
    Turn turn = Turn::calc;
    Work work = Work::calc;
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    std::uint16_t first_need = 0;  ///< the clocks of what it takes for its start (ClockLayout); 0: nothing
    std::uint16_t second_need = 0;

    [[nodiscard]] Place place() const { return static_cast<Place>(count); }

    /// The order of requests: ready time, then turn, then messages by (peer, count) and ops by place.
    [[nodiscard]] bool before(const Request& other) const {
        if (ready != other.ready) {
            return ready < other.ready;
        }
        if (turn != other.turn) {
            return turn < other.turn;
        }
        if (turn <= Turn::protocol && peer != other.peer) {
            return peer < other.peer;
        }
        return count < other.count;
    }
};

/// Where a rank keeps the times from which its CPUs and its NICs' send and receive sides are free: in one array, behind
/// a first entry that is always 0, for those who need nothing.
struct ClockLayout {
    std::uint16_t cpus = 1;
    std::uint16_t nics = 1;

    [[nodiscard]] std::uint32_t size() const { return 1U + cpus + 2U * nics; }
    [[nodiscard]] static std::uint16_t cpu(std::uint8_t i) { return static_cast<std::uint16_t>(1 + i); }
    [[nodiscard]] std::uint16_t tx(std::uint8_t i) const { return static_cast<std::uint16_t>(1 + cpus + i); }
    [[nodiscard]] std::uint16_t rx(std::uint8_t i) const { return static_cast<std::uint16_t>(1 + cpus + nics + i); }
};

/// A rank's requests. Where there are many, those that need the same things wait in one queue, in the order in which
/// they go first: when the things are free, its head is the only one that can start. So a rank looks at a handful of
/// requests, however many wait.
class Agenda {
  public:
    /// Where the next request is, and when it starts.
    struct Next {
        Time at = never;
        std::uint32_t index = 0;
    };

    void add(const Request& request) {
        if (!queues_ && few_.size() < most_few) {
            few_.push_back(request);
            return;
        }
        if (!queues_) {
            queues_ = std::make_unique<std::vector<Queue>>();
            for (const Request& r : few_) {
                push(r);
            }
            few_.clear();
        }
        push(request);
    }

    /// The request that starts first: at the first time at which it is ready and all that it needs is free, and among
    /// those of one time the first in order. `at` is `never` if there is none.
    [[nodiscard]] Next next(const Time* clocks) const {
        Next best;
        const Request* first = nullptr;
        const auto consider = [&](const Request& request, std::uint32_t index) {
            const Time at = std::max(request.ready, std::max(clocks[request.first_need], clocks[request.second_need]));
            if (first == nullptr || at < best.at || (at == best.at && request.before(*first))) {
                best = {at, index};
                first = &request;
            }
        };
        if (!queues_) {
            for (std::uint32_t i = 0; i < few_.size(); ++i) {
                consider(few_[i], i);
            }
            return best;
        }
        for (std::uint32_t i = 0; i < queues_->size(); ++i) {
            if (!(*queues_)[i].empty()) {
                consider((*queues_)[i].front(), i);
            }
        }
        return best;
    }

    Request take(std::uint32_t index) {
        if (!queues_) {
            const Request request = few_[index];
            few_[index] = few_.back();
            few_.pop_back();
            return request;
        }
        Queue& queue = (*queues_)[index];
        std::pop_heap(queue.begin(), queue.end(), Later{});
        const Request request = queue.back();
        queue.pop_back();
        if (--waiting_ == 0) {
            queues_.reset();
        }
        return request;
    }

  private:
    using Queue = std::vector<Request>;  ///< a heap; all of its requests need the same

    static constexpr std::uint32_t most_few = 6;

    struct Later {
        bool operator()(const Request& a, const Request& b) const { return b.before(a); }
    };

    void push(const Request& request) {
        Queue& queue = queue_of(request);
        queue.push_back(request);
        std::push_heap(queue.begin(), queue.end(), Later{});
        ++waiting_;
    }

    Queue& queue_of(const Request& request) {
        for (Queue& queue : *queues_) {
            if (!queue.empty() && queue[0].first_need == request.first_need &&
                queue[0].second_need == request.second_need) {
                return queue;
            }
        }
        for (Queue& queue : *queues_) {
            if (queue.empty()) {
                return queue;
            }
        }
        return queues_->emplace_back();
    }

    InlineVector<Request, most_few> few_;
    std::unique_ptr<std::vector<Queue>> queues_;  ///< null: all are in few_
    std::uint64_t waiting_ = 0;                   ///< in queues_
};

}  // namespace idlewave
