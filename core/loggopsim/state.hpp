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

/// From when on each rank's CPUs, or one side of its NICs, are free.
class Clocks {
  public:
    Clocks(std::uint32_t ranks, std::uint32_t each) : each_(each), times_(std::size_t{ranks} * each, 0) {}

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

/// A posted receive, or a message that no receive has met: where its op is, and what it matches.
struct Half {
    std::uint32_t source = 0;  ///< may be `any` in a receive
    std::uint32_t tag = 0;     ///< may be `any`
    OpIndex op_index = 0;      ///< of the receive, or of the send at `source`
};

/// One rank's posted receives, or its unexpected messages, oldest first.
class Halves {
  public:
    void add(const Half& half) { halves_.push_back(half); }

    /// Takes out the oldest that agrees with the source and tag of `other`. Returns whether there is one.
    bool take(const Half& other, Half& taken) {
        const auto matches = [](std::uint32_t a, std::uint32_t b) { return a == any || b == any || a == b; };
        const auto found = std::find_if(halves_.begin(), halves_.end(), [&](const Half& half) {
            return matches(half.source, other.source) && matches(half.tag, other.tag);
        });
        if (found == halves_.end()) {
            return false;
        }
        taken = *found;
        halves_.erase(found);
        return true;
    }

    [[nodiscard]] const std::list<Half>& all() const { return halves_; }

  private:
    std::list<Half> halves_;
};

/// How many requirements of each op are not met yet.
class Requirements {
  public:
    explicit Requirements(const Graph& schedule) {
        for (std::uint32_t rank = 0; rank < schedule.ranks(); ++rank) {
            first_.push_back(left_.size());
            left_.resize(left_.size() + schedule.size(rank), 0);
            for (OpIndex op_index = 0; op_index < schedule.size(rank); ++op_index) {
                for (const Edge edge : {Edge::start, Edge::end}) {
                    Successors successors = schedule.block(rank).successors(op_index, edge);
                    for (OpIndex successor = 0; successors.next(successor);) {
                        ++left_[first_[rank] + successor];
                    }
                }
            }
        }
    }

    [[nodiscard]] std::uint32_t left(std::uint32_t rank, OpIndex op_index) const {
        return left_[first_[rank] + op_index];
    }

    /// Of all ops of a rank.
    [[nodiscard]] std::vector<std::uint32_t> left(std::uint32_t rank) const {
        const auto begin = left_.begin() + static_cast<std::ptrdiff_t>(first_[rank]);
        const auto end =
            rank + 1 < first_.size() ? left_.begin() + static_cast<std::ptrdiff_t>(first_[rank + 1]) : left_.end();
        return {begin, end};
    }

    /// One more is met; returns whether the op is now free. A rendezvous may release a send twice (docs/loggopsim.md);
    /// its followers then count down below 0, which frees nobody again.
    bool meet(std::uint32_t rank, OpIndex op_index) {
        std::uint32_t& left = left_[first_[rank] + op_index];
        if (left == 0) {
            return false;
        }
        --left;
        return left == 0;
    }

  private:
    std::vector<std::size_t> first_;
    std::vector<std::uint32_t> left_;
};

}  // namespace idlewave::loggopsim
