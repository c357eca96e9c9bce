#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/pattern.hpp"
#include "dice.hpp"
#include "outcome.hpp"

namespace idlewave {
namespace {

constexpr std::uint32_t most_ranks = 33;

/// How often each rank's contribution is in what a rank has.
using Knowledge = std::vector<std::uint32_t>;

/// Carries an algorithm out on knowledge instead of data: a message brings all that its sender had when it sent. Joins
/// wait for the receives; what they brought is added where a reduction follows, else it replaces what was not known.
class Carrier {
  public:
    Carrier(const Algorithm& algorithm, std::uint32_t ranks, std::uint32_t root, std::uint64_t bytes)
        : algorithm_(algorithm) {
        for (std::uint32_t r = 0; r < ranks; ++r) {
            Rank rank;
            rank.call.rank = r;
            rank.call.size = ranks;
            rank.call.root = root;
            rank.call.bytes = bytes;
            rank.call.reduction_cost = 1;
            rank.knows.resize(ranks);
            rank.knows[r] = 1;
            ranks_.push_back(std::move(rank));
        }
    }

    /// Returns whether all ranks left the collective and every message was received.
    bool run() {
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
                while (step(r)) {
                    moved = true;
                }
            }
        }
        const auto done = [](const Rank& rank) { return rank.done && rank.awaited.empty(); };
        const auto empty = [](const auto& channel) { return channel.second.empty(); };
        return std::all_of(ranks_.begin(), ranks_.end(), done) &&
               std::all_of(channels_.begin(), channels_.end(), empty);
    }

    [[nodiscard]] const Knowledge& knows(std::uint32_t rank) const { return ranks_[rank].knows; }
    [[nodiscard]] std::uint64_t sent(std::uint32_t rank) const { return ranks_[rank].sent; }
    [[nodiscard]] std::uint64_t received(std::uint32_t rank) const { return ranks_[rank].received; }
    [[nodiscard]] bool sizes_agree() const { return sizes_agree_; }

  private:
    struct Awaited {
        std::uint32_t from;
        std::uint64_t bytes;
    };
    struct Rank {
        CollectiveCall call;
        Knowledge knows;
        std::uint64_t number = 0;
        std::vector<Awaited> awaited;
        std::vector<Knowledge> brought;  ///< by the receives before the last join
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        bool done = false;
    };
    struct Letter {
        Knowledge knowledge;
        std::uint64_t bytes;
    };

    void absorb(Rank& rank, bool adding) {
        for (const Knowledge& brought : rank.brought) {
            for (std::size_t i = 0; i < brought.size(); ++i) {
                rank.knows[i] = adding ? rank.knows[i] + brought[i] : std::max(rank.knows[i], brought[i]);
            }
        }
        rank.brought.clear();
    }

    /// Takes the letters that the awaited receives get; false if one is not there yet.
    bool join(std::uint32_t r) {
        Rank& rank = ranks_[r];
        std::map<std::uint32_t, std::size_t> wanted;
        for (const Awaited& awaited : rank.awaited) {
            if (channels_[{awaited.from, r}].size() < ++wanted[awaited.from]) {
                return false;
            }
        }
        for (const Awaited& awaited : rank.awaited) {
            auto& channel = channels_[{awaited.from, r}];
            sizes_agree_ = sizes_agree_ && channel.front().bytes == awaited.bytes;
            rank.received += awaited.bytes;
            rank.brought.push_back(std::move(channel.front().knowledge));
            channel.pop_front();
        }
        rank.awaited.clear();
        return true;
    }

    bool step(std::uint32_t r) {
        Rank& rank = ranks_[r];
        if (rank.done) {
            return false;
        }
        const Step step = algorithm_.step(rank.call, rank.number);
        if (step.kind == Step::Kind::join || step.kind == Step::Kind::done) {
            if (!join(r)) {
                return false;
            }
            if (step.kind == Step::Kind::done) {
                absorb(rank, false);
                rank.done = true;
                return true;
            }
        }
        if (step.kind == Step::Kind::op) {
            absorb(rank, step.op.kind == OpKind::calc);
            if (step.op.kind == OpKind::recv) {
                rank.awaited.push_back({step.op.peer, step.op.size});
            } else if (step.op.kind == OpKind::send) {
                channels_[{r, step.op.peer}].push_back({rank.knows, step.op.size});
                rank.sent += step.op.size;
            }
        }
        rank.number = step.next;
        return true;
    }

    const Algorithm& algorithm_;
    std::vector<Rank> ranks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Letter>> channels_;
    bool sizes_agree_ = true;
};

struct Known {
    Collective collective;
    std::string_view name;
};

bool is_rooted(Collective c) {
    return c == Collective::bcast || c == Collective::reduce || c == Collective::gather || c == Collective::scatter;
}

bool is_scan(Collective c) {
    return c == Collective::scan || c == Collective::exscan;
}

/// Whether `rank` must have the contribution of `of` when the collective is over.
bool promised(Collective c, std::uint32_t rank, std::uint32_t of, std::uint32_t root) {
    switch (c) {
        case Collective::bcast:
        case Collective::scatter:
            return of == root;
        case Collective::reduce:
        case Collective::gather:
            return rank == root;
        case Collective::scan:
        case Collective::exscan:
            return of <= rank;
        default:
            return true;
    }
}

class EveryAlgorithm : public ::testing::TestWithParam<std::size_t> {
  protected:
    [[nodiscard]] static const Algorithm& tested() { return algorithms()[GetParam()]; }
    [[nodiscard]] static std::vector<std::uint32_t> roots(std::uint32_t ranks) {
        return is_rooted(tested().collective) ? std::vector{0U, ranks / 2, ranks - 1} : std::vector{0U};
    }
};

INSTANTIATE_TEST_SUITE_P(Collectives, EveryAlgorithm, ::testing::Range(std::size_t{0}, algorithms().size()),
                         [](const auto& test) {
                             const Algorithm& a = algorithms()[test.param];
                             return std::string(name_of(a.collective)) + "_" + std::string(a.name);
                         });

TEST_P(EveryAlgorithm, EndsAndEveryRankHasWhatTheCollectivePromises) {
    for (std::uint32_t P = 1; P <= most_ranks; ++P) {
        for (const std::uint32_t root : roots(P)) {
            Carrier carrier(tested(), P, root, 4096);
            ASSERT_TRUE(carrier.run()) << P << " ranks: a rank waits for ever, or a message is left";
            ASSERT_TRUE(carrier.sizes_agree()) << P << " ranks: a receive expects another size than is sent";
            for (std::uint32_t r = 0; r < P; ++r) {
                for (std::uint32_t of = 0; of < P; ++of) {
                    const bool has = carrier.knows(r)[of] > 0;
                    ASSERT_TRUE(has || !promised(tested().collective, r, of, root))
                        << P << " ranks, root " << root << ": rank " << r << " lacks what rank " << of << " gave";
                    ASSERT_TRUE(!is_scan(tested().collective) || has == (of <= r))
                        << "a scan takes no later rank's part";
                }
            }
        }
    }
}

TEST_P(EveryAlgorithm, DoesNotDeadlockEagerOrByRendezvous) {
    for (std::uint32_t P = 1; P <= most_ranks; ++P) {
        for (const std::uint64_t S : {Level::always_eager, std::uint64_t{0}}) {
            Machine machine = testing::simple_machine(1000, 200, 300, 1, 0.5);
            machine.network.S = S;
            const ProgramSource source = pattern(tested(), P, 1000, 0.1);
            ASSERT_NO_THROW(testing::finish_of(source, machine)) << P << " ranks, S = " << S;
        }
    }
}

TEST_P(EveryAlgorithm, SendsTheBytesThatItsOperationNeeds) {
    constexpr std::uint64_t bytes = 33 * 64 + 5;
    for (std::uint32_t P = 1; P <= most_ranks; ++P) {
        Carrier carrier(tested(), P, 0, bytes);
        ASSERT_TRUE(carrier.run());
        const std::uint64_t others = (P - 1) * bytes;
        for (std::uint32_t r = 0; r < P; ++r) {
            switch (tested().collective) {
                case Collective::bcast:
                    ASSERT_EQ(carrier.received(r), r == 0 ? 0 : bytes);
                    break;
                case Collective::reduce:
                    ASSERT_EQ(carrier.sent(r), r == 0 ? 0 : bytes);
                    break;
                case Collective::gather:
                    ASSERT_TRUE(r != 0 || carrier.received(r) == others) << "the root gets a part from each";
                    break;
                case Collective::scatter:
                    ASSERT_TRUE(r != 0 || carrier.sent(r) == others) << "the root gives a part to each";
                    break;
                case Collective::allgather:
                    ASSERT_EQ(carrier.received(r), others);
                    break;
                case Collective::alltoall:
                    ASSERT_EQ(carrier.received(r), others);
                    ASSERT_EQ(carrier.sent(r), others);
                    break;
                case Collective::reduce_scatter:
                    ASSERT_EQ(carrier.sent(r), bytes - bytes / P - (r < bytes % P ? 1 : 0)) << "all but its own block";
                    break;
                default:
                    break;
            }
        }
    }
}

class ReducingAlgorithm : public ::testing::TestWithParam<Known> {};

INSTANTIATE_TEST_SUITE_P(
    Collectives, ReducingAlgorithm,
    ::testing::Values(Known{Collective::reduce, "binomial"}, Known{Collective::reduce, "linear"},
                      Known{Collective::allreduce, "recursive_doubling"}, Known{Collective::allreduce, "rabenseifner"},
                      Known{Collective::allreduce, "reduce_bcast"}, Known{Collective::scan, "recursive_doubling"},
                      Known{Collective::scan, "linear"}),
    [](const auto& test) { return std::string(name_of(test.param.collective)) + "_" + std::string(test.param.name); });

TEST_P(ReducingAlgorithm, TakesEveryContributionOnce) {
    const Algorithm& tested = algorithm(GetParam().collective, GetParam().name);
    for (std::uint32_t P = 1; P <= most_ranks; ++P) {
        Carrier carrier(tested, P, 0, 1'048'576);
        ASSERT_TRUE(carrier.run());
        for (std::uint32_t r = 0; r < (tested.collective == Collective::reduce ? 1 : P); ++r) {
            for (std::uint32_t of = 0; of < P; ++of) {
                ASSERT_EQ(carrier.knows(r)[of], promised(tested.collective, r, of, 0) ? 1U : 0U)
                    << P << " ranks: rank " << r << ", contribution of " << of;
            }
        }
    }
}

TEST(Allreduce, TheRingSendsTwiceTheVectorLessOneBlock) {
    for (std::uint32_t P = 1; P <= most_ranks; ++P) {
        Carrier carrier(algorithm(Collective::allreduce, "ring"), P, 0, 1000);
        ASSERT_TRUE(carrier.run());
        std::uint64_t sent = 0;
        for (std::uint32_t r = 0; r < P; ++r) {
            sent += carrier.sent(r);
        }
        ASSERT_EQ(sent, 2 * std::uint64_t{P - 1} * 1000);
    }
}

TEST(Allreduce, RabenseifnersSendsTwiceTheVectorLessOneBlockOnAPowerOfTwo) {
    for (const std::uint32_t P : {1U, 2U, 4U, 8U, 32U}) {
        Carrier carrier(algorithm(Collective::allreduce, "rabenseifner"), P, 0, 4096);
        ASSERT_TRUE(carrier.run());
        for (std::uint32_t r = 0; r < P; ++r) {
            ASSERT_EQ(carrier.sent(r), 2 * (4096 - 4096 / P));
        }
    }
}

/// The v-variants: each rank says how much goes to, or comes from, every other.
TEST(Alltoall, SendsWhatTheCountsSay) {
    constexpr std::uint32_t P = 5;
    const auto bytes = [](std::uint32_t from, std::uint32_t to) { return std::uint64_t{10 * from + to + 1}; };
    for (const char* name : {"linear", "pairwise"}) {
        const Algorithm& tested = algorithm(Collective::alltoall, name);
        for (std::uint32_t r = 0; r < P; ++r) {
            std::vector<std::uint64_t> to;
            std::vector<std::uint64_t> from;
            for (std::uint32_t peer = 0; peer < P; ++peer) {
                to.push_back(bytes(r, peer));
                from.push_back(bytes(peer, r));
            }
            const CollectiveCall call{.rank = r,
                                      .size = P,
                                      .root = 0,
                                      .bytes = 0,
                                      .send_counts = to,
                                      .recv_counts = from,
                                      .reduction_cost = 0};
            std::uint32_t seen = 0;
            for (Step s = tested.step(call, 0); s.kind != Step::Kind::done; s = tested.step(call, s.next)) {
                if (s.kind == Step::Kind::op) {
                    ASSERT_EQ(s.op.size, s.op.kind == OpKind::send ? bytes(r, s.op.peer) : bytes(s.op.peer, r));
                    ++seen;
                }
            }
            ASSERT_EQ(seen, 2 * (P - 1));
        }
    }
}

TEST(Algorithms, OfEachCollectiveTheFirstIsTheDefault) {
    EXPECT_EQ(algorithm(Collective::gather, "").name, "linear");
    EXPECT_EQ(algorithm(Collective::scatter, "").name, "linear");
    EXPECT_EQ(algorithm(Collective::barrier, "").name, "dissemination");
    for (const Algorithm& a : algorithms()) {
        EXPECT_NO_THROW(algorithm(a.collective, ""));
        EXPECT_EQ(collective(name_of(a.collective)), a.collective);
        EXPECT_EQ(algorithm(a.collective, a.name).step, a.step);
        EXPECT_FALSE(a.source.empty());
    }
}

TEST(Algorithms, AnUnknownNameIsAnErrorThatListsTheNames) {
    try {
        algorithm(Collective::gather, "magic");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "no algorithm for gather is called 'magic'; there are linear, binomial");
    }
    EXPECT_THROW(collective("magic"), InputError);
}

}  // namespace
}  // namespace idlewave
