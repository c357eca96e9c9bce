#include "standstill/standstill.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "standstill/blocked_ops.hpp"
#include "standstill/wait_graph.hpp"
#include "standstill/words.hpp"

namespace idlewave {
namespace {

/// An op that has not become ready.
struct BlockedOp {
    std::uint32_t rank = 0;
    OpIndex op_index = 0;
    std::uint32_t left = 0;  ///< requirements that are not met
};

/// Goes through the ranks that have not come to their end, and finds out who waits for whom.
class Explanation {
  public:
    Explanation(const Left& left, const ScheduleView& schedule)
        : left_(left),
          schedule_(schedule),
          graph_(left.pending()),
          stuck_(left.stuck()),
          expected_(left.messages().size(), unknown_op_index) {
        look_at_ranks();
        graph_.solve();
    }

    Standstill give() {
        LeftOver found;
        found.cycle_length = circle_.empty() ? add_cycle(found.cycle) : add_circle(found.cycle);
        const std::vector<Unreceived> unreceived = find_unreceived();
        found.messages = explain_unreceived(unreceived, left_.pending(), schedule_);
        found.waiting = waiting();
        found.left = left_.pending().size() + left_.message_count() + standing_ + blocked_count_;
        const UnmatchedReceives receives = unmatched_receives();
        const std::uint64_t messages = unreceived.size() + left_.message_count() - left_.messages().size();
        const bool sends = !unreceived.empty() && !unreceived.back().arrived;
        return {kind_of(found, receives, sends), message_of(found, receives, messages), std::move(found)};
    }

  private:
    // ---- ranks

    void look_at_ranks() {
        const auto pending = left_.pending();
        auto stuck = stuck_.begin();
        std::size_t first = 0;
        while (stuck != stuck_.end() || first < pending.size()) {
            const std::uint32_t rank =
                std::min(stuck != stuck_.end() ? stuck->rank : any, first < pending.size() ? pending[first].rank : any);
            const bool stands = stuck != stuck_.end() && stuck->rank == rank;
            std::vector<OpIndex> places;
            for (std::size_t i = first; i < pending.size() && pending[i].rank == rank; ++i) {
                places.push_back(pending[i].op_index);
            }
            look_at(rank, first, places, !stands || stuck->stand.kind == StopPosition::Kind::ops);
            first += places.size();
            stuck += stands ? 1 : 0;
        }
    }

    /// `names_ops`: what is left of the rank are its blocked ops; else it is known where it stands.
    void look_at(std::uint32_t rank, std::size_t first, const std::vector<OpIndex>& places, bool names_ops) {
        const RankSchedule rank_schedule = schedule_.rank_schedule(rank);
        const BlockedOps blocked(rank_schedule, places,
                                 schedule_.left ? schedule_.left(rank) : std::vector<std::uint32_t>());
        graph_.add_rank(rank, rank_schedule, blocked, first);
        if (circle_.empty()) {
            circle_ = blocked.cycle();
            circle_rank_ = rank;
        }
        if (names_ops) {
            blocked_count_ += blocked.count();
            for (OpIndex op_index = 0; op_index < rank_schedule.ops.size() && blocked_.size() < most_named;
                 ++op_index) {
                if (blocked.blocks(op_index)) {
                    blocked_.push_back({rank, op_index, blocked.left(op_index)});
                }
            }
        } else {
            ++standing_;
        }
        find_expected(rank, rank_schedule, blocked);
    }

    /// Which messages of a rank have a receive that is not posted yet.
    void find_expected(std::uint32_t rank, const RankSchedule& rank_schedule, const BlockedOps& blocked) {
        const auto messages = left_.messages();
        const auto own = std::lower_bound(messages.begin(), messages.end(), rank,
                                          [](const UnexpectedMessage& m, std::uint32_t r) { return m.receiver < r; });
        if (own == messages.end() || own->receiver != rank || blocked.count() == 0) {
            return;
        }
        std::vector<OpIndex> receives;
        for (OpIndex op_index = 0; op_index < rank_schedule.ops.size(); ++op_index) {
            if (rank_schedule.ops[op_index].kind == OpKind::recv && blocked.blocks(op_index)) {
                receives.push_back(op_index);
            }
        }
        for (auto message = own; message != messages.end() && message->receiver == rank; ++message) {
            const auto found = std::find_if(receives.begin(), receives.end(), [&](OpIndex op_index) {
                const Op& op = rank_schedule.ops[op_index];
                return matches(op.peer, message->sender) && matches(op.tag, message->tag);
            });
            if (found != receives.end()) {
                expected_[static_cast<std::size_t>(message - messages.begin())] = *found;
            }
        }
    }

    // ---- what there is no other half for

    /// Messages that have arrived, then those of sends by rendezvous.
    [[nodiscard]] std::vector<Unreceived> find_unreceived() const {
        std::vector<Unreceived> found;
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            const UnexpectedMessage& message = left_.messages()[i];
            if (expected_[i] == unknown_op_index) {
                found.push_back({message.sender, message.send, message.receiver, message.tag, message.size, true});
            }
        }
        for (std::size_t i = 0; i < left_.pending().size() && found.size() < 2 * most_named; ++i) {
            const PendingOp& op = left_.pending()[i];
            if (op.kind == OpKind::send && !graph_.has_way(i)) {
                found.push_back({op.rank, op.op_index, op.peer, op.tag, op.size, false});
            }
        }
        return found;
    }

    [[nodiscard]] UnmatchedReceives unmatched_receives() const {
        UnmatchedReceives found;
        for (std::size_t i = 0; i < left_.pending().size(); ++i) {
            if (left_.pending()[i].kind == OpKind::recv && !graph_.has_way(i)) {
                ++found.count;
                if (found.first.size() < most_lines) {
                    found.first.push_back(waiting_of_pending(i));
                }
            }
        }
        return found;
    }

    /// `sends`: there are sends by rendezvous that no op receives.
    [[nodiscard]] StandstillKind kind_of(const LeftOver& found, const UnmatchedReceives& receives, bool sends) const {
        if (found.cycle_length > 0) {
            return StandstillKind::deadlock;
        }
        if (left_.pending().empty() && stuck_.empty()) {
            return StandstillKind::unmatched_send;
        }
        if (receives.count > 0) {
            return StandstillKind::unmatched_receive;
        }
        return sends ? StandstillKind::unmatched_rendezvous : StandstillKind::deadlock;
    }

    // ---- cycles

    /// Ops of one rank that require each other. Returns how many.
    std::uint64_t add_circle(std::vector<Waiting>& cycle) const {
        for (std::size_t i = 0; i < std::min(circle_.size(), most_named); ++i) {
            const BlockedOps::Wait& wait = circle_[i];
            cycle.push_back({circle_rank_, name(circle_rank_, wait.op_index),
                             "waits for " + name(circle_rank_, wait.other) + " of its rank to " +
                                 (wait.edge == Edge::end ? "end" : "start")});
        }
        return circle_.size();
    }

    /// Pending ops that wait for each other. Returns how many.
    std::uint64_t add_cycle(std::vector<Waiting>& cycle) const {
        const std::vector<WaitGraph::Hop> hops = graph_.cycle();
        for (std::size_t i = 0; i < std::min(hops.size(), most_named); ++i) {
            const PendingOp& op = left_.pending()[hops[i].pending];
            cycle.push_back({op.rank, name(op.rank, op.op_index), why(op) + by_way(op, hops[i].way)});
        }
        return hops.size();
    }

    // ---- words

    [[nodiscard]] std::string name(std::uint32_t rank, OpIndex op_index) const {
        return schedule_.name(rank, op_index);
    }

    /// Who would let a pending op end, and what has to end before.
    [[nodiscard]] std::string by_way(const PendingOp& op, const WaitGraph::Way& way) const {
        const std::string does = op.kind == OpKind::send ? " does so" : op.peer == any ? " sends one" : " sends it";
        std::string text = "; " + text_of_rank(way.rank) + does + " in " + name(way.rank, way.op_index);
        if (way.after != WaitGraph::none) {
            text += ", after " + name(way.rank, left_.pending()[way.after].op_index) + " has ended";
        }
        if (way.others > 0) {
            text += ", and " + number_of(way.others, "other op") + " would, but cannot start either";
        }
        return text;
    }

    [[nodiscard]] Waiting waiting_of_pending(std::size_t i) const {
        const PendingOp& op = left_.pending()[i];
        std::string text = why(op);
        if (const auto way = graph_.way_of(i)) {
            text += by_way(op, *way);
        } else if (!graph_.has_way(i)) {
            text += op.kind == OpKind::recv ? ", which nobody sends" : ", which no op does";
        }
        return {op.rank, name(op.rank, op.op_index), std::move(text)};
    }

    [[nodiscard]] Waiting waiting_of_message(std::size_t i) const {
        const UnexpectedMessage& message = left_.messages()[i];
        const std::string fate = expected_[i] == unknown_op_index
                                     ? "is received by no op"
                                     : name(message.receiver, expected_[i]) + ", which receives it, is not posted";
        return {
            message.receiver, "a message",
            "from " + text_of_rank(message.sender) + " with " + text_of_tag(message.tag) + " has arrived, and " + fate};
    }

    [[nodiscard]] Waiting waiting_of_blocked(std::size_t i) const {
        const BlockedOp& op = blocked_[i];
        return {op.rank, name(op.rank, op.op_index), "waits for " + number_of(op.left, "other op") + " of its rank"};
    }

    /// All that is left, rank by rank, as far as it is named.
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
        add(Kind::pending, left_.pending(), [](const PendingOp& op) { return op.rank; });
        add(Kind::message, left_.messages(), [](const UnexpectedMessage& message) { return message.receiver; });
        add(Kind::stand, stuck_, [](const StuckRank& stuck) { return stuck.rank; });
        add(Kind::blocked, blocked_, [](const BlockedOp& op) { return op.rank; });
        std::erase_if(items, [this](const Item& item) {
            return item.kind == Kind::stand && stuck_[item.index].stand.kind == StopPosition::Kind::ops;
        });
        std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.rank < b.rank; });
        items.resize(std::min(items.size(), most_named));
        std::vector<Waiting> found;
        found.reserve(items.size());
        for (const Item& item : items) {
            found.push_back(item.kind == Kind::pending   ? waiting_of_pending(item.index)
                            : item.kind == Kind::message ? waiting_of_message(item.index)
                            : item.kind == Kind::stand   ? waiting_of(stuck_[item.index])
                                                         : waiting_of_blocked(item.index));
        }
        return found;
    }

    const Left& left_;
    const ScheduleView& schedule_;
    WaitGraph graph_;
    std::span<const StuckRank> stuck_;
    std::vector<BlockedOps::Wait> circle_;  ///< of one rank
    std::uint32_t circle_rank_ = 0;
    std::vector<BlockedOp> blocked_;  ///< the first ones
    std::uint64_t blocked_count_ = 0;
    std::uint64_t standing_ = 0;     ///< ranks of which it is known where they stand
    std::vector<OpIndex> expected_;  ///< by message: its receive, which is not posted; or `unknown_op_index`
};

}  // namespace

Standstill standstill(Left left, const ScheduleView& schedule) {
    left.sort();
    return Explanation(left, schedule).give();
}

}  // namespace idlewave
