#include "goal/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "dice.hpp"
#include "goal/graph_run.hpp"
#include "random_rank_schedule.hpp"
#include "standstill/blocked_ops.hpp"

namespace idlewave::goal {
namespace {

using testing::Dice;

struct Told {
    OpIndex op_index;
    Time at;
    bool exchanges = false;  ///< brings a send along
    bool operator==(const Told& other) const { return op_index == other.op_index && at == other.at; }
};

/// The rules, slow and plain: how many requirements are left, and when the latest was met.
class Plain {
  public:
    explicit Plain(const RankSchedule& rank) : rank_(rank), left_(rank.ops.size()), ready_at_(rank.ops.size()) {
        for (const Requirement& r : rank.requirements) {
            ++left_[r.successor];
        }
        for (const std::uint32_t left : left_) {
            is_root_.push_back(left == 0);
        }
    }

    /// Whether nothing is required of an op.
    [[nodiscard]] bool is_root(OpIndex op_index) const { return is_root_[op_index]; }
    [[nodiscard]] std::ptrdiff_t roots() const { return std::count(is_root_.begin(), is_root_.end(), true); }

    /// Whether the root `next` cannot start before `root` has, and can be the next to start: both are of one kind and
    /// need the same CPU and NIC, and no such root lies between.
    [[nodiscard]] bool start_in_order(OpIndex root, OpIndex next) const {
        for (OpIndex between = root + 1; between < next; ++between) {
            if (is_root(between) && resources(between) == resources(root)) {
                return false;
            }
        }
        return root < next && is_root(root) && resources(root) == resources(next);
    }

    std::vector<Told> met(OpIndex other, Edge edge, Time time) {
        std::vector<Told> told;
        for (const Requirement& r : rank_.requirements) {
            if (r.predecessor == other && r.edge == edge) {
                ready_at_[r.successor] = std::max(ready_at_[r.successor], time);
                if (--left_[r.successor] == 0) {
                    told.push_back({r.successor, ready_at_[r.successor]});
                }
            }
        }
        return told;
    }

    [[nodiscard]] std::size_t waiting() const {
        return left_.size() - static_cast<std::size_t>(std::count(left_.begin(), left_.end(), 0U));
    }

  private:
    [[nodiscard]] std::tuple<OpKind, int, int> resources(OpIndex op_index) const {
        const Op& op = rank_.ops[op_index];
        return {op.kind, op.cpu, op.nic};
    }

    const RankSchedule& rank_;
    std::vector<std::uint32_t> left_;
    std::vector<bool> is_root_;
    std::vector<Time> ready_at_;
};

/// What has become ready; every op is as the graph has it.
std::vector<Told> take(const Graph& graph, std::uint32_t rank, ReadyOps<NoCookie>& ready) {
    const auto parts = [](const Op& op) { return std::tuple(op.kind, op.size, op.peer, op.tag, op.cpu, op.nic); };
    std::vector<Told> told;
    for (const ReadyOp<NoCookie>& op : ready) {
        EXPECT_EQ(parts(op.op), parts(graph.op(rank, op.op_index)));
        told.push_back({op.op_index, op.at, op.exchange.send_to != no_rank});
        if (told.back().exchanges) {
            EXPECT_EQ(op.exchange.send_to, graph.op(rank, op.op_index + 1).peer);
        }
    }
    ready.clear();
    return told;
}

/// An op of a rank has started or ended; what this makes ready is added.
void tell(const Graph& graph, std::uint32_t rank, Graph::State<Time>& state, Graph::Scratch& scratch, Edge edge,
          const Notice<NoCookie>& notice, ReadyOps<NoCookie>& ready) {
    ReadyOp<NoCookie> next;
    if (edge == Edge::start ? graph.started(rank, state, scratch, notice, next, ready)
                            : graph.ended(rank, state, scratch, notice, next, ready)) {
        ready.push_back(next);
    }
}
void tell(const Graph& graph, Graph::State<Time>& state, Edge edge, const Notice<NoCookie>& notice,
          ReadyOps<NoCookie>& ready) {
    Graph::Scratch scratch;
    tell(graph, 0, state, scratch, edge, notice, ready);
}

/// Ranks with the schedules `rank_schedules` in turn, `alike` of each, which differ in their peers and calcs.
Graph ranks_alike(const std::vector<RankSchedule>& rank_schedules, std::uint32_t alike) {
    const auto ranks = static_cast<std::uint32_t>(rank_schedules.size()) * alike;
    GraphBuilder builder;
    for (const RankSchedule& rank_schedule : rank_schedules) {
        builder.append(rank_schedule);
        for (std::uint32_t i = 1; i < alike; ++i) {
            RankSchedule other = rank_schedule;
            for (Op& op : other.ops) {
                if (op.kind == OpKind::calc) {
                    op.size += op.size <= RankBlock::largest_value - i ? i : 0;
                } else if (op.peer != any) {
                    op.peer = (op.peer + i) % ranks;
                }
            }
            builder.append(other);
        }
    }
    return builder.finish();
}

/// Removes the roots from `told`, and returns them.
std::vector<Told> take_roots(const Plain& plain, std::vector<Told>& told) {
    std::vector<Told> roots;
    std::copy_if(told.begin(), told.end(), std::back_inserter(roots),
                 [&](const Told& op) { return plain.is_root(op.op_index); });
    std::erase_if(told, [&](const Told& op) { return plain.is_root(op.op_index); });
    return roots;
}

/// Ops start and end in some order that the graph allows.
void expect_all_requirements_to_be_heeded(const Graph& graph, std::uint32_t rank, const RankSchedule& rank_schedule,
                                          Graph::Scratch& scratch, Dice& dice) {
    Plain plain(rank_schedule);
    Graph::State<Time> state;
    ReadyOps<NoCookie> ready;
    graph.begin(rank, state, scratch, ready);
    std::vector<Told> started = take(graph, rank, ready);
    auto roots = static_cast<std::ptrdiff_t>(started.size());
    for (const Told& root : started) {
        ASSERT_TRUE(plain.is_root(root.op_index));
        ASSERT_EQ(root.at, 0);
    }
    std::vector<Told> running;
    while (!started.empty() || !running.empty()) {
        const Time now = dice.between(0, 1000);
        const bool start = running.empty() || (!started.empty() && dice.one_in(2));
        std::vector<Told>& from = start ? started : running;
        const std::size_t which = dice.roll(from.size());
        const OpIndex op_index = from[which].op_index;
        const bool send_is_known = start && from[which].exchanges;
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(which));
        std::vector<Told> told;
        if (send_is_known) {
            told.push_back({op_index + 1, now});
        } else {
            tell(graph, rank, state, scratch, start ? Edge::start : Edge::end, {now, op_index}, ready);
            told = take(graph, rank, ready);
        }
        started.insert(started.end(), told.begin(), told.end());
        for (const Told& root : take_roots(plain, told)) {
            ASSERT_TRUE(start && plain.start_in_order(op_index, root.op_index)) << op_index << ' ' << root.op_index;
            ASSERT_EQ(root.at, 0);
            ++roots;
        }
        ASSERT_EQ(told, plain.met(op_index, start ? Edge::start : Edge::end, now));
        if (start) {
            running.push_back({op_index, now});
        }
    }
    ASSERT_EQ(roots, plain.roots());
    ASSERT_EQ(graph.stop_position(rank, state).has_value(), plain.waiting() > 0);
    ASSERT_EQ(standstill::BlockedOps(graph.rank_schedule(rank), {}).count(), plain.waiting());
}

TEST(Graph, TellsOpsWhenAllTheirRequirementsAreMet) {
    Dice dice(1);
    for (int round = 0; round < 1000; ++round) {
        const RankSchedule rank = testing::random_rank_schedule(dice, 1, round % 50 == 0 ? 300 : 30);
        Graph::Scratch scratch;
        expect_all_requirements_to_be_heeded(ranks_alike({rank}, 1), 0, rank, scratch, dice);
    }
}

/// Ranks that share words share decoded ops; ranks with other words do not.
TEST(Graph, TellsRanksThatDifferInTheirValuesAloneTheSameOpsEachWithItsPeersAndCalcs) {
    constexpr std::uint32_t alike = 3;
    Dice dice(2);
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t most = round % 50 == 0 ? 300 : 30;
        std::vector<RankSchedule> rank_schedules;
        while (rank_schedules.size() < 4) {
            rank_schedules.push_back(testing::random_rank_schedule(dice, 4 * alike, most));
        }
        const Graph graph = ranks_alike(rank_schedules, alike);
        Graph::Scratch scratch;
        for (std::uint32_t rank = 0; rank < graph.ranks(); ++rank) {
            expect_all_requirements_to_be_heeded(graph, rank, rank_schedules[rank / alike], scratch, dice);
        }
    }
}

TEST(Graph, OpsThatWaitForEachOtherOrThemselvesNeverBecomeReady) {
    GraphBuilder builder;
    builder.begin_rank();
    for (int i = 0; i < 3; ++i) {
        builder.add({.kind = OpKind::calc});
    }
    builder.require(0, 0, Edge::start);
    builder.require(1, 2, Edge::end);
    builder.require(2, 1, Edge::end);
    const Graph graph = builder.finish();
    Graph::State<Time> state;
    Graph::Scratch scratch;
    ReadyOps<NoCookie> ready;
    graph.begin(0, state, scratch, ready);
    EXPECT_TRUE(ready.empty());
}

TEST(Graph, ManyOpsThatWaitForTheSameTwoAreToldInTime) {
    constexpr OpIndex count = 300'000;
    RankSchedule rank;
    rank.ops.resize(count);
    for (OpIndex i = 2; i < count; ++i) {
        rank.requirements.push_back({i, 0, Edge::end});
        rank.requirements.push_back({i, 1, Edge::end});
    }
    GraphBuilder builder;
    builder.append(rank);
    const Graph graph = builder.finish();
    Graph::State<Time> state;
    Graph::Scratch scratch;
    ReadyOps<NoCookie> ready;
    graph.begin(0, state, scratch, ready);
    ready.clear();
    tell(graph, state, Edge::end, {7, 0}, ready);
    EXPECT_TRUE(ready.empty());
    tell(graph, state, Edge::end, {3, 1}, ready);
    ASSERT_EQ(ready.size(), count - 2);
    EXPECT_EQ(ready[0].at, 7);
    EXPECT_FALSE(state.has_partly_ready());
}

/// A dissemination; of the same bytes for all ranks, or for none.
Graph dissemination(std::uint32_t ranks, bool alike) {
    GraphBuilder builder;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint64_t size = alike ? 1 : rank;
        builder.begin_rank();
        for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
            const OpIndex send = builder.add({.size = size, .peer = (rank + distance) % ranks, .kind = OpKind::send});
            builder.add({.size = size, .peer = (rank + ranks - distance) % ranks, .kind = OpKind::recv});
            if (send > 0) {
                builder.require(send, send - 1, Edge::end);
            }
        }
    }
    return builder.finish();
}

TEST(Graph, TakesTenBytesAnOpOfADisseminationAndThirtyTwoForARanksState) {
    const Graph graph = dissemination(10'000, false);
    EXPECT_LT(graph.memory(), 10 * graph.op_count() + (1 << 20));
    EXPECT_LE(sizeof(Graph::State<Time>), 32U);
}

TEST(Graph, TakesFourBytesAnOpWhereRanksDifferInTheirValuesAlone) {
    const Graph graph = dissemination(10'000, true);
    EXPECT_LT(graph.memory(), 6 * graph.op_count() + (1 << 16));
}

TEST(Graph, KnowsOfAReceiveThatASendGoesAlong) {
    GraphBuilder builder;
    builder.begin_rank();
    const Op receive{.size = 8, .peer = 0, .tag = 1, .kind = OpKind::recv};
    const Op send{.size = 8, .peer = 0, .tag = 1, .kind = OpKind::send};
    Op larger = send;
    larger.size = 9;
    for (const Op& second : {send, larger}) {
        const OpIndex first = builder.add(receive);
        builder.require(builder.add(second), first, Edge::start);
    }
    // Nor where a third op waits for the receive's start, or the send for something else.
    const OpIndex shared = builder.add(receive);
    builder.require(builder.add(send), shared, Edge::start);
    builder.require(builder.add({.kind = OpKind::calc}), shared, Edge::start);
    const OpIndex both = builder.add(receive);
    builder.require(builder.add(send), both, Edge::start);
    builder.require(both + 1, 0, Edge::end);
    const Graph graph = builder.finish();
    std::vector<OpIndex> exchanges;
    for (OpIndex op_index = 0; op_index < graph.size(0); ++op_index) {
        if (graph.block(0).is_exchange(op_index)) {
            exchanges.push_back(op_index);
        }
    }
    EXPECT_EQ(exchanges, std::vector<OpIndex>{0});
}

/// Two ranks of a receive and a send, the second with these peers.
Graph two_ranks_alike(std::uint32_t source, std::uint32_t destination) {
    GraphBuilder builder;
    builder.append({.ops = {{.size = 8, .peer = 1, .kind = OpKind::recv}, {.size = 8, .peer = 1, .kind = OpKind::send}},
                    .requirements = {},
                    .labels = {}});
    builder.append_with_other_values(std::vector<std::uint32_t>{source, destination});
    return builder.finish();
}

TEST(GraphBuilder, ARankLikeTheOneBeforeMayReceiveFromAnyAndSendToRanksThatExist) {
    const Graph graph = two_ranks_alike(any, 0);
    EXPECT_EQ(graph.op(1, 0).peer, any);
    EXPECT_EQ(graph.op(1, 1).peer, 0U);
    EXPECT_EQ(graph.op(1, 1).size, 8U);
    for (const std::uint32_t nobody_there : {2U, any}) {
        for (const std::uint32_t source : {0U, any}) {
            try {
                two_ranks_alike(source, nobody_there);
                FAIL();
            } catch (const InputError& error) {
                EXPECT_EQ(error.what(),
                          "rank 1, op 1: its peer is rank " + std::to_string(nobody_there) + ", expected one below 2");
            }
        }
    }
}

TEST(GraphBuilder, NamesAnOpWhosePeerDoesNotExist) {
    GraphBuilder builder;
    builder.begin_rank();
    builder.add({.peer = 0, .kind = OpKind::send});
    builder.add({.peer = 1, .kind = OpKind::recv}, "far");
    try {
        builder.finish();
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "rank 0, far: its peer is rank 1, expected one below 1");
    }
}

}  // namespace
}  // namespace idlewave::goal
