#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/large_vector.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"

namespace idlewave::loggopsim {

/// An op that starts, a message that arrives, or a check of a wait queue.
struct Event {
    enum class Kind : std::uint8_t { send, recv, calc, message, check };

    Time time = 0;
    std::uint64_t number = 0;    ///< in order of creation: an op that is released or a message that is sent
    std::uint32_t rank = 0;      ///< the rank that executes it
    std::uint32_t source = 0;    ///< of a message: its sender
    goal::OpIndex op_index = 0;  ///< the op, or the op that sent the message; of a check the number of the wait queue
    Kind kind = Kind::calc;
    std::uint8_t cpu = 0;  ///< the CPU that it takes, as the NIC below: of a message the numbers in its *send*
    std::uint8_t nic = 0;
};

/// Comparison for std::priority_queue, whose top is the largest element.
struct LowestNumberFirst {
    bool operator()(const Event& a, const Event& b) const { return a.number > b.number; }
};

/// A priority queue of events by time, then by number. Without noise many events have the same time, and most are added
/// in the order of their numbers. So the events of one time are in one vector, and only the times are in a heap. Most
/// events are written once and read once, in sequence, where one heap of all events would touch log n places for each.
class EventQueue {
  public:
    [[nodiscard]] bool empty() const { return times_.empty(); }

    void push(const Event& event) {
        Row& row = rows_[row_at(event.time)];
        if (row.next > 0 && 2 * row.next >= row.ordered.size()) {
            row.ordered.erase(row.ordered.begin(), row.ordered.begin() + static_cast<std::ptrdiff_t>(row.next));
            row.next = 0;
        }
        if (row.ordered.empty() || row.ordered.back().number < event.number) {
            row.ordered.push_back(event);
        } else {
            row.others.push(event);
        }
    }

    /// Removes the first event. The queue must not be empty.
    Event pop() {
        const std::uint32_t index = times_.top().second;
        Row& row = rows_[index];
        Event first;
        if (row.others.empty() ||
            (row.next < row.ordered.size() && row.ordered[row.next].number < row.others.top().number)) {
            first = row.ordered[row.next++];
        } else {
            first = row.others.top();
            row.others.pop();
        }
        if (row.next == row.ordered.size() && row.others.empty()) {
            close(index, first.time);
        }
        return first;
    }

  private:
    /// The events of one time. An empty row is reused for another time, with its memory.
    struct Row {
        LargeVector<Event> ordered;  ///< by number
        std::size_t next = 0;        ///< the first of `ordered` that was not removed
        std::priority_queue<Event, std::vector<Event>, LowestNumberFirst> others;
    };

    using TimeOfRow = std::pair<Time, std::uint32_t>;

    std::uint32_t row_at(Time time) {
        TimeOfRow& recent = recent_[static_cast<std::uint64_t>(time) * 0x9e3779b97f4a7c15U >> 61U];
        if (recent.first != time || recent.second == none) {
            recent = {time, find_row(time)};
        }
        return recent.second;
    }

    std::uint32_t find_row(Time time) {
        const auto [found, is_new] = row_of_.try_emplace(time, 0);
        if (is_new) {
            if (unused_.empty()) {
                unused_.push_back(static_cast<std::uint32_t>(rows_.size()));
                rows_.emplace_back();
            }
            found->second = unused_.back();
            unused_.pop_back();
            times_.emplace(time, found->second);
        }
        return found->second;
    }

    /// Frees the row of the first time, which is empty.
    void close(std::uint32_t index, Time time) {
        times_.pop();
        row_of_.erase(time);
        for (TimeOfRow& recent : recent_) {
            if (recent.second == index) {
                recent.second = none;
            }
        }
        rows_[index].ordered.clear();
        rows_[index].next = 0;
        unused_.push_back(index);
    }

    static constexpr std::uint32_t none = 0xffffffff;

    std::vector<Row> rows_;
    std::vector<std::uint32_t> unused_;  ///< rows
    std::unordered_map<Time, std::uint32_t> row_of_;
    std::priority_queue<TimeOfRow, std::vector<TimeOfRow>, std::greater<>> times_;  ///< the rows that are not empty
    TimeOfRow recent_[8] = {{0, none}, {0, none}, {0, none}, {0, none}, {0, none}, {0, none}, {0, none}, {0, none}};
};

}  // namespace idlewave::loggopsim
