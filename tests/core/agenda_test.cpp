#include "loggops/agenda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "dice.hpp"

namespace idlewave {
namespace {

using testing::Dice;

constexpr ClockLayout layout{.cpus = 2, .nics = 2};

/// A request of the kinds that exist, with what those kinds need.
Request random_request(Dice& dice, Time now, std::uint64_t number) {
    Request request{.ready = now + dice.between(0, 8),
                    .count = number,
                    .peer = dice.small(3),
                    .turn = static_cast<Turn>(dice.roll(5))};
    const auto cpu = static_cast<std::uint8_t>(dice.roll(2));
    const auto nic = static_cast<std::uint8_t>(dice.roll(2));
    request.first_need = request.turn == Turn::post ? std::uint16_t{0} : ClockLayout::cpu(cpu);
    switch (request.turn) {
        case Turn::arrival:
            request.second_need = layout.rx(nic);
            break;
        case Turn::protocol:
        case Turn::send:
            request.second_need = layout.tx(nic);
            break;
        default:
            break;
    }
    return request;
}

/// The rule: earliest start, then ready time, turn, and messages by (peer, number) or ops by place.
auto rank_of(const Request& r, const std::vector<Time>& clocks) {
    const Time start = std::max({r.ready, clocks[r.first_need], clocks[r.second_need]});
    const bool message = r.turn == Turn::arrival || r.turn == Turn::protocol;
    return std::tuple(start, r.ready, r.turn, message ? r.peer : 0, r.count);
}

/// Adds and takes requests at random, never more than `most` waiting at a time.
void expect_order(std::uint64_t seed, std::size_t most) {
    Dice dice(seed);
    Agenda agenda;
    std::vector<Request> waiting;
    std::vector<Time> clocks(layout.size());
    Time now = 0;
    std::uint64_t number = 0;
    for (int i = 0; i < 3000; ++i) {
        const bool growing = (i / 200) % 2 == 0;
        if (waiting.size() < most && (growing || dice.one_in(3))) {
            waiting.push_back(random_request(dice, now, number++));
            agenda.add(waiting.back());
        }
        if (waiting.empty() || (growing && !dice.one_in(3))) {
            continue;
        }
        const auto expected = std::min_element(waiting.begin(), waiting.end(), [&](const Request& a, const Request& b) {
            return rank_of(a, clocks) < rank_of(b, clocks);
        });
        const Agenda::Next next = agenda.next(clocks.data());
        ASSERT_EQ(next.at, std::get<0>(rank_of(*expected, clocks)));
        const Request taken = agenda.take(next.index);
        ASSERT_EQ(rank_of(taken, clocks), rank_of(*expected, clocks));
        now = std::max(now, next.at);
        for (const std::uint16_t clock : {taken.first_need, taken.second_need}) {
            if (clock != 0) {
                clocks[clock] = next.at + dice.between(0, 5);
            }
        }
        waiting.erase(expected);
    }
}

TEST(Agenda, AFewRequestsStartInOrder) {
    expect_order(1, 8);
}
TEST(Agenda, ManyRequestsStartInOrder) {
    expect_order(2, 300);
}
TEST(Agenda, RequestsStartInOrderWhereFewBecomeManyAndFewAgain) {
    expect_order(3, 12);
}

TEST(Agenda, SaysNeverWhenNothingWaits) {
    const std::vector<Time> clocks(layout.size());
    EXPECT_EQ(Agenda().next(clocks.data()).at, never);
}

}  // namespace
}  // namespace idlewave
