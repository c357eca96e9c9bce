#include "loggops/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <vector>

#include "dice.hpp"

namespace idlewave::loggops {
namespace {

using testing::Dice;
using TestedMatching = Matching<goal::NoCookie, Time>;
using State = MatchState<goal::NoCookie>;

/// MPI's rule (R9) in its plainest form: two lists, of which the oldest entry that agrees is taken.
struct PlainMatching {
    struct Entry {
        std::uint32_t source, tag, number;
    };
    std::list<Entry> posted;
    std::list<Entry> unexpected;

    static std::uint32_t take(std::list<Entry>& entries, std::uint32_t source, std::uint32_t tag) {
        const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
            return goal::matches(entry.source, source) && goal::matches(entry.tag, tag);
        });
        if (found == entries.end()) {
            return 0;
        }
        const std::uint32_t number = found->number;
        entries.erase(found);
        return number;
    }
};

/// One rank whose matching is compared with the plain rule.
class MatchedRank {
  public:
    explicit MatchedRank(TestedMatching& matching) : matching_(matching) {}

    void message_arrives(std::uint32_t source, std::uint32_t tag) {
        StartedOp<goal::NoCookie> receive;
        const std::uint32_t expected = PlainMatching::take(plain_.posted, source, tag);
        ASSERT_EQ(matching_.take_posted(state_, source, tag, receive), expected != 0);
        if (expected != 0) {
            ASSERT_EQ(receive.op_index, expected);
            return;
        }
        plain_.unexpected.push_back({source, tag, ++number_});
        matching_.add_unexpected(state_, matching_.add({.source = source, .tag = tag, .sequence = number_}));
    }

    void receive_is_posted(std::uint32_t source, std::uint32_t tag) {
        std::uint32_t handle = 0;
        const std::uint32_t expected = PlainMatching::take(plain_.unexpected, source, tag);
        ASSERT_EQ(matching_.post(state_, {.op_index = ++number_}, source, tag, handle), expected != 0);
        if (expected == 0) {
            plain_.posted.push_back({source, tag, number_});
            return;
        }
        ASSERT_EQ(matching_[handle].sequence, expected);
        matching_.remove(handle);
    }

    void leave() { matching_.leave(state_); }

    void expect_same_queues() const {
        ASSERT_EQ(matching_.posted_receives(state_), plain_.posted.size());
        ASSERT_EQ(matching_.unexpected_messages(state_), plain_.unexpected.size());
        auto posted = plain_.posted.begin();
        matching_.each_posted(state_,
                              [&](std::uint32_t source, std::uint32_t tag, const StartedOp<goal::NoCookie>& receive) {
                                  ASSERT_EQ(source, posted->source);
                                  ASSERT_EQ(tag, posted->tag);
                                  ASSERT_EQ(receive.op_index, (posted++)->number);
                              });
        auto unexpected = plain_.unexpected.begin();
        matching_.each_unexpected(
            state_, [&](std::uint32_t handle) { ASSERT_EQ(matching_[handle].sequence, (unexpected++)->number); });
    }

    [[nodiscard]] State& state() { return state_; }

  private:
    TestedMatching& matching_;
    State state_;
    PlainMatching plain_;
    std::uint32_t number_ = 0;
};

TEST(Matching, FollowsMpisRuleHoweverManyReceivesAndMessagesWait) {
    for (const std::uint32_t wait : {1U, 2U, 4U, 60U}) {
        TestedMatching matching;
        std::vector<MatchedRank> ranks(5, MatchedRank(matching));
        Dice dice(wait);
        for (int i = 0; i < 8000; ++i) {
            MatchedRank& rank = ranks[dice.roll(ranks.size())];
            const bool receives = (i / (20 * wait)) % 2 == 0 ? dice.one_in(3) : !dice.one_in(3);
            const std::uint32_t source = dice.small(3);
            const std::uint32_t tag = dice.small(3);
            if (receives) {
                rank.receive_is_posted(dice.one_in(5) ? goal::any : source, dice.one_in(5) ? goal::any : tag);
            } else {
                rank.message_arrives(source, tag);
            }
            if (dice.one_in(2)) {
                rank.leave();
            }
            rank.expect_same_queues();
        }
    }
}

TEST(Matching, ARankWithOneReceiveAndEightMessagesNeedsNoOverflow) {
    TestedMatching matching;
    MatchedRank rank(matching);
    rank.receive_is_posted(1, 7);
    for (std::uint32_t source = 2; source < 10; ++source) {
        rank.message_arrives(source, 7);
    }
    EXPECT_FALSE(matching.has_overflow(rank.state()));
    EXPECT_EQ(matching.overflows(), 0U);
    EXPECT_EQ(matching.arrived_messages(), 8U);
    rank.message_arrives(10, 7);
    EXPECT_TRUE(matching.has_overflow(rank.state()));
    EXPECT_EQ(matching.overflows(), 1U);
    for (std::uint32_t source = 2; source <= 10; ++source) {
        rank.receive_is_posted(source, 7);
    }
    rank.leave();
    EXPECT_FALSE(matching.has_overflow(rank.state())) << "it is freed when the worker leaves the rank";
    EXPECT_EQ(matching.overflows(), 0U);
    EXPECT_EQ(matching.arrived_messages(), 0U);
    rank.expect_same_queues();
}

TEST(Matching, AMessageLeavesItsListFromAnyPlaceAndANewOneGoesToTheEnd) {
    TestedMatching matching;
    MatchedRank rank(matching);
    for (std::uint32_t source = 1; source <= 8; ++source) {
        rank.message_arrives(source, 7);
    }
    for (const std::uint32_t source : {5U, 8U, goal::any}) {
        rank.receive_is_posted(source, 7);
        rank.expect_same_queues();
    }
    rank.message_arrives(9, 7);
    rank.expect_same_queues();
    EXPECT_FALSE(matching.has_overflow(rank.state()));
}

TEST(Matching, TheOldestReceiveStaysInTheRankWhileOthersArePosted) {
    TestedMatching matching;
    MatchedRank rank(matching);
    rank.receive_is_posted(1, 7);
    rank.receive_is_posted(2, 7);
    EXPECT_TRUE(matching.has_overflow(rank.state()));
    rank.message_arrives(2, 7);
    rank.leave();
    EXPECT_FALSE(matching.has_overflow(rank.state()));
    EXPECT_EQ(matching.posted_receives(rank.state()), 1U);
    rank.message_arrives(1, 7);
    rank.expect_same_queues();
    EXPECT_TRUE(rank.state().empty());
}

TEST(Matching, AMessageIsReceivedOnceItIsProcessedUnlessItIsARequestToSend) {
    TestedMatching matching;
    EXPECT_TRUE(matching.is_received(matching.add({.processed = true})));
    EXPECT_FALSE(matching.is_received(matching.add({.processed = false})));
    EXPECT_FALSE(matching.is_received(matching.add({.kind = MessageKind::request_to_send, .processed = true})));
}

TEST(Matching, ARestoredReceiveIsPostedAlthoughAMessageWaits) {
    TestedMatching matching;
    State state;
    matching.add_unexpected(state, matching.add({.source = 1, .tag = 1}));
    for (std::uint32_t place = 1; place <= 3; ++place) {
        matching.add_posted(state, 1, 1, {.op_index = place});
    }
    EXPECT_EQ(matching.posted_receives(state), 3U);
    EXPECT_EQ(matching.unexpected_messages(state), 1U);
    StartedOp<goal::NoCookie> oldest;
    EXPECT_TRUE(matching.take_posted(state, 1, 1, oldest));
    EXPECT_EQ(oldest.op_index, 1U);
    matching.clear(state);
    EXPECT_TRUE(state.empty());
}

}  // namespace
}  // namespace idlewave::loggops
