#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "goal/graph.hpp"

namespace idlewave::loggopsim {

/// By rank: the times from which its CPUs, or one side of its NICs, are free.
class FreeTimes {
  public:
    FreeTimes(std::uint32_t ranks, std::uint32_t each) : each_(each), times_(std::size_t{ranks} * each, 0) {}

    Time& of(std::uint32_t rank, std::uint8_t index) { return times_[std::size_t{rank} * each_ + index]; }
    [[nodiscard]] Time of(std::uint32_t rank, std::uint8_t index) const {
        return times_[std::size_t{rank} * each_ + index];
    }
    [[nodiscard]] std::span<const Time> all(std::uint32_t rank) const {
        return std::span(times_).subspan(std::size_t{rank} * each_, each_);
    }

  private:
    std::size_t each_;
    std::vector<Time> times_;
};

/// A posted receive or an unexpected message, with its op.
struct MatchEntry {
    std::uint32_t source = 0;    ///< may be `any` in a receive
    std::uint32_t tag = 0;       ///< may be `any`
    goal::OpIndex op_index = 0;  ///< of the receive, or of the send at `source`
};

/// The posted receive queue or the unexpected message queue of a rank, oldest first.
class MatchQueue {
  public:
    void add(const MatchEntry& entry) { entries_.push_back(entry); }

    /// Removes the oldest entry that matches the source and tag of `other`. Returns whether there is one.
    bool take(const MatchEntry& other, MatchEntry& taken) {
        const auto agree = [](std::uint32_t a, std::uint32_t b) { return a == goal::any || b == goal::any || a == b; };
        const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const MatchEntry& entry) {
            return agree(entry.source, other.source) && agree(entry.tag, other.tag);
        });
        if (found == entries_.end()) {
            return false;
        }
        taken = *found;
        entries_.erase(found);
        return true;
    }

    [[nodiscard]] const std::list<MatchEntry>& all() const { return entries_; }

  private:
    std::list<MatchEntry> entries_;
};

/// The number of unmet requirements of each op.
class Requirements {
  public:
    explicit Requirements(const goal::Graph& schedule) {
        for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank) {
            first_.push_back(unmet_.size());
            unmet_.resize(unmet_.size() + schedule.size(rank), 0);
            for (goal::OpIndex op_index = 0; op_index < schedule.size(rank); ++op_index) {
                for (const goal::Edge edge : {goal::Edge::start, goal::Edge::end}) {
                    goal::Successors successors = schedule.block(rank).successors(op_index, edge);
                    for (goal::OpIndex successor = 0; successors.next(successor);) {
                        ++unmet_[first_[rank] + successor];
                    }
                }
            }
        }
    }

    [[nodiscard]] std::uint32_t unmet(std::uint32_t rank, goal::OpIndex op_index) const {
        return unmet_[first_[rank] + op_index];
    }

    /// The same for all ops of a rank.
    [[nodiscard]] std::vector<std::uint32_t> unmet(std::uint32_t rank) const {
        const auto begin = unmet_.begin() + static_cast<std::ptrdiff_t>(first_[rank]);
        const auto end =
            rank + 1 < first_.size() ? unmet_.begin() + static_cast<std::ptrdiff_t>(first_[rank + 1]) : unmet_.end();
        return {begin, end};
    }

    /// Counts one more met requirement. Returns whether the op is now released. A rendezvous may end a send twice
    /// (docs/loggopsim.md): an op without unmet requirements is not released again.
    bool meet(std::uint32_t rank, goal::OpIndex op_index) {
        std::uint32_t& unmet = unmet_[first_[rank] + op_index];
        if (unmet == 0) {
            return false;
        }
        --unmet;
        return unmet == 0;
    }

  private:
    std::vector<std::size_t> first_;
    std::vector<std::uint32_t> unmet_;
};

}  // namespace idlewave::loggopsim
