#include "pdes/gvt.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "pdes/partition_transport.hpp"

namespace idlewave {
namespace {

struct NoPayload {};
using GvtTransport = pdes::PartitionTransport<NoPayload>;
using pdes::Gvt;

/// Two partitions, of which each has its part in finding GVT.
struct TwoPartitions {
    GvtTransport transport{2};
    std::array<GvtTransport::Endpoint, 2> endpoints{GvtTransport::Endpoint{transport, 0},
                                                    GvtTransport::Endpoint{transport, 1}};
    std::array<Gvt, 2> gvts;
    std::array<Gvt::Contribution, 2> own;

    void begin_rounds() {
        for (std::uint32_t i : {0U, 1U}) {
            gvts[i].begin_round(endpoints[i], own[i]);
        }
    }
    bool poll(std::uint32_t i) {
        return gvts[i].poll(endpoints[i], [&] { return own[i]; });
    }
};

TEST(Gvt, IsTheEarliestPendingEventOfAll) {
    TwoPartitions all;
    all.own[0] = {.first_pending = 7, .executed = 100};
    all.own[1] = {.first_pending = 4, .executed = 20};
    EXPECT_FALSE(all.poll(0)) << "there is no round yet";
    all.gvts[0].begin_round(all.endpoints[0], all.own[0]);
    EXPECT_FALSE(all.poll(0)) << "the other partition has not contributed";
    all.gvts[1].begin_round(all.endpoints[1], all.own[1]);
    for (std::uint32_t i : {0U, 1U}) {
        EXPECT_TRUE(all.gvts[i].in_round());
        EXPECT_TRUE(all.poll(i));
        EXPECT_FALSE(all.gvts[i].in_round());
        EXPECT_EQ(all.gvts[i].cell(), 4);
        EXPECT_EQ(all.gvts[i].first_sent(), Gvt::nothing);
        EXPECT_EQ(all.gvts[i].cut().executed, 120);
        EXPECT_EQ(all.gvts[i].cut().busiest, -100);
        EXPECT_EQ(all.gvts[i].rounds(), 1U);
    }
}

TEST(Gvt, WaitsForBatchesInTransit) {
    TwoPartitions all;
    all.own[0] = {.first_pending = 9};
    all.own[1] = {.first_pending = 8};
    const std::uint32_t epoch = all.gvts[0].epoch();
    all.gvts[0].note_sent(3);
    all.gvts[0].count_sent_batch();
    all.begin_rounds();
    for (int again = 0; again < 3; ++again) {
        EXPECT_FALSE(all.poll(0)) << "the batch is in transit";
        EXPECT_FALSE(all.poll(1));
    }
    all.gvts[1].count_received_batch(epoch);
    all.own[1].first_pending = 3;
    // Both have contributed to the present cut before the batch arrived, and contribute once more.
    EXPECT_FALSE(all.poll(0));
    EXPECT_FALSE(all.poll(1));
    EXPECT_TRUE(all.poll(0));
    EXPECT_TRUE(all.poll(1));
    EXPECT_EQ(all.gvts[0].cell(), 3);
    EXPECT_EQ(all.gvts[1].cell(), 3);
}

TEST(Gvt, IsNotAfterAnEventThatWasSentSinceTheRoundBegan) {
    TwoPartitions all;
    all.own[0] = {.first_pending = 9};
    all.own[1] = {.first_pending = 8};
    all.gvts[0].begin_round(all.endpoints[0], all.own[0]);
    all.gvts[0].note_sent(5);  // in the new epoch: the round does not wait for its batch
    all.gvts[0].count_sent_batch();
    all.gvts[1].begin_round(all.endpoints[1], all.own[1]);
    EXPECT_TRUE(all.poll(0));
    EXPECT_TRUE(all.poll(1));
    EXPECT_EQ(all.gvts[0].cell(), 8) << "this partition contributed before it sent the event";
    all.gvts[1].count_received_batch(all.gvts[0].epoch());
    all.own[1].first_pending = 5;
    all.begin_rounds();
    EXPECT_TRUE(all.poll(0));
    EXPECT_EQ(all.gvts[0].cell(), 5);
}

TEST(Gvt, SaysWhetherAPartitionWantsAPause) {
    TwoPartitions all;
    all.begin_rounds();
    EXPECT_TRUE(all.poll(0));
    EXPECT_TRUE(all.poll(1));
    EXPECT_NE(all.gvts[0].cut().continues, 0);
    EXPECT_EQ(all.gvts[0].cell(), Gvt::nothing) << "no event is left";
    all.own[1].wants_pause = true;
    all.begin_rounds();
    EXPECT_TRUE(all.poll(0));
    EXPECT_EQ(all.gvts[0].cut().continues, 0);
}

}  // namespace
}  // namespace idlewave
