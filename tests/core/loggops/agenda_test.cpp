#include "loggops/agenda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "dice.hpp"

namespace idlewave {
namespace {

using testing::Dice;

constexpr ClockLayout layout{.cpus = 2, .nics = 2};

using AnyRequest = Request<NoCookie>;

/// A request of the kinds that exist, with what those kinds need.
AnyRequest random_request(Dice& dice, Time now, std::uint32_t number) {
    constexpr std::array works{Work::receive_expected, Work::send_clear_to_send, Work::send, Work::post, Work::calc};
    AnyRequest request;
    request.turn = static_cast<Turn>(dice.roll(5));
    request.work = works[static_cast<std::size_t>(request.turn)];
    request.ready.at = now + dice.between(0, 8);
    request.ready.op_index = number;
    request.ready.op.peer = dice.small(3);
    const auto nic = static_cast<std::uint8_t>(dice.roll(2));
    request.first_need = ClockLayout::cpu(static_cast<std::uint8_t>(dice.roll(2)));
    request.second_need = request.first_need;
    if (request.turn == Turn::arrival) {
        request.second_need = layout.rx(nic);
    } else if (request.turn == Turn::protocol || request.turn == Turn::send) {
        request.second_need = layout.tx(nic);
    }
    return request;
}

/// The rule: earliest start, then ready time, turn, and messages by (peer, number) or ops by place.
auto rank_of(const AnyRequest& r, const std::vector<Time>& clocks) {
    const Time free = r.turn == Turn::post ? 0 : std::max(clocks[r.first_need], clocks[r.second_need]);
    const bool message = r.turn == Turn::arrival || r.turn == Turn::protocol;
    return std::tuple(std::max(r.ready.at, free), r.ready.at, r.turn, message ? r.ready.op.peer : 0, r.ready.op_index);
}

/// A rank's agenda, used as a rank does: opened and closed now and then.
class Used {
  public:
    void add(const AnyRequest& request, std::uint32_t performing) {
        if (agenda_.full()) {
            agenda_.use(queues_, performing);
        }
        agenda_.make() = request;
        agenda_.added();
    }
    void visit_anew() {
        const std::uint32_t pending = agenda_.close();
        agenda_.open(pending, queues_.empty() ? nullptr : &queues_);
    }
    Agenda<NoCookie>& agenda() { return agenda_; }

  private:
    RequestQueues<NoCookie> queues_;
    Agenda<NoCookie> agenda_;
};

constexpr std::uint32_t nothing = 31;

/// Adds and takes requests at random, never more than `most` waiting at a time; some are added while one is performed.
void expect_order(std::uint64_t seed, std::size_t most) {
    Dice dice(seed);
    Used used;
    std::vector<AnyRequest> waiting;
    std::vector<Time> clocks(layout.size());
    Time now = 0;
    std::uint32_t number = 0;
    const auto add = [&](std::uint32_t performing) {
        waiting.push_back(random_request(dice, now, number++));
        used.add(waiting.back(), performing);
    };
    for (int i = 0; i < 3000; ++i) {
        const bool growing = (i / 200) % 2 == 0;
        if (waiting.size() < most && (growing || dice.one_in(3))) {
            add(nothing);
        }
        if (dice.one_in(4)) {
            used.visit_anew();
        }
        if (waiting.empty() || (growing && !dice.one_in(3))) {
            continue;
        }
        const auto expected = std::min_element(
            waiting.begin(), waiting.end(),
            [&](const AnyRequest& a, const AnyRequest& b) { return rank_of(a, clocks) < rank_of(b, clocks); });
        const auto next = used.agenda().next(clocks.data());
        ASSERT_EQ(next.at, std::get<0>(rank_of(*expected, clocks)));
        const std::uint32_t slot = used.agenda().take(next.index);
        const AnyRequest& taken = used.agenda()[slot];
        ASSERT_EQ(rank_of(taken, clocks), rank_of(*expected, clocks));
        waiting.erase(expected);
        now = std::max(now, next.at);
        if (taken.turn != Turn::post) {
            clocks[taken.first_need] = next.at + dice.between(0, 5);
            clocks[taken.second_need] = next.at + dice.between(0, 5);
        }
        if (waiting.size() < most && dice.one_in(3)) {
            add(slot);
        }
        used.agenda().done(slot);
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

TEST(Agenda, SaysNeverWhenNothingWaits) {
    const std::vector<Time> clocks(layout.size());
    EXPECT_EQ(Agenda<NoCookie>().next(clocks.data()).at, never);
}

}  // namespace
}  // namespace idlewave
