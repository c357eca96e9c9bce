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

/// Something to do: an op, a message that has come, or a look at a line of those who wait.
struct Event {
    enum class Kind : std::uint8_t { send, recv, calc, message, line };

    Time time = 0;
    std::uint64_t number = 0;  ///< counts ops that became free and messages that were created
    std::uint32_t rank = 0;    ///< where it happens
    std::uint32_t source = 0;  ///< of a message: the rank that sent it
    OpIndex op_index = 0;      ///< of the op, or of the op that sent the message; of a line its index
    Kind kind = Kind::calc;
    std::uint8_t cpu = 0;  ///< that it takes, and the NIC: of a message those whose numbers its *send* has
    std::uint8_t nic = 0;
};

/// For the queues of the standard library, which begin with the last.
struct LowestNumberFirst {
    bool operator()(const Event& a, const Event& b) const { return a.number > b.number; }
};

/// Events by time, then by number. Without noise many have the same time, and most are added in the order of their
/// numbers: those of one time stand in a row, and only the times are in a heap. So most events are written once and
/// read once, one behind the other, where a heap of all of them would touch as many places as its logarithm.
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

    /// Takes out the first event. There must be one.
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
    /// The events of one time. A row that is empty is used again for another time, with its memory.
    struct Row {
        LargeVector<Event> ordered;  ///< by number
        std::size_t next = 0;        ///< of these; those before it are gone
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

    /// The first row, which is empty.
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
    std::priority_queue<TimeOfRow, std::vector<TimeOfRow>, std::greater<>> times_;  ///< of rows that are not empty
    TimeOfRow recent_[8] = {{0, none}, {0, none}, {0, none}, {0, none}, {0, none}, {0, none}, {0, none}, {0, none}};
};

}  // namespace idlewave::loggopsim
