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

constexpr ResourceLayout layout{.cpus = 2, .nics = 2};

using AnyRequest = Request<NoCookie>;

/// A request of the kinds that exist, with what those kinds need.
AnyRequest random_request(Dice& dice, Time now, std::uint32_t number) {
    constexpr std::array works{RequestKind::receive_expected, RequestKind::send_clear_to_send, RequestKind::send,
                               RequestKind::post, RequestKind::calc};
    AnyRequest request;
    request.priority = static_cast<Priority>(dice.roll(5));
    request.kind = works[static_cast<std::size_t>(request.priority)];
    request.ready.at = now + dice.between(0, 8);
    request.ready.op_index = number;
    request.ready.op.peer = dice.small(3);
    const auto nic = static_cast<std::uint8_t>(dice.roll(2));
    request.first_resource = ResourceLayout::cpu(static_cast<std::uint8_t>(dice.roll(2)));
    request.second_resource = request.first_resource;
    if (request.priority == Priority::arrival) {
        request.second_resource = layout.rx(nic);
    } else if (request.priority == Priority::protocol || request.priority == Priority::send) {
        request.second_resource = layout.tx(nic);
    }
    return request;
}

/// The rule: earliest start, then ready time, turn, and messages by (peer, number) or ops by op index.
auto rank_of(const AnyRequest& r, const std::vector<Time>& free_times) {
    const Time free =
        r.priority == Priority::post ? 0 : std::max(free_times[r.first_resource], free_times[r.second_resource]);
    const bool message = r.priority == Priority::arrival || r.priority == Priority::protocol;
    return std::tuple(std::max(r.ready.at, free), r.ready.at, r.priority, message ? r.ready.op.peer : 0,
                      r.ready.op_index);
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
    std::vector<Time> free_times(layout.size());
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
            [&](const AnyRequest& a, const AnyRequest& b) { return rank_of(a, free_times) < rank_of(b, free_times); });
        const auto next = used.agenda().next(free_times.data());
        ASSERT_EQ(next.at, std::get<0>(rank_of(*expected, free_times)));
        const std::uint32_t slot = used.agenda().take(next.index);
        const AnyRequest& taken = used.agenda()[slot];
        ASSERT_EQ(rank_of(taken, free_times), rank_of(*expected, free_times));
        waiting.erase(expected);
        now = std::max(now, next.at);
        if (taken.priority != Priority::post) {
            free_times[taken.first_resource] = next.at + dice.between(0, 5);
            free_times[taken.second_resource] = next.at + dice.between(0, 5);
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
    const std::vector<Time> free_times(layout.size());
    EXPECT_EQ(Agenda<NoCookie>().next(free_times.data()).at, never);
}

}  // namespace
}  // namespace idlewave
