#include "models/flood.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "models/flood_topology.hpp"
#include "run_events.hpp"

namespace idlewave::models {
namespace {

using Service = FloodParameters::Service;
using testing::conservative;
using testing::interleaved;
using testing::on_threads;
using testing::one_by_one;
using testing::partitioned;
using testing::windowed;

constexpr Time microsecond = 1'000'000;  // ps
constexpr Time millisecond = 1000 * microsecond;

/// The final states of all LPs.
using States = testing::States<Flood>;

/// The fields that all schedulers must agree on, LP by LP.
auto digests_of(const States& states) {
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, Time, Time, Time>> digests;
    for (const Flood::State& s : states) {
        digests.emplace_back(s.events.digest, s.events.count, s.queue_length_sum, s.link_free_at, s.counts[0].delay,
                             s.counts[1].delay);
    }
    return digests;
}

std::array<FloodTotals, Flood::classes> totals_of(const Flood& flood, const States& states) {
    std::array<FloodTotals, Flood::classes> totals;
    for (std::uint32_t lp = 0; lp < states.size(); ++lp) {
        for (std::size_t of = 0; of < Flood::classes; ++of) {
            totals[of].add(flood, lp, states[lp].counts[of]);
        }
    }
    return totals;
}

std::array<FloodTotals, Flood::classes> totals_of(const FloodParameters& parameters) {
    const Flood flood(parameters);
    return totals_of(flood, windowed(flood, 1));
}

/// One router with an unlimited buffer. 100 hosts that send a packet every 100 us make one packet a us. Measuring
/// begins after 28 relaxation times, 1 / mu (1 - sqrt(rho))^2, of M/M/1 with a load of 0.8: the queue is in its steady
/// state.
FloodParameters single_queue(double utilization, Service service, std::uint64_t seed) {
    FloodParameters parameters;
    parameters.routers = 1;
    parameters.hosts = 100;
    parameters.bots = 0;
    parameters.link_delay = 10 * microsecond;
    parameters.legitimate_gap = 100 * microsecond;
    parameters.access_utilization = utilization;
    parameters.service = service;
    parameters.buffer = FloodParameters::unlimited;
    parameters.measured_from = 2 * millisecond;
    parameters.end = 52 * millisecond;
    parameters.seed = seed;
    return parameters;
}

/// The mean of independent runs, and its standard error, estimated from their scatter.
struct Estimate {
    double mean = 0;
    double error = 0;
};

constexpr std::uint64_t runs = 20;

/// The mean of 20 runs deviates by more than 4.5 estimated standard errors once in 4000 times (Student's t with 19
/// degrees of freedom).
constexpr double many_errors = 4.5;

/// Repeats `measure(seed)` with different seeds.
template <class Measure>
Estimate estimate(Measure measure) {
    double sum = 0;
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        const double x = measure(seed);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / runs;
    return {mean, std::sqrt((squares / runs - mean * mean) / (runs - 1))};
}

/// Checks that a mean agrees with the theory, and that its standard error is small enough for this to mean something.
void expect_near(const Estimate& found, double theory, double relative_error, const std::string& what) {
    EXPECT_NEAR(found.mean, theory, many_errors * found.error) << what;
    EXPECT_LT(found.error, relative_error * theory) << what;
    ::testing::Test::RecordProperty(
        what, std::to_string(found.mean) + " +- " + std::to_string(found.error) + ", theory " + std::to_string(theory));
}

double mean_wait(const FloodParameters& parameters) {
    const FloodTotals total = totals_of(parameters)[Flood::legitimate];
    return static_cast<double>(total.waited) / static_cast<double>(total.sent - total.lost);
}

TEST(Flood, ARouterWithExponentialTimesWaitsAsMM1) {
    for (const double rho : {0.5, 0.8}) {
        const double service = rho * microsecond;
        const Estimate wait =
            estimate([&](std::uint64_t seed) { return mean_wait(single_queue(rho, Service::exponential, seed)); });
        expect_near(wait, service * rho / (1 - rho), 0.02, "MM1_" + std::to_string(rho));
    }
}

TEST(Flood, ARouterWithFixedTimesWaitsAsMD1) {
    for (const double rho : {0.5, 0.8}) {
        const double service = rho * microsecond;
        const Estimate wait =
            estimate([&](std::uint64_t seed) { return mean_wait(single_queue(rho, Service::fixed, seed)); });
        expect_near(wait, service * rho / (2 * (1 - rho)), 0.02, "MD1_" + std::to_string(rho));
    }
}

TEST(Flood, ArrivalsFindAsManyPacketsAsThereAreOnAverage) {
    // Poisson arrivals see time averages (R. W. Wolff, 1982): L = rho / (1 - rho) of M/M/1.
    const Estimate found = estimate([](std::uint64_t seed) {
        const States states = windowed(Flood(single_queue(0.5, Service::exponential, seed)), 1);
        const Flood::State& router = states[1];
        return static_cast<double>(router.queue_length_sum) /
               static_cast<double>(router.counts[Flood::legitimate].packets);
    });
    expect_near(found, 1, 0.02, "found");
}

/// The share of packets that find K in a M/M/1/K queue.
double loss_of_mm1k(double rho, int k) {
    double all = 0;
    for (int n = 0; n <= k; ++n) {
        all += std::pow(rho, n);
    }
    return std::pow(rho, k) / all;
}

TEST(Flood, ARouterWithAFiniteBufferLosesAsMM1K) {
    for (const double rho : {0.5, 0.8, 1.0, 1.6}) {
        for (const std::uint32_t k : {1U, 4U}) {
            const Estimate lost = estimate([&](std::uint64_t seed) {
                FloodParameters parameters = single_queue(rho, Service::exponential, seed);
                parameters.end = 12 * millisecond;
                parameters.buffer = k;
                return totals_of(parameters)[Flood::legitimate].share_lost();
            });
            expect_near(lost, loss_of_mm1k(rho, static_cast<int>(k)), 0.02,
                        "MM1K_" + std::to_string(rho) + "_" + std::to_string(k));
        }
    }
}

TEST(Flood, WithFixedTimesAndRoomForOneItLosesAsErlangSays) {
    // M/D/1/1: B = rho / (1 + rho) whatever the distribution of the time (A. K. Erlang's formula is insensitive to it).
    const Estimate lost = estimate([](std::uint64_t seed) {
        FloodParameters parameters = single_queue(0.8, Service::fixed, seed);
        parameters.end = 12 * millisecond;
        parameters.buffer = 1;
        return totals_of(parameters)[Flood::legitimate].share_lost();
    });
    expect_near(lost, 0.8 / 1.8, 0.02, "MD11");
}

TEST(Flood, AnAttackTakesLegitimatePacketsTheSameLossAsAllOthers) {
    // Both classes are Poisson processes, so both find the buffer full as often as in M/M/1/K with the total load.
    constexpr std::uint32_t k = 8;
    constexpr double rho = 0.5;
    double before = 0;
    for (const int times : {1, 2, 4, 8}) {  // attack packets per legitimate packet
        const auto flooded = [&](std::uint64_t seed) {
            FloodParameters parameters = single_queue(rho, Service::exponential, seed);
            parameters.bots = 10;
            parameters.attack_from = 0;
            parameters.attack_gap = parameters.legitimate_gap / 10 / times;
            parameters.end = 8 * millisecond;
            parameters.buffer = k;
            return parameters;
        };
        std::map<std::uint64_t, std::array<FloodTotals, Flood::classes>> totals;
        for (std::uint64_t seed = 1; seed <= runs; ++seed) {
            totals[seed] = totals_of(flooded(seed));
        }
        const double theory = loss_of_mm1k(rho * (1 + times), k);
        for (const auto of : {Flood::legitimate, Flood::attack}) {
            const Estimate lost = estimate([&](std::uint64_t seed) { return totals[seed][of].share_lost(); });
            expect_near(lost, theory, 0.03, "attacked_" + std::to_string(times) + "_" + std::to_string(of));
            if (of == Flood::legitimate) {
                EXPECT_GT(lost.mean, before + 0.1);
                before = lost.mean;
            }
        }
    }
    EXPECT_GT(before, 0.75) << "three of four packets are lost under eight times as many of the attack";
}

TEST(Flood, ATreeOfRoutersWaitsAsAJacksonNetwork) {
    // Every router is an M/M/1 queue with the same load rho, so rho^2 / (1 - rho) packets wait at each.
    constexpr double rho = 0.6;
    const Estimate waiting = estimate([&](std::uint64_t seed) {
        FloodParameters parameters = single_queue(rho, Service::exponential, seed);
        parameters.utilization = rho;
        parameters.routers = 12;
        parameters.hosts = 48;
        const Flood flood(parameters);
        double loaded = 0;
        for (std::uint32_t lp = 1; lp <= parameters.routers; ++lp) {
            loaded += flood.topology().hosts_behind(lp) > 0 ? 1 : 0;
        }
        const auto waited = static_cast<double>(totals_of(flood, windowed(flood, 1))[Flood::legitimate].waited);
        return waited / static_cast<double>(parameters.end - parameters.measured_from) / loaded;
    });
    expect_near(waiting, rho * rho / (1 - rho), 0.02, "jackson");
}

/// A small internet under attack in the second half of 100 ms.
FloodParameters small_internet(std::uint64_t seed) {
    FloodParameters parameters;
    parameters.routers = 20;
    parameters.hosts = 200;
    parameters.bots = 30;
    parameters.link_delay = millisecond;
    parameters.legitimate_gap = 2 * millisecond;
    parameters.attack_gap = millisecond / 5;
    parameters.attack_from = 50 * millisecond;
    parameters.end = 100 * millisecond;
    parameters.buffer = 10;
    parameters.seed = seed;
    return parameters;
}

TEST(Flood, EveryPacketIsDeliveredOrLost) {
    for (const auto service : {Service::fixed, Service::exponential}) {
        FloodParameters parameters = small_internet(3);
        parameters.service = service;
        parameters.attack_size = 0.7;
        const Flood flood(parameters);
        const States states = windowed(flood, 1);
        for (const FloodTotals& total : totals_of(flood, states)) {
            EXPECT_GT(total.lost, 100U);
            EXPECT_EQ(total.sent, total.delivered + total.lost);
        }
        for (const Flood::State& state : states) {
            EXPECT_EQ(state.queue_length, 0U) << "all queues are empty at the end";
            EXPECT_LE(state.max_queue_length, parameters.buffer);
        }
        EXPECT_EQ(states[1].max_queue_length, parameters.buffer);
    }
}

TEST(Flood, APacketIsUnderWayAsLongAsItWaitsAndIsOnLinks) {
    FloodParameters parameters = small_internet(5);
    parameters.buffer = FloodParameters::unlimited;
    const Flood flood(parameters);
    const States states = windowed(flood, 1);
    const auto totals = totals_of(flood, states);
    Time on_links = 0;
    for (std::uint32_t lp = 1; lp <= parameters.routers; ++lp) {
        const auto service = static_cast<Time>(flood.service_mean(lp));
        for (const Flood::Count& count : states[lp].counts) {
            on_links += static_cast<Time>(count.packets) * (service + parameters.link_delay);
        }
    }
    Time under_way = 0;
    Time waited = 0;
    for (const FloodTotals& total : totals) {
        on_links += static_cast<Time>(total.sent) * parameters.link_delay;  // of the link from the host
        under_way += total.delay;
        waited += total.waited;
        EXPECT_EQ(total.lost, 0U);
    }
    EXPECT_EQ(under_way, waited + on_links) << "to the ps";
}

TEST(Flood, TheVictimSuffersWhileItIsAttackedAndTheMoreTheMoreBotsThereAre) {
    FloodParameters parameters = small_internet(8);
    parameters.measured_from = parameters.attack_from;
    double loss = -1;
    std::string losses;
    for (const std::uint32_t bots : {0U, 20U, 40U, 100U}) {
        parameters.bots = bots;
        const FloodTotals found = totals_of(parameters)[Flood::legitimate];
        EXPECT_GT(found.share_lost(), loss + (bots == 0 ? 0 : 0.02)) << bots << " bots";
        loss = found.share_lost();
        losses += std::to_string(loss) + " ";
        if (bots == 0) {
            EXPECT_LT(loss, 0.01);
        }
    }
    EXPECT_GT(loss, 0.5);
    RecordProperty("losses", losses);
    parameters.attack_until = 51 * millisecond;
    parameters.measured_from = 60 * millisecond;
    EXPECT_LT(totals_of(parameters)[Flood::legitimate].share_lost(), 0.01) << "it is over";
}

TEST(Flood, BotsAttackFromTheMomentOnAndNobodyElseDoes) {
    FloodParameters parameters = small_internet(1);
    const Flood flood(parameters);
    const States states = windowed(flood, 1);
    std::uint32_t bots = 0;
    for (std::uint32_t lp = 0; lp < flood.lps(); ++lp) {
        const bool host = flood.topology().is_host(lp);
        bots += flood.is_bot(lp) ? 1 : 0;
        EXPECT_EQ(states[lp].counts[Flood::attack].packets > 0 && host, flood.is_bot(lp));
        EXPECT_EQ(flood.topology().is_router(lp), lp >= 1 && lp <= parameters.routers);
    }
    EXPECT_EQ(bots, parameters.bots);
    parameters.attack_from = parameters.end;
    EXPECT_EQ(totals_of(parameters)[Flood::attack].sent, 0U);
}

TEST(Flood, GivesTheSameUnderAllSchedulersOnAnyNumberOfThreads) {
    for (const auto service : {Service::fixed, Service::exponential}) {
        FloodParameters parameters = small_internet(2);
        parameters.service = service;
        const Flood flood(parameters);
        const States one = one_by_one(flood);
        const auto digests = digests_of(one);
        ASSERT_EQ(digests, digests_of(windowed(flood, 1)));
        ASSERT_EQ(digests, digests_of(windowed(flood, 2)));
        for (const std::uint32_t threads : {1U, 2U, 3U}) {
            const auto placement = pdes::Placement::cyclic(flood.lps(), threads);
            const pdes::PartitionOptions options{.cell = flood.lookahead()};
            ASSERT_EQ(digests, digests_of(conservative(flood, placement, options, on_threads).states))
                << threads << " threads";
            ASSERT_EQ(digests, digests_of(partitioned(flood, placement, options, on_threads).states))
                << threads << " threads";
        }
    }
}

TEST(Flood, GivesTheSameWhenPartitionsRunFarAheadOfEachOther) {
    std::uint64_t rolled_back = 0;
    for (std::uint32_t count = 1; count <= 5; ++count) {
        FloodParameters parameters = small_internet(count);
        parameters.service = count % 2 == 0 ? Service::fixed : Service::exponential;
        const Flood flood(parameters);
        const auto digests = digests_of(one_by_one(flood));
        for (const auto& placement :
             {pdes::Placement::block(flood.lps(), count), pdes::Placement::cyclic(flood.lps(), count)}) {
            const auto found = partitioned(flood, placement, {.cell = flood.lookahead()}, interleaved(count, count));
            rolled_back += found.statistics.rolled_back;
            ASSERT_EQ(digests, digests_of(found.states)) << count << " partitions";
        }
    }
    EXPECT_GT(rolled_back, 1000U) << "or nothing was tried";
}

TEST(FloodTopology, ConnectsRoutersAsPreferentialAttachmentDoes) {
    constexpr std::uint32_t routers = 100'000;
    const FloodTopology topology(routers, 10, 6);
    std::vector<std::uint32_t> connections(routers + 1, 0);
    for (std::uint32_t lp = 2; lp <= routers; ++lp) {
        ++connections[lp];
        ++connections[topology.next_hop(lp)];
    }
    std::map<std::uint32_t, double> routers_with;
    for (std::uint32_t lp = 1; lp <= routers; ++lp) {
        ++routers_with[connections[lp]];
    }
    for (const double k : {1.0, 2.0, 3.0, 4.0, 8.0}) {
        // B. Bollobás et al.: The degree sequence of a scale-free random graph process, 2001. The binomial variance is
        // an upper bound, since a connection of one router is none of another one.
        const double p = 4 / (k * (k + 1) * (k + 2));
        const double share = routers_with[static_cast<std::uint32_t>(k)] / routers;
        EXPECT_NEAR(share, p, 4 * std::sqrt(p * (1 - p) / routers)) << k << " connections";
    }
    EXPECT_GT(routers_with.rbegin()->first, 100U) << "there are hubs";
}

TEST(FloodTopology, LeadsEverybodyToTheVictim) {
    const FloodTopology topology(50, 500, 3);
    std::vector<std::uint32_t> passed(topology.lps(), 0);
    for (std::uint32_t host = topology.first_host(); host < topology.lps(); ++host) {
        std::uint32_t lp = host;
        while (lp != FloodTopology::victim) {
            ASSERT_LT(topology.next_hop(lp), lp) << "no loop";
            lp = topology.next_hop(lp);
            ++passed[lp];
        }
    }
    for (std::uint32_t lp = 0; lp < topology.first_host(); ++lp) {
        EXPECT_EQ(passed[lp], topology.hosts_behind(lp));
    }
    EXPECT_EQ(topology.hosts_behind(FloodTopology::victim), 500U);
    EXPECT_EQ(topology.hosts_behind(1), 500U);
}

TEST(Flood, RefusesWhatMakesNoSenseAndSaysWhy) {
    const auto message = [](auto change) -> std::string {
        FloodParameters parameters;
        change(parameters);
        try {
            const Flood flood(parameters);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    const auto says = [&](auto change, const std::string& what) {
        EXPECT_NE(message(change).find(what), std::string::npos) << message(change) << " lacks " << what;
    };
    using P = FloodParameters;
    EXPECT_EQ(message([](P&) {}), "");
    says([](P& p) { p.routers = 0; }, "routers, hosts: expected at least one each");
    says([](P& p) { p.hosts = 0xffffffff; }, "below 2^32 in all");
    says([](P& p) { p.bots = p.hosts + 1; }, "bots: expected at most as many");
    says([](P& p) { p.buffer = 0; }, "buffer: expected at least 1 packet");
    says([](P& p) { p.link_delay = 0; }, "link_delay: expected from 1 ps");
    says([](P& p) { p.legitimate_gap = never; }, "legitimate_gap: expected from 1 ps to 2^56 ps");
    says([](P& p) { p.attack_gap = -5; }, "attack_gap: expected from 1 ps");
    says([](P& p) { p.attack_from = -1; }, "attack_from: expected from 0 ps");
    says([](P& p) { p.attack_until = 7; }, "attack_until: expected not before attack_from");
    says([](P& p) { p.end = -1; }, "end: expected from 0 ps");
    says([](P& p) { p.measured_from = -1; }, "measured_from: expected from 0 ps");
    says([](P& p) { p.attack_size = 0; }, "attack_size: expected above 0");
    says([](P& p) { p.access_utilization = std::numeric_limits<double>::quiet_NaN(); }, "access_utilization: expected");
    says([](P& p) { p.utilization = -1; }, "utilization: expected above 0");
    says([](P& p) { p.legitimate_gap = 1000; }, "a packet is on a link for at least 1 ns");
}

}  // namespace
}  // namespace idlewave::models
