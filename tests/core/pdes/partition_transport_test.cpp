#include "pdes/partition_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "base/error.hpp"
#include "pdes/event.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/transport.h"

namespace idlewave {
namespace {

struct Word {
    std::uint64_t value = 0;
};
using Transport = pdes::PartitionTransport<Word>;
using Endpoint = Transport::Endpoint;

/// What lies between two processes that are in fact one: messages on their way, and contributions to cuts.
struct Wire {
    std::array<std::deque<std::vector<std::byte>>, 2> messages;  ///< to each process
    std::array<std::deque<idlewave_cut>, 2> contributions;       ///< of each process
    std::array<std::size_t, 2> cuts_seen = {};
    bool is_cut = false;
};
Wire wire;

/// The transport of process `self` of the two.
template <int self>
idlewave_transport process() {
    idlewave_transport transport{};
    transport.process = self;
    transport.processes = 2;
    transport.send = [](std::int32_t to, const void* bytes, std::size_t size, std::int32_t* ticket) {
        const auto* begin = static_cast<const std::byte*>(bytes);
        wire.messages[static_cast<std::size_t>(to)].emplace_back(begin, begin + size);
        *ticket = 0;
        return wire.is_cut ? 1 : 0;
    };
    transport.sent = [](std::int32_t /*ticket*/, std::int32_t* done) {
        *done = 1;
        return 0;
    };
    transport.probe = [](std::int64_t* size) {
        *size = wire.messages[self].empty() ? -1 : static_cast<std::int64_t>(wire.messages[self].front().size());
        return 0;
    };
    transport.receive = [](void* bytes) {
        std::memcpy(bytes, wire.messages[self].front().data(), wire.messages[self].front().size());
        wire.messages[self].pop_front();
        return 0;
    };
    transport.contribute = [](const idlewave_cut* own) {
        wire.contributions[self].push_back(*own);
        return 0;
    };
    transport.completed = [](idlewave_cut* cut, std::int32_t* done) {
        const std::size_t round = wire.cuts_seen[self];
        *done = std::min(wire.contributions[0].size(), wire.contributions[1].size()) > round ? 1 : 0;
        if (*done != 0) {
            const idlewave_cut& a = wire.contributions[0][round];
            const idlewave_cut& b = wire.contributions[1][round];
            for (std::size_t i = 0; i < 2; ++i) {
                cut->sum[i] = a.sum[i] + b.sum[i];
            }
            for (std::size_t i = 0; i < 4; ++i) {
                cut->least[i] = std::min(a.least[i], b.least[i]);
            }
            ++wire.cuts_seen[self];
        }
        return 0;
    };
    transport.error_text = [] { return "the wire is cut"; };
    return transport;
}

/// Partitions 0 and 1 are in the first process, 2 and 3 in the second.
class TwoProcesses : public ::testing::Test {
  protected:
    TwoProcesses() { wire = {}; }

    static void send(Endpoint& from, std::uint32_t to, std::uint64_t value) {
        pdes::MessageBatch<Word>* batch = from.empty_batch();
        batch->epoch = 7;
        batch->events.push_back({.time = 5, .lp = 3, .source = 2, .sequence = 1, .code = pdes::QueuedEvent::pooled});
        batch->payloads.push_back({value});
        from.send(to, batch);
    }
    /// The payload of the next batch, or 0 if there is none.
    static std::uint64_t receive(Endpoint& at) {
        pdes::MessageBatch<Word>* batch = at.receive();
        if (batch == nullptr) {
            return 0;
        }
        EXPECT_EQ(batch->epoch, 7U);
        EXPECT_EQ(batch->events.size(), 1U);
        EXPECT_EQ(batch->events.at(0).lp, 3U);
        const std::uint64_t value = batch->payloads.at(0).value;
        at.release(batch);
        return value;
    }

    idlewave_transport first_process = process<0>();
    idlewave_transport second_process = process<1>();
    Transport first{2, &first_process};
    Transport second{2, &second_process};
    std::array<Endpoint, 4> endpoints{Endpoint{first, 0}, Endpoint{first, 1}, Endpoint{second, 0}, Endpoint{second, 1}};
};

TEST_F(TwoProcesses, HaveTheirPartitionsOneAfterTheOther) {
    EXPECT_EQ(first.partitions(), 4U);
    EXPECT_EQ(first.first(), 0U);
    EXPECT_EQ(second.first(), 2U);
    EXPECT_EQ(second.threads(), 2U);
    EXPECT_TRUE(endpoints[2].shares_memory_with(3));
    EXPECT_FALSE(endpoints[2].shares_memory_with(1));
    EXPECT_FALSE(endpoints[1].shares_memory_with(2));
}

TEST_F(TwoProcesses, EachPartitionReachesEachOther) {
    for (std::uint32_t from = 0; from < 4; ++from) {
        for (std::uint32_t to = 0; to < 4; ++to) {
            const std::uint64_t value = 10 * from + to + 1;
            send(endpoints[from], to, value);
            EXPECT_EQ(receive(endpoints[to]), value) << from << " to " << to;
            EXPECT_EQ(receive(endpoints[to]), 0U);
        }
    }
}

TEST_F(TwoProcesses, AThreadReceivesForTheOthersOfItsProcess) {
    send(endpoints[0], 3, 11);
    send(endpoints[0], 3, 12);
    EXPECT_EQ(receive(endpoints[2]), 0U);
    EXPECT_TRUE(wire.messages[1].empty());
    EXPECT_EQ(receive(endpoints[3]), 11U) << "in the order in which they were sent";
    EXPECT_EQ(receive(endpoints[3]), 12U);
}

TEST_F(TwoProcesses, ACutIsCompleteWhenAllPartitionsHaveContributed) {
    for (std::int64_t round = 0; round < 3; ++round) {
        pdes::Cut cut;
        for (std::size_t i = 0; i < 4; ++i) {
            for (Endpoint& endpoint : endpoints) {
                EXPECT_FALSE(endpoint.completed(cut)) << i << " have contributed";
            }
            endpoints[i].contribute(
                {.in_transit = round, .executed = 10, .first_pending = 100 + round - static_cast<std::int64_t>(i)});
        }
        // Thread 0 of each process speaks for it, once its own threads have contributed.
        EXPECT_FALSE(endpoints[0].completed(cut)) << "the other process has not spoken";
        for (const std::size_t i : {2U, 0U, 1U, 3U}) {
            ASSERT_TRUE(endpoints[i].completed(cut)) << i;
            EXPECT_EQ(cut.in_transit, 4 * round);
            EXPECT_EQ(cut.executed, 40);
            EXPECT_EQ(cut.first_pending, 97 + round);
        }
    }
}

TEST_F(TwoProcesses, ALostTransportIsAnErrorWithItsText) {
    wire.is_cut = true;
    try {
        send(endpoints[0], 2, 11);
        FAIL();
    } catch (const TransportError& error) {
        EXPECT_STREQ(error.what(), "the wire is cut");
    }
}

}  // namespace
}  // namespace idlewave
