#pragma once

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "loggopsim/event_queue.hpp"

namespace idlewave::loggopsim {

/// What there is to do, in LogGOPSim's order: by time, then by number.
///
/// LogGOPSim puts what finds its CPU or NIC taken back into its heap, with the time at which that will be free and the
/// old number; everyone who waits is taken out and put back each time that somebody goes first. Here those who wait for
/// the same things stand in one line, by number, and only a look at the line is in the queue. That is the same order:
/// clocks only go forward, so when the queue comes to the time at which the things are free, LogGOPSim has put back
/// everybody with that very time, and takes the lowest number among them and among those who come just then. Where
/// clocks can go back (a message of 0 bytes, see costs.hpp) this does not hold, and events are put back as there.
class Agenda {
  public:
    explicit Agenda(bool put_back) : put_back_(put_back) {}

    /// Adds an event at its time, with the next number.
    void add(Event event) {
        event.number = next_number_++;
        queue_.push(event);
    }

    /// Takes out the next event that can go on, at its `time`. `free_from(event)` says from when on what the event
    /// needs is free, and `things_of(event)` which things that is, as a number. Returns false when there is none.
    template <class FreeFrom, class ThingsOf>
    bool next(Event& event, FreeFrom free_from, ThingsOf things_of) {
        while (!queue_.empty()) {
            event = queue_.pop();
            if (event.kind == Event::Kind::line) {
                if (look_at(event, free_from)) {
                    return true;
                }
                continue;
            }
            const Time free = free_from(event);
            if (free <= event.time) {
                return true;
            }
            wait(event, free, things_of(event));
        }
        return false;
    }

  private:
    /// Those who wait for the same things. The one valid look at it is at `look_time`, with the number of the first.
    struct Line {
        std::priority_queue<Event, std::vector<Event>, LowestNumberFirst> waiting;
        Time look_time = never;
        std::uint64_t look_number = 0;
    };

    void wait(Event event, Time until, std::uint64_t things) {
        if (put_back_) {
            event.time = until;
            queue_.push(event);
            return;
        }
        const auto [found, is_new] = line_of_.try_emplace(things, static_cast<std::uint32_t>(lines_.size()));
        if (is_new) {
            lines_.emplace_back();
        }
        Line& line = lines_[found->second];
        const bool first = line.waiting.empty() || event.number < line.waiting.top().number;
        line.waiting.push(event);
        if (first) {
            plan_look(found->second, until);
        }
    }

    void plan_look(std::uint32_t index, Time time) {
        Line& line = lines_[index];
        const Event& first = line.waiting.top();
        line.look_time = time;
        line.look_number = first.number;
        queue_.push(
            {.time = time, .number = first.number, .rank = first.rank, .op_index = index, .kind = Event::Kind::line});
    }

    /// Makes of a look at a line the event that goes first there. Returns false if it has to wait longer, or if the
    /// look is an old one.
    template <class FreeFrom>
    bool look_at(Event& event, FreeFrom free_from) {
        const std::uint32_t index = event.op_index;
        Line& line = lines_[index];
        if (line.waiting.empty() || line.look_time != event.time || line.look_number != event.number) {
            return false;
        }
        const Time free = free_from(line.waiting.top());
        if (free > event.time) {
            plan_look(index, free);
            return false;
        }
        const Time now = event.time;
        event = line.waiting.top();
        event.time = now;
        line.waiting.pop();
        if (!line.waiting.empty()) {
            plan_look(index, now);
        }
        return true;
    }

    EventQueue queue_;
    std::vector<Line> lines_;
    std::unordered_map<std::uint64_t, std::uint32_t> line_of_;
    std::uint64_t next_number_ = 0;
    bool put_back_;
};

}  // namespace idlewave::loggopsim
