#include "standstill/standstill.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "standstill/blocked_ops.hpp"
#include "standstill/report_text.hpp"
#include "standstill/wait_for_graph.hpp"

namespace idlewave::standstill {
namespace {

/// A blocked op: it has not become ready.
struct BlockedOp {
    std::uint32_t rank = 0;
    goal::OpIndex op_index = 0;
    std::uint32_t unmet = 0;  ///< requirements
};

/// Reads the schedules of the unfinished ranks and finds the unmatched messages and receives, and the cycle.
class Explanation {
  public:
    Explanation(const Unfinished& unfinished, const ScheduleView& schedule)
        : unfinished_(unfinished),
          schedule_(schedule),
          graph_(unfinished.pending()),
          ranks_(unfinished.ranks()),
          expected_(unfinished.messages().size(), goal::unknown_op_index) {
        look_at_ranks();
        graph_.solve();
    }

    Standstill give() {
        LeftOver found;
        found.cycle_length = requirement_cycle_.empty() ? add_cycle(found.cycle) : add_requirement_cycle(found.cycle);
        const std::vector<LostMessage> lost = find_lost_messages();
        found.messages = explain_lost_messages(lost, unfinished_.pending(), schedule_);
        found.waiting = waiting();
        found.left = unfinished_.pending().size() + unfinished_.message_count() + standing_ + blocked_count_;
        const UnmatchedWaits receives = unmatched_waits();
        const std::uint64_t messages = lost.size() + unfinished_.message_count() - unfinished_.messages().size();
        const bool lost_rendezvous = !lost.empty() && !lost.back().arrived;
        return {kind_of(found, receives, lost_rendezvous), message_of(found, receives, messages), std::move(found)};
    }

  private:
    // ---- ranks

    void look_at_ranks() {
        const auto pending = unfinished_.pending();
        auto stuck = ranks_.begin();
        std::size_t first = 0;
        while (stuck != ranks_.end() || first < pending.size()) {
            const std::uint32_t rank = std::min(stuck != ranks_.end() ? stuck->rank : goal::any,
                                                first < pending.size() ? pending[first].rank : goal::any);
            const bool stands = stuck != ranks_.end() && stuck->rank == rank;
            std::vector<goal::OpIndex> op_indices;
            for (std::size_t i = first; i < pending.size() && pending[i].rank == rank; ++i) {
                op_indices.push_back(pending[i].op_index);
            }
            look_at(rank, first, op_indices, !stands || stuck->stand.kind == goal::StopPosition::Kind::ops);
            first += op_indices.size();
            stuck += stands ? 1 : 0;
        }
    }

    /// `names_ops`: the blocked ops of the rank are reported one by one; else the rank's position in its schedule is.
    void look_at(std::uint32_t rank, std::size_t first, const std::vector<goal::OpIndex>& op_indices, bool names_ops) {
        const goal::RankSchedule rank_schedule = schedule_.rank_schedule(rank);
        const BlockedOps blocked(rank_schedule, op_indices,
                                 schedule_.unmet ? schedule_.unmet(rank) : std::vector<std::uint32_t>());
        graph_.add_rank(rank, rank_schedule, blocked, first);
        if (requirement_cycle_.empty()) {
            requirement_cycle_ = blocked.cycle();
            requirement_cycle_rank_ = rank;
        }
        if (names_ops) {
            blocked_count_ += blocked.count();
            for (goal::OpIndex op_index = 0; op_index < rank_schedule.ops.size() && blocked_.size() < most_named;
                 ++op_index) {
                if (blocked.blocks(op_index)) {
                    blocked_.push_back({rank, op_index, blocked.unmet(op_index)});
                }
            }
        } else {
            ++standing_;
        }
        find_expected(rank, rank_schedule, blocked);
    }

    /// Finds the messages of a rank whose receive is not posted yet.
    void find_expected(std::uint32_t rank, const goal::RankSchedule& rank_schedule, const BlockedOps& blocked) {
        const auto messages = unfinished_.messages();
        const auto own = std::lower_bound(messages.begin(), messages.end(), rank,
                                          [](const UnexpectedMessage& m, std::uint32_t r) { return m.receiver < r; });
        if (own == messages.end() || own->receiver != rank || blocked.count() == 0) {
            return;
        }
        std::vector<goal::OpIndex> receives;
        for (goal::OpIndex op_index = 0; op_index < rank_schedule.ops.size(); ++op_index) {
            if (rank_schedule.ops[op_index].kind == goal::OpKind::recv && blocked.blocks(op_index)) {
                receives.push_back(op_index);
            }
        }
        for (auto message = own; message != messages.end() && message->receiver == rank; ++message) {
            const auto found = std::find_if(receives.begin(), receives.end(), [&](goal::OpIndex op_index) {
                const goal::Op& op = rank_schedule.ops[op_index];
                return goal::matches(op.peer, message->sender) && goal::matches(op.tag, message->tag);
            });
            if (found != receives.end()) {
                expected_[static_cast<std::size_t>(message - messages.begin())] = *found;
            }
        }
    }

    // ---- messages and receives without a match

    /// Lost messages that have arrived, then those of sends by rendezvous.
    [[nodiscard]] std::vector<LostMessage> find_lost_messages() const {
        std::vector<LostMessage> found;
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            const UnexpectedMessage& message = unfinished_.messages()[i];
            if (expected_[i] == goal::unknown_op_index) {
                found.push_back({message.sender, message.send, message.receiver, message.tag, message.size, true});
            }
        }
        for (std::size_t i = 0; i < unfinished_.pending().size() && found.size() < 2 * most_named; ++i) {
            const PendingOp& op = unfinished_.pending()[i];
            if (op.kind == goal::OpKind::send && !graph_.has_match(i)) {
                found.push_back({op.rank, op.op_index, op.peer, op.tag, op.size, false});
            }
        }
        return found;
    }

    [[nodiscard]] UnmatchedWaits unmatched_waits() const {
        UnmatchedWaits found;
        for (std::size_t i = 0; i < unfinished_.pending().size(); ++i) {
            if (unfinished_.pending()[i].kind != goal::OpKind::send && !graph_.has_match(i)) {
                ++found.count;
                found.one_sided |= goal::is_one_sided(unfinished_.pending()[i].kind);
                if (found.first.size() < most_lines) {
                    found.first.push_back(waiting_of_pending(i));
                }
            }
        }
        return found;
    }

    /// `lost_rendezvous`: some send by rendezvous has no matching receive.
    [[nodiscard]] StandstillKind kind_of(const LeftOver& found, const UnmatchedWaits& receives,
                                         bool lost_rendezvous) const {
        if (found.cycle_length > 0) {
            return StandstillKind::deadlock;
        }
        if (unfinished_.pending().empty() && ranks_.empty()) {
            return StandstillKind::unmatched_send;
        }
        if (receives.count > 0) {
            return receives.one_sided ? StandstillKind::deadlock : StandstillKind::unmatched_receive;
        }
        return lost_rendezvous ? StandstillKind::unmatched_rendezvous : StandstillKind::deadlock;
    }

    // ---- cycles

    /// Adds a cycle of requirements in one rank. Returns its length.
    std::uint64_t add_requirement_cycle(std::vector<Waiting>& cycle) const {
        for (std::size_t i = 0; i < std::min(requirement_cycle_.size(), most_named); ++i) {
            const BlockedOps::Wait& wait = requirement_cycle_[i];
            cycle.push_back({requirement_cycle_rank_, name(requirement_cycle_rank_, wait.op_index),
                             "waits for " + name(requirement_cycle_rank_, wait.other) + " of its rank to " +
                                 (wait.edge == goal::Edge::end ? "end" : "start")});
        }
        return requirement_cycle_.size();
    }

    /// Adds a cycle of pending ops. Returns its length.
    std::uint64_t add_cycle(std::vector<Waiting>& cycle) const {
        const std::vector<WaitForGraph::CycleStep> steps = graph_.cycle();
        for (std::size_t i = 0; i < std::min(steps.size(), most_named); ++i) {
            const PendingOp& op = unfinished_.pending()[steps[i].pending];
            cycle.push_back({op.rank, name(op.rank, op.op_index), why(op) + by_match(op, steps[i].match)});
        }
        return steps.size();
    }

    // ---- texts

    [[nodiscard]] std::string name(std::uint32_t rank, goal::OpIndex op_index) const {
        return schedule_.name(rank, op_index);
    }

    /// The op that would match a pending op, and the pending op that has to end before it can start.
    [[nodiscard]] std::string by_match(const PendingOp& op, const WaitForGraph::PotentialMatch& match) const {
        const std::string does = op.kind == goal::OpKind::send    ? " does so"
                                 : op.kind == goal::OpKind::await ? " puts it"
                                 : op.kind != goal::OpKind::recv  ? " unlocks it"
                                 : op.peer == goal::any           ? " sends one"
                                                                  : " sends it";
        std::string text = "; " + text_of_rank(match.rank) + does + " in " + name(match.rank, match.op_index);
        if (match.after != WaitForGraph::none) {
            text += ", after " + name(match.rank, unfinished_.pending()[match.after].op_index) + " has ended";
        }
        if (match.others > 0) {
            text += ", and " + number_of(match.others, "other op") + " would, but cannot start either";
        }
        return text;
    }

    [[nodiscard]] Waiting waiting_of_pending(std::size_t i) const {
        const PendingOp& op = unfinished_.pending()[i];
        std::string text = why(op);
        if (const auto match = graph_.match_of(i)) {
            text += by_match(op, *match);
        } else if (!graph_.has_match(i)) {
            text += op.kind == goal::OpKind::recv    ? ", which nobody sends"
                    : op.kind == goal::OpKind::await ? ", which nobody puts"
                    : op.kind == goal::OpKind::send  ? ", which no op does"
                                                     : " and does not unlock";
        }
        return {op.rank, name(op.rank, op.op_index), std::move(text)};
    }

    [[nodiscard]] Waiting waiting_of_message(std::size_t i) const {
        const UnexpectedMessage& message = unfinished_.messages()[i];
        const std::string fate = expected_[i] == goal::unknown_op_index
                                     ? "is received by no op"
                                     : name(message.receiver, expected_[i]) + ", which receives it, is not posted";
        return {
            message.receiver, "a message",
            "from " + text_of_rank(message.sender) + " with " + text_of_tag(message.tag) + " has arrived, and " + fate};
    }

    [[nodiscard]] Waiting waiting_of_blocked(std::size_t i) const {
        const BlockedOp& op = blocked_[i];
        return {op.rank, name(op.rank, op.op_index), "waits for " + number_of(op.unmet, "other op") + " of its rank"};
    }

    /// The unfinished things, rank by rank, as many as the error names.
    [[nodiscard]] std::vector<Waiting> waiting() const {
        enum class Kind : std::uint8_t { pending, message, stand, blocked };
        struct Item {
            std::uint32_t rank;
            Kind kind;
            std::size_t index;
        };
        std::vector<Item> items;
        const auto add = [&items](Kind kind, const auto& things, auto rank_of) {
            for (std::size_t i = 0; i < std::min(things.size(), most_named); ++i) {
                items.push_back({rank_of(things[i]), kind, i});
            }
        };
        add(Kind::pending, unfinished_.pending(), [](const PendingOp& op) { return op.rank; });
        add(Kind::message, unfinished_.messages(), [](const UnexpectedMessage& message) { return message.receiver; });
        add(Kind::stand, ranks_, [](const UnfinishedRank& stuck) { return stuck.rank; });
        add(Kind::blocked, blocked_, [](const BlockedOp& op) { return op.rank; });
        std::erase_if(items, [this](const Item& item) {
            return item.kind == Kind::stand && ranks_[item.index].stand.kind == goal::StopPosition::Kind::ops;
        });
        std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.rank < b.rank; });
        items.resize(std::min(items.size(), most_named));
        std::vector<Waiting> found;
        found.reserve(items.size());
        for (const Item& item : items) {
            found.push_back(item.kind == Kind::pending   ? waiting_of_pending(item.index)
                            : item.kind == Kind::message ? waiting_of_message(item.index)
                            : item.kind == Kind::stand   ? waiting_of(ranks_[item.index])
                                                         : waiting_of_blocked(item.index));
        }
        return found;
    }

    const Unfinished& unfinished_;
    const ScheduleView& schedule_;
    WaitForGraph graph_;
    std::span<const UnfinishedRank> ranks_;
    std::vector<BlockedOps::Wait> requirement_cycle_;  ///< a cycle of requirements in one rank
    std::uint32_t requirement_cycle_rank_ = 0;
    std::vector<BlockedOp> blocked_;  ///< the first ones
    std::uint64_t blocked_count_ = 0;
    std::uint64_t standing_ = 0;           ///< ranks whose position in the schedule is reported
    std::vector<goal::OpIndex> expected_;  ///< by message: its receive that is not posted yet, or `unknown_op_index`
};

}  // namespace

Standstill standstill(Unfinished unfinished, const ScheduleView& schedule) {
    unfinished.sort();
    return Explanation(unfinished, schedule).give();
}

}  // namespace idlewave::standstill
