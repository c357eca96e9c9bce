#include "trace/cold_caches.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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
using testing::no_root;
using testing::pair;
using testing::rank_of_two;
using testing::TraceBytes;
using testing::world;

constexpr Time us = 1'000'000;

/// A call takes up to 2 µs longer, after 1 µs of computation; buffers of a kilobyte up to 8 µs at both ends, after 4
/// µs.
ConvertOptions with_costs() {
    ConvertOptions options;
    options.cold_caches.call = 2 * us;
    options.cold_caches.call_after = 1000;
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
            .call(Call::send, 3000, 3000, {world, pair(1, 5), 501})    // 2 µs since the last with tag 5
            .call(Call::send, 3000, 3000, {world, pair(1, 5), 1001});  // none
    // Calls: 2 µs each. The buffer of 501 B has an end here, so half of 4 µs, and half of that after 2 µs of 4.
    EXPECT_EQ(calcs(file).first, (Calcs{"3000", "4000"}));
}

TEST(ColdCaches, WhatIsSentAndWhatIsReceivedAreTwoBuffers) {
    const TraceBytes file =
        rank_of_two(0).call(Call::sendrecv, 9000, 9500, {world, pair(1, 5), 1001, pair(1, 5), 1001, pair(1, 5), 1001});
    // 8 µs of computation, 2 of the call and 4 of the receive, which is then posted; and 4 of the send.
    EXPECT_EQ(calcs(file).first, (Calcs{"14000", "4000"}));
}

TEST(ColdCaches, ACollectiveUsesTheBuffersOfItsRank) {
    constexpr unsigned blocking = 64;  // beyond which the numbers of these calls begin
    const auto after_8_us = [](TracedCollective collective, std::uint64_t bytes) {
        const auto call = static_cast<Call>(blocking + static_cast<unsigned>(collective));
        std::vector<TraceBytes> files{rank_of_two(0), rank_of_two(1)};
        for (TraceBytes& file : files) {
            file.call(call, 9000, 9100, {world, no_root, bytes, bytes});
        }
        const std::string text = goal(files, 0, with_costs());
        return text.substr(0, text.find('\n'));
    };
    EXPECT_EQ(after_8_us(TracedCollective::barrier, 0), "l1: calc 10000");       // 2 µs of the call
    EXPECT_EQ(after_8_us(TracedCollective::allreduce, 1001), "l1: calc 18000");  // and of a vector sent and received
}

TEST(ColdCaches, SizesBetweenTwoAreOnTheLineBetweenThemAndLargerOnesBeyond) {
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
}

TEST(ColdCaches, ATimeThatDoesNotFitIsRefused) {
    ColdCaches costs;
    costs.buffers = {{1, 0}, {2, never - 1}};
    EXPECT_THROW(static_cast<void>(costs.buffer_time(1000)), TimeOverflow);
}

}  // namespace
}  // namespace idlewave::trace
