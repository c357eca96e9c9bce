#pragma once

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "loggopsim/event_queue.hpp"

namespace idlewave::loggopsim {

/// The pending events in LogGOPSim's order: by time, then by number.
///
/// If the CPU or NIC of an event is busy, LogGOPSim puts the event back into its heap, with its old number and the time
/// at which the resource will be free. So every waiting event is popped and pushed again each time that another one
/// goes first. Here the events that wait for the same resources are in one wait queue, by number, and the event queue
/// holds only a *check* of the wait queue. The order is the same: free times only grow, so at the time at which the
/// resource is free LogGOPSim has put back every waiting event with that time, and takes the lowest number among these
/// and the events of that time. Where free times can shrink (a message of 0 bytes, see costs.hpp) this does not hold,
/// and events are put back as in LogGOPSim.
class Agenda {
  public:
    explicit Agenda(bool put_back) : put_back_(put_back) {}

    /// Adds an event at its time, with the next number.
    void add(Event event) {
        event.number = next_number_++;
        queue_.push(event);
    }

    /// Removes the next event that can start, at its `time`. `free_from(event)` is the time from which the resources of
    /// the event are free, and `resources_of(event)` a number for these resources. Returns false if there is no event.
    template <class FreeFrom, class ThingsOf>
    bool next(Event& event, FreeFrom free_from, ThingsOf resources_of) {
        while (!queue_.empty()) {
            event = queue_.pop();
            if (event.kind == Event::Kind::check) {
                if (check(event, free_from)) {
                    return true;
                }
                continue;
            }
            const Time free = free_from(event);
            if (free <= event.time) {
                return true;
            }
            wait(event, free, resources_of(event));
        }
        return false;
    }

  private:
    /// The events that wait for the same resources. The only valid check is the one at `check_time` with
    /// `check_number`.
    struct WaitQueue {
        std::priority_queue<Event, std::vector<Event>, LowestNumberFirst> waiting;
        Time check_time = never;
        std::uint64_t check_number = 0;
    };

    void wait(Event event, Time until, std::uint64_t resources) {
        if (put_back_) {
            event.time = until;
            queue_.push(event);
            return;
        }
        const auto [found, is_new] =
            wait_queue_of_.try_emplace(resources, static_cast<std::uint32_t>(wait_queues_.size()));
        if (is_new) {
            wait_queues_.emplace_back();
        }
        WaitQueue& queue = wait_queues_[found->second];
        const bool first = queue.waiting.empty() || event.number < queue.waiting.top().number;
        queue.waiting.push(event);
        if (first) {
            schedule_check(found->second, until);
        }
    }

    void schedule_check(std::uint32_t index, Time time) {
        WaitQueue& queue = wait_queues_[index];
        const Event& first = queue.waiting.top();
        queue.check_time = time;
        queue.check_number = first.number;
        queue_.push(
            {.time = time, .number = first.number, .rank = first.rank, .op_index = index, .kind = Event::Kind::check});
    }

    /// Replaces the check of a wait queue by the first event in it. Returns false if that event has to wait longer, or
    /// if the check is no longer valid.
    template <class FreeFrom>
    bool check(Event& event, FreeFrom free_from) {
        const std::uint32_t index = event.op_index;
        WaitQueue& queue = wait_queues_[index];
        if (queue.waiting.empty() || queue.check_time != event.time || queue.check_number != event.number) {
            return false;
        }
        const Time free = free_from(queue.waiting.top());
        if (free > event.time) {
            schedule_check(index, free);
            return false;
        }
        const Time now = event.time;
        event = queue.waiting.top();
        event.time = now;
        queue.waiting.pop();
        if (!queue.waiting.empty()) {
            schedule_check(index, now);
        }
        return true;
    }

    EventQueue queue_;
    std::vector<WaitQueue> wait_queues_;
    std::unordered_map<std::uint64_t, std::uint32_t> wait_queue_of_;
    std::uint64_t next_number_ = 0;
    bool put_back_;
};

}  // namespace idlewave::loggopsim
