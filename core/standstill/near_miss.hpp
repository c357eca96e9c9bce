#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "goal/rank_schedule.hpp"
#include "standstill/left.hpp"

namespace idlewave {

/// The schedule of a simulation, as far as its end can be explained by it.
struct ScheduleView {
    std::function<RankSchedule(std::uint32_t rank)> rank_schedule;
    std::function<std::string(std::uint32_t rank, OpIndex op_index)> name;
    /// Of each op how many requirements are not met, if that does not follow from what is pending; else not there.
    std::function<std::vector<std::uint32_t>(std::uint32_t rank)> left = {};
};

/// A message without a receive: one that has arrived, or one that a rendezvous is for.
struct Unreceived {
    std::uint32_t sender = 0;
    OpIndex send = unknown_op_index;  ///< if it is known
    std::uint32_t receiver = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    bool arrived = false;
};

/// Says of messages without a receive which send each of them is from, as far as that is certain, and what to look at:
/// a receive that waits for another tag, how many receives there are for how many sends, …. Of very many messages only
/// the first ones are looked at. `pending`: of all ranks, as Left sorts them.
std::vector<UnmatchedMessage> explain_unreceived(const std::vector<Unreceived>& messages,
                                                 std::span<const PendingOp> pending, const ScheduleView& schedule);

}  // namespace idlewave
