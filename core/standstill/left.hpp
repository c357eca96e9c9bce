#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "goal/op.hpp"
#include "goal/source.hpp"

namespace idlewave {

/// An op that has started and waits for its other half: a posted receive, or a send by rendezvous.
struct PendingOp {
    std::uint64_t size = 0;  ///< of a send
    std::uint32_t rank = 0;
    OpIndex op_index = 0;
    std::uint32_t peer = 0;  ///< of a receive it may be `any`
    std::uint32_t tag = 0;   ///< may be `any`
    OpKind kind = OpKind::recv;
};

/// A message that has arrived and waits for its receive.
struct UnexpectedMessage {
    std::uint64_t size = 0;
    std::uint32_t receiver = 0;
    std::uint32_t number = 0;  ///< among those of its receiver, the oldest first
    std::uint32_t sender = 0;
    std::uint32_t tag = 0;            ///< may be `any`
    OpIndex send = unknown_op_index;  ///< of its sender, if that is known
};

/// A rank that has not come to its end.
struct StuckRank {
    std::uint32_t rank = 0;
    StopPosition stand = {};
};

/// What is left of ranks when nothing can happen any more. Ops and ranks are all kept, which takes less than the
/// simulated ranks do themselves; of messages, of which there may be any number, those of the lowest ranks.
class Left {
  public:
    static constexpr std::size_t most_messages = 65'536;

    void add(const PendingOp& op) { pending_.push_back(op); }
    void add(const StuckRank& rank) { stuck_.push_back(rank); }
    void add(const UnexpectedMessage& message);
    /// There are so many messages more, of which nothing is kept.
    void add_dropped(std::uint64_t messages) { message_count_ += messages; }

    [[nodiscard]] bool empty() const { return pending_.empty() && stuck_.empty() && message_count_ == 0; }

    /// Puts all in the order of ranks, in which it no longer matters who collected it: ops by place, sends first, and
    /// messages the oldest first.
    void sort();

    [[nodiscard]] std::span<const PendingOp> pending() const { return pending_; }
    [[nodiscard]] std::span<const StuckRank> stuck() const { return stuck_; }
    [[nodiscard]] std::span<const UnexpectedMessage> messages() const { return messages_; }
    /// Of all messages.
    [[nodiscard]] std::uint64_t message_count() const { return message_count_; }

  private:
    void drop_messages();

    std::vector<PendingOp> pending_;
    std::vector<StuckRank> stuck_;
    std::vector<UnexpectedMessage> messages_;
    std::uint64_t message_count_ = 0;
};

}  // namespace idlewave
