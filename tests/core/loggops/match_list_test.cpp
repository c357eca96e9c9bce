#include "loggops/match_list.hpp"

#include <gtest/gtest.h>

#include <list>

#include "dice.hpp"

namespace idlewave::loggops {
namespace {

using testing::Dice;

/// MPI's rule in its plainest form: a list, and the oldest that agrees.
class PlainQueue {
  public:
    void add(std::uint32_t source, std::uint32_t tag, std::uint32_t value) { entries_.push_back({source, tag, value}); }

    bool take(std::uint32_t source, std::uint32_t tag, std::uint32_t& value) {
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (matches(entry->source, source) && matches(entry->tag, tag)) {
                value = entry->value;
                entries_.erase(entry);
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] const auto& entries() const { return entries_; }

  private:
    struct Entry {
        std::uint32_t source, tag, value;
    };
    static bool matches(std::uint32_t a, std::uint32_t b) { return a == b || a == goal::any || b == goal::any; }
    std::list<Entry> entries_;
};

/// How often something is a wildcard, one in so many; 0: never.
struct Wild {
    std::uint64_t added_source, added_tag, asked_source, asked_tag;
};

std::uint32_t number(Dice& dice, std::uint32_t below, std::uint64_t one_in) {
    return one_in != 0 && dice.one_in(one_in) ? goal::any : dice.small(below);
}

template <class List>
void expect_like_plain(std::uint64_t seed, std::uint32_t keys, std::size_t most, const Wild& wild) {
    Dice dice(seed);
    List list;
    PlainQueue plain;
    for (std::uint32_t i = 0; i < 6000; ++i) {
        const bool growing = i / 500 % 2 == 0;
        if (plain.entries().size() < most && !dice.one_in(growing ? 4 : 2)) {
            const std::uint32_t source = number(dice, keys, wild.added_source);
            const std::uint32_t tag = number(dice, 3, wild.added_tag);
            list.add(source, tag, i);
            plain.add(source, tag, i);
        } else {
            const std::uint32_t source = number(dice, keys, wild.asked_source);
            const std::uint32_t tag = number(dice, 3, wild.asked_tag);
            std::uint32_t ours = 0;
            std::uint32_t theirs = 0;
            ASSERT_EQ(list.take(source, tag, ours), plain.take(source, tag, theirs)) << "step " << i;
            ASSERT_EQ(ours, theirs) << "step " << i;
        }
        ASSERT_EQ(list.size(), plain.entries().size());
        ASSERT_EQ(list.empty(), plain.entries().empty());
    }
    auto expected = plain.entries().begin();
    list.each([&expected](const auto& entry) { ASSERT_EQ(entry.value, (expected++)->value); });
    ASSERT_EQ(expected, plain.entries().end());
}

TEST(Matching, APostedReceiveIsTheOldestThatAgreesHoweverManyWait) {
    for (const std::uint32_t keys : {2U, 40U}) {
        for (const std::size_t most : {5U, 40U, 900U}) {
            expect_like_plain<PostedReceiveQueue<std::uint32_t>>(keys + most, keys, most, {0, 0, 0, 0});
            expect_like_plain<PostedReceiveQueue<std::uint32_t>>(keys + most, keys, most, {7, 9, 0, 0});
            expect_like_plain<PostedReceiveQueue<std::uint32_t>>(keys + most, keys, most, {7, 9, 0, 30});
        }
    }
}

TEST(Matching, AnUnexpectedMessageIsTheOldestThatAgreesHoweverManyWait) {
    for (const std::uint32_t keys : {2U, 40U}) {
        for (const std::size_t most : {5U, 40U, 900U}) {
            expect_like_plain<UnexpectedMessageQueue<std::uint32_t>>(keys + most, keys, most, {0, 0, 0, 0});
            expect_like_plain<UnexpectedMessageQueue<std::uint32_t>>(keys + most, keys, most, {0, 0, 7, 9});
            expect_like_plain<UnexpectedMessageQueue<std::uint32_t>>(keys + most, keys, most, {0, 200, 40, 40});
        }
    }
}

}  // namespace
}  // namespace idlewave::loggops
