#include "loggops/agenda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "dice.hpp"

namespace idlewave::loggops {
namespace {

using testing::Dice;

constexpr ResourceLayout layout{.cpus = 2, .nics = 2};

using AnyRequest = Request<goal::NoCookie>;

/// A request of each kind that exists, with the resources that this kind needs.
AnyRequest random_request(Dice& dice, Time now, std::uint32_t number) {
    constexpr std::array kinds{RequestKind::transmit_by_nic,
                               RequestKind::receive_expected,
                               RequestKind::send_clear_to_send,
                               RequestKind::send,
                               RequestKind::post,
                               RequestKind::calc};
    AnyRequest request;
    request.priority = static_cast<Priority>(dice.roll(6));
    request.kind = kinds[static_cast<std::size_t>(request.priority)];
    request.ready.at = now + dice.between(0, 8);
    request.ready.op_index = number;
    request.sequence = number;
    request.request_id = number;
    request.ready.op.peer = dice.small(3);
    const auto nic = static_cast<std::uint8_t>(dice.roll(2));
    request.first_resource = ResourceLayout::cpu(static_cast<std::uint8_t>(dice.roll(2)));
    request.second_resource = request.first_resource;
    if (request.priority == Priority::arrival) {
        request.second_resource = layout.rx(nic);
    } else if (request.priority == Priority::nic_transmission) {
        request.first_resource = request.second_resource = layout.tx(nic);
    } else if (request.priority == Priority::protocol || request.priority == Priority::send) {
        request.second_resource = layout.tx(nic);
    }
    return request;
}

/// R14 and R15: earliest start, then ready time, priority, and messages by (peer, sequence) or ops by op index.
auto order_of(const AnyRequest& r, const std::vector<Time>& free_times) {
    const Time free =
        r.priority == Priority::post ? 0 : std::max(free_times[r.first_resource], free_times[r.second_resource]);
    const bool message = r.priority == Priority::arrival || r.priority == Priority::protocol;
    return std::tuple(std::max(r.ready.at, free), r.ready.at, r.priority, message ? r.ready.op.peer : 0,
                      r.ready.op_index);
}

/// The agenda of one rank, closed and opened now and then.
class OneRank {
  public:
    void add(const AnyRequest& request) {
        agenda_.make() = request;
        agenda_.added();
    }
    /// `waiting`: the number of pending requests.
    void close_and_open(std::size_t waiting) {
        pending_ = agenda_.close();
        std::size_t requests = 0;
        agenda_.each(pending_, [&](const AnyRequest&) { ++requests; });
        EXPECT_EQ(requests, waiting);
        EXPECT_EQ(pending_.none(), waiting == 0);
        EXPECT_EQ(agenda_.any_pending(), waiting > 0);
        EXPECT_EQ(agenda_.any_queued(), pending_.several());
        agenda_.open(pending_);
    }
    Agenda<goal::NoCookie>& agenda() { return agenda_; }

  private:
    Agenda<goal::NoCookie> agenda_;
    PendingRequests pending_;
};

/// Adds and takes requests at random, never more than `most` at a time; some are added while one starts.
void expect_order(std::uint64_t seed, std::size_t most) {
    Dice dice(seed);
    OneRank rank;
    std::vector<AnyRequest> waiting;
    std::vector<Time> free_times(layout.size());
    Time now = 0;
    std::uint32_t number = 0;
    const auto add = [&] {
        waiting.push_back(random_request(dice, now, number++));
        rank.add(waiting.back());
    };
    for (int i = 0; i < 3000; ++i) {
        const bool growing = (i / 200) % 2 == 0;
        if (waiting.size() < most && (growing || dice.one_in(3))) {
            add();
        }
        if (dice.one_in(4)) {
            rank.close_and_open(waiting.size());
        }
        if (waiting.empty() || (growing && !dice.one_in(3))) {
            continue;
        }
        const auto expected =
            std::min_element(waiting.begin(), waiting.end(), [&](const AnyRequest& a, const AnyRequest& b) {
                return order_of(a, free_times) < order_of(b, free_times);
            });
        const auto next = rank.agenda().next(free_times.data());
        ASSERT_EQ(next.at, std::get<0>(order_of(*expected, free_times)));
        const std::uint32_t taken_number = rank.agenda().take(next.queue);
        const AnyRequest& taken = rank.agenda()[taken_number];
        ASSERT_EQ(order_of(taken, free_times), order_of(*expected, free_times));
        waiting.erase(expected);
        now = std::max(now, next.at);
        if (taken.priority != Priority::post) {
            free_times[taken.first_resource] = next.at + dice.between(0, 5);
            free_times[taken.second_resource] = next.at + dice.between(0, 5);
        }
        if (waiting.size() < most && dice.one_in(3)) {
            add();
        }
        rank.agenda().done(taken_number);
    }
}

TEST(Agenda, AFewRequestsStartInOrder) {
    expect_order(1, 8);
}
TEST(Agenda, ManyRequestsStartInOrder) {
    expect_order(2, 300);
}
TEST(Agenda, RequestsStartInOrderWhereFewBecomeManyAndFewAgain) {
    expect_order(3, 16);
}

/// Twice as many in any of these orders would take four times as long if each walked past the others.
TEST(Agenda, ManyRequestsAreAddedInAnyOrderOfTheirReadyTimes) {
    constexpr std::uint32_t count = 200'000;
    constexpr std::uint32_t far = 1'000'000;
    for (int order = 0; order < 3; ++order) {
        Agenda<goal::NoCookie> agenda;
        const std::vector<Time> free_times(layout.size());
        agenda.open({});
        for (std::uint32_t i = 0; i < count; ++i) {
            AnyRequest& request = agenda.make() = {};
            request.ready.op_index = i;
            request.ready.at = i == 0 ? 0 : order == 0 ? far - i : i < count / 2 ? far + i : order == 1 ? i : far - i;
            agenda.added();
        }
        Time last = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t request = agenda.take(agenda.next(free_times.data()).queue);
            ASSERT_GE(agenda[request].ready.at, last);
            last = agenda[request].ready.at;
            agenda.done(request);
        }
        EXPECT_TRUE(agenda.idle());
    }
}

TEST(Agenda, WhatIsDiscardedIsUsedAgain) {
    Agenda<goal::NoCookie> agenda;
    for (int time = 0; time < 100; ++time) {
        agenda.open({});
        for (std::uint16_t i = 0; i < 40; ++i) {
            AnyRequest& request = agenda.make() = {};
            request.first_resource = request.second_resource = i % 5;
            request.handle = 1;
            agenda.added();
        }
        std::uint32_t sum = 0;
        const PendingRequests pending = agenda.close();
        agenda.each(pending, [&](const AnyRequest& request) { sum += request.handle; });
        EXPECT_EQ(sum, 40U);
        agenda.discard(pending);
    }
}

TEST(Agenda, HasNoNextRequestWhenNoneIsPending) {
    const std::vector<Time> free_times(layout.size());
    EXPECT_EQ(Agenda<goal::NoCookie>().next(free_times.data()).at, never);
}

TEST(Agenda, KeepsTheRequestsOfEachRankApart) {
    Agenda<goal::NoCookie> agenda;
    const std::vector<Time> free_times(layout.size());
    std::array<PendingRequests, 3> ranks;
    const std::array<std::uint32_t, 3> counts{1, 5, 40};
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        agenda.open(ranks[rank]);
        for (std::uint32_t place = 0; place < counts[rank]; ++place) {
            AnyRequest& request = agenda.make() = {};
            request.ready.op_index = 100 * rank + place;
            agenda.added();
        }
        ranks[rank] = agenda.close();
    }
    EXPECT_FALSE(ranks[1].many());
    EXPECT_TRUE(ranks[2].many());
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        agenda.open(ranks[rank]);
        for (std::uint32_t place = 0; place < counts[rank]; ++place) {
            const std::uint32_t taken_number = agenda.take(agenda.next(free_times.data()).queue);
            EXPECT_EQ(agenda[taken_number].ready.op_index, 100 * rank + place);
            agenda.done(taken_number);
        }
        EXPECT_TRUE(agenda.idle());
        EXPECT_TRUE(agenda.close().none());
    }
}

TEST(Agenda, AClearToSendAndDataThatAreEqualOtherwiseStartInTheOrderOfTheirRequests) {
    AnyRequest clear;
    clear.priority = Priority::protocol;
    AnyRequest data = clear;
    clear.request_id = 0xffffffff;
    data.request_id = 0;  // 2^32, so it is the later one
    EXPECT_TRUE(clear.before(data));
    EXPECT_FALSE(data.before(clear));
}

}  // namespace
}  // namespace idlewave::loggops
