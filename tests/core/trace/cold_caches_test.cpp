#include "trace/cold_caches.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "converted_trace.hpp"
#include "trace/call.hpp"
#include "trace/convert.hpp"

namespace idlewave::trace {
namespace {

using testing::beside;
using testing::goal;
using testing::pair;
using testing::rank_of_two;
using testing::TraceBytes;
using testing::world;

constexpr Time us = 1'000'000;

/// A call takes up to 2 µs longer, after 1 µs of computation; buffers of a kilobyte up to 8 µs at both ends, after 4
/// µs.
ConvertOptions with_costs() {
    ConvertOptions options;
    options.cold_caches.calls = {{1000, 2 * us}};
    options.cold_caches.buffer_after = 4000;
    options.cold_caches.buffers = {{1, 0}, {1001, 8 * us}};
    return options;
}

/// The calcs of a rank of these calls, in ns, with and without costs of cold caches.
std::pair<std::vector<std::string>, std::vector<std::string>> calcs(const TraceBytes& file) {
    const auto calcs_of = [](const std::string& text) {
        std::vector<std::string> found;
        for (std::size_t at = text.find("calc "); at != std::string::npos; at = text.find("calc ", at + 1)) {
            found.push_back(text.substr(at + 5, text.find('\n', at) - at - 5));
        }
        return found;
    };
    return {calcs_of(goal(beside(file), 0, with_costs())), calcs_of(goal(beside(file)))};
}

using Calcs = std::vector<std::string>;

TEST(ColdCaches, TheFirstCallAfterAComputationTakesLongerInProportionToIt) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send, 1100, 1200, {world, pair(1, 5), 1})
                                .call(Call::send, 1700, 1800, {world, pair(1, 5), 1})
                                .call(Call::send, 9800, 9900, {world, pair(1, 5), 1});
    const auto [cold, warm] = calcs(file);
    EXPECT_EQ(warm, (Calcs{"100", "500", "8000"}));
    EXPECT_EQ(cold, (Calcs{"300", "1500", "10000"}));  // all of the 2 µs after 1 µs or more
}

TEST(ColdCaches, ACallWithoutComputationBeforeItTakesNothing) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send, 1000, 1200, {world, pair(1, 5), 1001})
                                .call(Call::recv, 1200, 1800, {world, pair(1, 5), 1001, pair(1, 5), 1001});
    EXPECT_EQ(calcs(file).first, Calcs{});
}

TEST(ColdCaches, ABufferIsAsColdAsTheComputationSinceItsOwnLastUseMadeIt) {
    const TraceBytes file =
        rank_of_two(0)
            .call(Call::send, 1000, 1000, {world, pair(1, 5), 1001})
            .call(Call::send, 2000, 2000, {world, pair(1, 6), 1})      // 1 µs of computation
            .call(Call::send, 3000, 3000, {world, pair(1, 5), 751})    // 2 µs since the last with tag 5
            .call(Call::send, 3000, 3000, {world, pair(1, 5), 1001});  // none
    // Calls: 2 µs each after 1 µs. The buffer of 751 B has one end here, so 3 µs, and half of that after 2 µs of 4.
    EXPECT_EQ(calcs(file).first, (Calcs{"3000", "4500"}));
}

TEST(ColdCaches, SmallAndLargeMessagesHaveBuffersOfTheirOwn) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send, 1000, 1000, {world, pair(1, 5), 1001})
                                .call(Call::send, 5000, 5000, {world, pair(1, 5), 1})
                                .call(Call::send, 9000, 9000, {world, pair(1, 5), 1001});
    EXPECT_EQ(calcs(file).first, (Calcs{"6000", "10000"}));  // the second time 8 µs since the last of 1001 B, so 4 µs
}

TEST(ColdCaches, CountsAndTheBlocksThatTheyCountHaveBuffersOfTheirOwn) {
    constexpr unsigned blocking = 64;
    const auto call_of = [](TracedCollective collective) {
        return static_cast<Call>(blocking + static_cast<unsigned>(collective));
    };
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (TraceBytes& file : files) {
        file.call(call_of(TracedCollective::alltoall), 9000, 9100, {world, pair(-3, 0), 4, 4})
            .call(call_of(TracedCollective::alltoallv), 9100, 9200,
                  {world, pair(-3, 0), 2002, 2002, 1001, 1001, 1001, 1001}, 3);
    }
    const std::string text = goal(files, 0, with_costs());
    // 8 µs of computation, 2 of the call and little of the counts; then twice 4 µs of 1001 bytes at one end.
    EXPECT_NE(text.find("calc 10024\n"), std::string::npos) << text;
    EXPECT_NE(text.find("calc 8000\n"), std::string::npos) << text;
}

TEST(ColdCaches, AMessageOfNoBytesLeavesItsBufferAsColdAsItIs) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::send, 1000, 1000, {world, pair(1, 5), 1001})
                                .call(Call::send, 3000, 3000, {world, pair(1, 5), 0})
                                .call(Call::send, 5000, 5000, {world, pair(1, 5), 1001});
    EXPECT_EQ(calcs(file).first, (Calcs{"4000", "8000"}));  // 2 µs of the call each; 4 of a buffer after 4 µs
}

TEST(ColdCaches, WhatIsSentAndWhatIsReceivedAreTwoBuffers) {
    const TraceBytes file =
        rank_of_two(0).call(Call::sendrecv, 9000, 9500, {world, pair(1, 5), 1001, pair(1, 5), 1001, pair(1, 5), 1001});
    // 8 µs of computation and 2 of the call, the receive is posted; 4 of the send; 4 of the receive before the wait.
    EXPECT_EQ(calcs(file).first, (Calcs{"10000", "4000", "4000"}));
}

TEST(ColdCaches, AReceiveUsesItsBufferBeforeItsWaitAndForTheBytesThatCame) {
    const TraceBytes file = rank_of_two(0)
                                .call(Call::irecv, 9000, 9000, {world, pair(-1, -1), 1 << 20, 11})
                                .call(Call::wait, 9000, 9500, {11, pair(1, 3), 501})
                                .call(Call::irecv, 17500, 17500, {world, pair(1, 3), 501, 12})
                                .call(Call::wait, 17500, 18000, {12, pair(1, 3), 501});
    EXPECT_EQ(calcs(file).first, (Calcs{"10000", "2000", "10000", "2000"}));
}

TEST(ColdCaches, TheTimeInMpiInitIsNoComputation) {
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    files[1].began(9000).call(Call::send, 9000, 9100, {world, pair(0, 5), 1001});
    EXPECT_NE(goal(files, 1, with_costs()).find("calc 8000\n"), std::string::npos);
}

TEST(ColdCaches, NothingIsSentToNoRank) {
    constexpr std::int32_t proc_null = -2;
    const TraceBytes file = rank_of_two(0).call(Call::send, 9000, 9100, {world, pair(proc_null, 5), 1001});
    EXPECT_EQ(calcs(file).first, Calcs{"8000"});
}

struct VectorsCase {
    TracedCollective collective;
    std::uint64_t bytes;
    const char* at_root;  ///< the computation of rank 0, whose 8 µs are followed by 2 µs of the call
    const char* elsewhere;
};

TEST(ColdCaches, ACollectiveUsesTheVectorsOfItsRank) {
    constexpr unsigned blocking = 64;  // beyond which the numbers of these calls begin
    // A vector of 501 bytes takes 2 µs at its end. What a rank has for itself is in no message.
    for (const VectorsCase& c : std::initializer_list<VectorsCase>{
             {TracedCollective::barrier, 0, "10000", "10000"},
             {TracedCollective::bcast, 501, "12000", "12000"},
             {TracedCollective::reduce, 501, "14000", "12000"},
             {TracedCollective::allreduce, 501, "14000", "14000"},
             {TracedCollective::gather, 501, "12000", "12000"},  // of two blocks one comes to the root
             {TracedCollective::scatter, 501, "12000", "12000"},
             {TracedCollective::allgather, 501, "14000", "14000"},
             {TracedCollective::alltoall, 501, "14000", "14000"},
             {TracedCollective::reduce_scatter_block, 501, "12000", "12000"},
             {TracedCollective::scan, 501, "14000", "14000"}}) {
        const auto call = static_cast<Call>(blocking + static_cast<unsigned>(c.collective));
        std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
        for (TraceBytes& file : files) {
            file.call(call, 9000, 9100, {world, pair(0, 0), c.bytes, c.bytes});
        }
        for (const std::uint32_t rank : {0U, 1U}) {
            const std::string text = goal(files, rank, with_costs());
            EXPECT_EQ(text.substr(0, text.find('\n')), std::string("l1: calc ") + (rank == 0 ? c.at_root : c.elsewhere))
                << static_cast<unsigned>(c.collective);
        }
    }
}

TEST(ColdCaches, AVariantWithListsUsesWhatItsRankSendsAndReceives) {
    constexpr unsigned blocking = 64;
    const auto call = static_cast<Call>(blocking + static_cast<unsigned>(TracedCollective::allgatherv));
    std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
    for (TraceBytes& file : files) {  // 501 bytes sent, 1001 of 1502 received from the other rank: 2 and 4 µs
        file.call(call, 9000, 9100, {world, pair(-3, 0), 501, 1502, 501, 1001}, 1);
    }
    ConvertOptions options = with_costs();
    options.algorithms = {{collectives::Collective::allgather, "ring"}};
    const std::string text = goal(files, 0, options);
    EXPECT_EQ(text.substr(0, text.find('\n')), "l1: calc 16000");
}

TEST(ColdCaches, LengthsBetweenTwoAreOnTheLineBetweenThemWhichBeginsWithNothing) {
    ColdCaches costs;
    EXPECT_EQ(costs.call_time(1000), 0);
    costs.calls = {{10, 100}, {20, 120}, {40, 400}};
    EXPECT_EQ(costs.call_time(0), 0);
    EXPECT_EQ(costs.call_time(5), 50);
    EXPECT_EQ(costs.call_time(10), 100);
    EXPECT_EQ(costs.call_time(15), 110);
    EXPECT_EQ(costs.call_time(30), 260);
    EXPECT_EQ(costs.call_time(40), 400);
    EXPECT_EQ(costs.call_time(1000), 400);
}

TEST(ColdCaches, SizesBetweenTwoAreOnTheLineBetweenThemAndLargerOnesOnTheLastLine) {
    ColdCaches costs;
    EXPECT_EQ(costs.buffer_time(1000), 0);
    costs.buffers = {{10, 100}};
    EXPECT_EQ(costs.buffer_time(1000), 100);
    costs.buffers = {{10, 100}, {20, 300}, {40, 400}};
    EXPECT_EQ(costs.buffer_time(1), 100);
    EXPECT_EQ(costs.buffer_time(10), 100);
    EXPECT_EQ(costs.buffer_time(15), 200);
    EXPECT_EQ(costs.buffer_time(30), 350);
    EXPECT_EQ(costs.buffer_time(40), 400);
    EXPECT_EQ(costs.buffer_time(80), 600);
    constexpr Time longest = std::numeric_limits<Time>::max();
    costs.buffers = {{1, 0}, {2, longest / 4}};
    EXPECT_EQ(costs.buffer_time(std::uint64_t{1} << 50), longest);
}

}  // namespace
}  // namespace idlewave::trace
