#include "standstill/near_miss.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "standstill/report_text.hpp"

namespace idlewave::standstill {
namespace {

constexpr std::size_t most_explained = 100;

using OpIndices = std::vector<goal::OpIndex>;

/// The ops of the rank that was asked for last.
class LastRankSchedule {
  public:
    explicit LastRankSchedule(const ScheduleView& schedule) : schedule_(schedule) {}

    const goal::RankSchedule& of(std::uint32_t rank) {
        if (rank_ != rank) {
            rank_schedule_ = schedule_.rank_schedule(rank);
            rank_ = rank;
        }
        return rank_schedule_;
    }

  private:
    const ScheduleView& schedule_;
    std::optional<std::uint32_t> rank_;
    goal::RankSchedule rank_schedule_;
};

/// The places of the ops for which `holds` returns true.
template <class Holds>
OpIndices op_indices_of(const goal::RankSchedule& rank_schedule, Holds holds) {
    OpIndices op_indices;
    for (goal::OpIndex op_index = 0; op_index < rank_schedule.ops.size(); ++op_index) {
        if (holds(rank_schedule.ops[op_index])) {
            op_indices.push_back(op_index);
        }
    }
    return op_indices;
}

/// Explains lost messages one by one.
class NearMisses {
  public:
    NearMisses(const std::vector<LostMessage>& messages, std::span<const PendingOp> pending,
               const ScheduleView& schedule)
        : messages_(messages), pending_(pending), schedule_(schedule), sender_(schedule), receiver_(schedule) {}

    UnmatchedMessage explain(std::size_t i) {
        const LostMessage& message = messages_[i];
        UnmatchedMessage found = as_it_is(message);
        const goal::OpIndex send = message.send != goal::unknown_op_index ? message.send : send_of(i);
        if (send != goal::unknown_op_index) {
            found.op = schedule_.name(message.sender, send);
        }
        found.hint = hint(message);
        return found;
    }

    static UnmatchedMessage as_it_is(const LostMessage& message) {
        return {.sender = message.sender,
                .op = {},
                .receiver = message.receiver,
                .tag = message.tag,
                .size = message.size,
                .hint = {}};
    }

  private:
    static bool alike(const LostMessage& a, const LostMessage& b) {
        return std::tuple(a.sender, a.receiver, a.tag, a.size) == std::tuple(b.sender, b.receiver, b.tag, b.size);
    }

    /// The send of a message that has arrived. It is certain if there are as many equal messages as such sends.
    goal::OpIndex send_of(std::size_t i) {
        const LostMessage& message = messages_[i];
        const OpIndices sends = op_indices_of(sender_.of(message.sender), [&](const goal::Op& op) {
            return op.kind == goal::OpKind::send && op.peer == message.receiver && op.tag == message.tag &&
                   op.size == message.size;  // a synchronous one is pending
        });
        const auto is_alike = [&](const LostMessage& other) { return other.arrived && alike(other, message); };
        const auto own = messages_.begin() + static_cast<std::ptrdiff_t>(i);
        const auto before = static_cast<std::size_t>(std::count_if(messages_.begin(), own, is_alike));
        const auto all = before + static_cast<std::size_t>(std::count_if(own, messages_.end(), is_alike));
        return sends.size() == all ? sends[before] : goal::unknown_op_index;
    }

    std::string hint(const LostMessage& message) {
        const std::string who = text_of_rank(message.receiver);
        const goal::RankSchedule& rank_schedule = receiver_.of(message.receiver);
        const OpIndices agreeing = op_indices_of(rank_schedule, [&](const goal::Op& op) {
            return op.kind == goal::OpKind::recv && goal::matches(op.peer, message.sender) &&
                   goal::matches(op.tag, message.tag);
        });
        if (!agreeing.empty()) {
            return taken_by_others(message, agreeing.size());
        }
        if (std::string waits = of_pending(message); !waits.empty()) {
            return waits;
        }
        const OpIndices other_tags = op_indices_of(rank_schedule, [&](const goal::Op& op) {
            return op.kind == goal::OpKind::recv && goal::matches(op.peer, message.sender);
        });
        if (!other_tags.empty()) {
            const goal::Op& op = rank_schedule.ops[other_tags.front()];
            return who + " receives from " + text_of_rank(op.peer) + " with " + text_of_tag(op.tag) + " (" +
                   schedule_.name(message.receiver, other_tags.front()) + ')' + and_others(other_tags.size()) +
                   ", and never with " + text_of_tag(message.tag);
        }
        const OpIndices other_ranks = op_indices_of(rank_schedule, [&](const goal::Op& op) {
            return op.kind == goal::OpKind::recv && goal::matches(op.tag, message.tag);
        });
        if (!other_ranks.empty()) {
            const goal::Op& op = rank_schedule.ops[other_ranks.front()];
            return who + " receives with " + text_of_tag(op.tag) + " from " + text_of_rank(op.peer) + " (" +
                   schedule_.name(message.receiver, other_ranks.front()) + ')' + and_others(other_ranks.size()) +
                   ", and never from " + text_of_rank(message.sender);
        }
        return who + " has no receive from " + text_of_rank(message.sender);
    }

    /// The hint for a message that matches some receives, all of which have ended.
    std::string taken_by_others(const LostMessage& message, std::size_t receives) {
        const std::size_t sends = op_indices_of(sender_.of(message.sender), [&](const goal::Op& op) {
                                      return op.kind == goal::OpKind::send && op.peer == message.receiver &&
                                             goal::matches(op.tag, message.tag);
                                  }).size();
        const std::string who = text_of_rank(message.receiver);
        if (sends > receives) {
            return text_of_rank(message.sender) + " has " + number_of(sends, "send") + " to " + who + " with " +
                   text_of_tag(message.tag) + ", and " + who + " has " + number_of(receives, "receive") + " for them";
        }
        return receives == 1
                   ? "the receive of " + who + " that agrees with it has taken another message"
                   : "the " + number_of(receives, "receive") + " of " + who + " that agree with it have taken others";
    }

    /// The hint about a posted receive that differs from the message in its tag or its source alone; or nothing.
    std::string of_pending(const LostMessage& message) {
        const auto begin = std::lower_bound(pending_.begin(), pending_.end(), message.receiver,
                                            [](const PendingOp& op, std::uint32_t rank) { return op.rank < rank; });
        const PendingOp* by_source = nullptr;
        for (auto op = begin; op != pending_.end() && op->rank == message.receiver; ++op) {
            if (op->kind == goal::OpKind::recv && goal::matches(op->peer, message.sender)) {
                return text_of(*op);
            }
            if (op->kind == goal::OpKind::recv && by_source == nullptr && goal::matches(op->tag, message.tag)) {
                by_source = &*op;
            }
        }
        return by_source == nullptr ? "" : text_of(*by_source);
    }

    std::string text_of(const PendingOp& receive) {
        return schedule_.name(receive.rank, receive.op_index) + " of " + text_of_rank(receive.rank) +
               " waits for a message from " + text_of_rank(receive.peer) + " with " + text_of_tag(receive.tag);
    }

    static std::string and_others(std::size_t all) {
        return all == 1 ? "" : " and in " + number_of(all - 1, "other op");
    }

    const std::vector<LostMessage>& messages_;
    std::span<const PendingOp> pending_;
    const ScheduleView& schedule_;
    LastRankSchedule sender_;
    LastRankSchedule receiver_;
};

}  // namespace

std::vector<UnmatchedMessage> explain_lost_messages(const std::vector<LostMessage>& messages,
                                                    std::span<const PendingOp> pending, const ScheduleView& schedule) {
    NearMisses misses(messages, pending, schedule);
    std::vector<UnmatchedMessage> found;
    found.reserve(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        found.push_back(i < most_explained ? misses.explain(i) : NearMisses::as_it_is(messages[i]));
    }
    return found;
}

}  // namespace idlewave::standstill
