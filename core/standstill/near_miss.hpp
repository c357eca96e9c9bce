#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "goal/rank_schedule.hpp"
#include "standstill/unfinished.hpp"

namespace idlewave::standstill {

/// Read access to the schedule of the simulation.
struct ScheduleView {
    std::function<goal::RankSchedule(std::uint32_t rank)> rank_schedule;
    std::function<std::string(std::uint32_t rank, goal::OpIndex op_index)> name;
    /// The number of unmet requirements of each op. Empty if this follows from the pending ops.
    std::function<std::vector<std::uint32_t>(std::uint32_t rank)> unmet = {};
};

/// A lost message: no op receives it. It has arrived, or it is the message of a send by rendezvous.
struct LostMessage {
    std::uint32_t sender = 0;
    goal::OpIndex send = goal::unknown_op_index;  ///< if it is known
    std::uint32_t receiver = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;
    bool arrived = false;
};

/// Finds the send of each lost message, as far as it is certain, and a hint for the user: a receive that waits for
/// another tag, the numbers of sends and receives, …. Of very many messages only the first ones are explained.
/// `pending` are the pending ops of all ranks, in the order of Unfinished::sort.
std::vector<UnmatchedMessage> explain_lost_messages(const std::vector<LostMessage>& messages,
                                                    std::span<const PendingOp> pending, const ScheduleView& schedule);

}  // namespace idlewave::standstill
