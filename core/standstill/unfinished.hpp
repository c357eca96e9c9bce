#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "goal/op.hpp"
#include "goal/source.hpp"

namespace idlewave::standstill {

/// A pending op: it has started and waits for its match. It is a posted receive or a send by rendezvous, an await or a
/// lock.
struct PendingOp {
    std::uint64_t size = 0;  ///< of a send
    std::uint32_t rank = 0;
    goal::OpIndex op_index = 0;
    std::uint32_t peer = 0;            ///< of a receive it may be `any`
    std::uint32_t tag = 0;             ///< may be `any`
    std::uint32_t holder = goal::any;  ///< of a lock the rank that has it, of several the one that got it first
    goal::OpKind kind = goal::OpKind::recv;
};

/// An unexpected message: it has arrived, and no posted receive matches it.
struct UnexpectedMessage {
    std::uint64_t size = 0;
    std::uint32_t receiver = 0;
    std::uint32_t number = 0;  ///< in the unexpected message queue of its receiver, oldest first
    std::uint32_t sender = 0;
    std::uint32_t tag = 0;                        ///< may be `any`
    goal::OpIndex send = goal::unknown_op_index;  ///< the op of its sender, if that is known
};

/// A rank with ops that have not started, and where it stands in its schedule.
struct UnfinishedRank {
    std::uint32_t rank = 0;
    goal::StopPosition stand = {};
};

/// Everything that is unfinished when no event is left. All ops and ranks are kept: they take less memory than the
/// simulated ranks. There may be any number of messages: those of the lowest ranks are kept.
class Unfinished {
  public:
    static constexpr std::size_t most_messages = 65'536;

    void add(const PendingOp& op) { pending_.push_back(op); }
    void add(const UnfinishedRank& rank) { ranks_.push_back(rank); }
    void add(const UnexpectedMessage& message);
    /// Counts messages of which nothing is kept.
    void add_dropped(std::uint64_t messages) { message_count_ += messages; }

    [[nodiscard]] bool empty() const { return pending_.empty() && ranks_.empty() && message_count_ == 0; }

    /// Sorts everything by rank, so that the order in which it was added does not matter: ops by kind (sends first) and
    /// op index, messages by age.
    void sort();

    [[nodiscard]] std::span<const PendingOp> pending() const { return pending_; }
    [[nodiscard]] std::span<const UnfinishedRank> ranks() const { return ranks_; }
    [[nodiscard]] std::span<const UnexpectedMessage> messages() const { return messages_; }
    /// The number of all messages, with those that are not kept.
    [[nodiscard]] std::uint64_t message_count() const { return message_count_; }

  private:
    void drop_messages();

    std::vector<PendingOp> pending_;
    std::vector<UnfinishedRank> ranks_;
    std::vector<UnexpectedMessage> messages_;
    std::uint64_t message_count_ = 0;
};

}  // namespace idlewave::standstill
