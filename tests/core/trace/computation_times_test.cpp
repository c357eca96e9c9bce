#include "trace/computation_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "converted_trace.hpp"
#include "trace/computations.hpp"

/// How long computations take in the program that is made of a trace: as recorded, drawn, or scaled.
namespace idlewave::trace {
namespace {

using testing::no_root;
using testing::program_of;
using testing::refusal;
using testing::trace_of;
using testing::TraceBytes;
using testing::world;

constexpr auto allreduce = static_cast<Call>(67);
constexpr auto broadcast = static_cast<Call>(65);

/// Two ranks that compute and reduce 8 bytes, then compute and broadcast 64 bytes, again and again. The times are all
/// different: of rank r before call i they are (1 + r) (1000 + 7 i), and 100,000 more before broadcasts.
std::vector<TraceBytes> loop(int calls) {
    std::vector<TraceBytes> files;
    for (std::uint32_t rank : {0U, 1U}) {
        TraceBytes file = testing::rank_of_two(rank);
        std::int64_t now = 1000;
        for (int i = 0; i < calls; ++i) {
            now += (1 + rank) * (1000 + 7 * i) + (i % 2 == 1 ? 100'000 : 0);
            const std::uint64_t bytes = i % 2 == 1 ? 64 : 8;
            file.call(i % 2 == 1 ? broadcast : allreduce, now, now + 50,
                      {world, i % 2 == 1 ? testing::pair(0, 0) : no_root, bytes, bytes});
            now += 50;
        }
        files.push_back(file);
    }
    return files;
}

/// The computations of a rank's program, ns.
std::vector<std::uint64_t> times(const std::vector<TraceBytes>& files, std::uint32_t rank,
                                 const ConvertOptions& options = {}) {
    std::vector<std::uint64_t> found;
    program_of(files, options).program()->ranks[rank].instructions.each([&](const collectives::Instruction& i) {
        if (i.kind == collectives::Instruction::Kind::calc) {
            found.push_back(i.size);
        }
    });
    return found;
}

ConvertOptions drawn(std::uint64_t seed) {
    ConvertOptions options;
    options.computation.drawn = true;
    options.computation.seed = seed;
    return options;
}

ConvertOptions scaled(double factor) {
    ConvertOptions options;
    options.computation.factor = factor;
    return options;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

TEST(DrawnComputations, AreRecordedOnesOfTheirSiteAndRank) {
    const std::vector<TraceBytes> files = loop(400);
    const Computations recorded = computations_of(trace_of(files).ranks, false);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint64_t>> of_site;
    std::vector<std::uint32_t> sites;  // of rank 1
    for (const ComputationRow& row : recorded.rows) {
        of_site[{row.rank, row.site}].insert(static_cast<std::uint64_t>(row.ns));
        if (row.rank == 1) {
            sites.push_back(row.site);
        }
    }
    const std::vector<std::uint64_t> found = times(files, 1, drawn(5));
    ASSERT_EQ(found.size(), sites.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(of_site.at({1U, sites[i]}).contains(found[i])) << "computation " << i << ": " << found[i];
    }
    EXPECT_NE(found, times(files, 1));
}

TEST(DrawnComputations, TheSeedDecides) {
    const std::vector<TraceBytes> files = loop(60);
    EXPECT_EQ(times(files, 0, drawn(5)), times(files, 0, drawn(5)));
    EXPECT_NE(times(files, 0, drawn(5)), times(files, 0, drawn(6)));
    const std::vector<std::uint64_t> found = times(files, 0, drawn(5));
    EXPECT_EQ(std::vector<std::uint64_t>(found.begin(), found.begin() + 8),
              (std::vector<std::uint64_t>{1000, 101'007, 1014, 101'021, 1028, 101'385, 1154, 101'035}))
        << "the same on every processor; before the first calls there are no others to draw from";
}

TEST(DrawnComputations, HaveTheMeanOfTheRecordedOnes) {
    const std::vector<TraceBytes> files = loop(2000);
    const auto recorded = static_cast<double>(sum(times(files, 0)));
    double all = 0;
    constexpr int seeds = 20;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        all += static_cast<double>(sum(times(files, 0, drawn(seed))));
    }
    // The computations of a site are spread evenly over 14,000 ns: a standard deviation of 4,041 ns each, 181,000 ns of
    // the 2,000 of a run, and 40,000 ns of the mean of 20 runs.
    EXPECT_NEAR(all / seeds, recorded, 4 * 40'400);
}

TEST(DrawnComputations, AreThoseOfTheStretchThatIsUsed) {
    const std::vector<TraceBytes> files = loop(200);
    ConvertOptions options = drawn(1);
    options.from = {TracePoint::Kind::calls, 100};
    const std::vector<std::uint64_t> found = times(files, 0, options);
    ASSERT_EQ(found.size(), 100U);
    for (const std::uint64_t ns : found) {
        EXPECT_GE(ns % 100'000, 1000U + 7 * 100);
    }
}

TEST(ScaledComputations, TakeTheFactorTimesAsLongToTheNanosecond) {
    const std::vector<TraceBytes> files = loop(101);
    const std::uint64_t recorded = sum(times(files, 0));
    EXPECT_EQ(times(files, 0, scaled(1)), times(files, 0));
    EXPECT_EQ(sum(times(files, 0, scaled(3))), 3 * recorded);
    for (const double factor : {0.5, 0.001, 1 / 3.0, 1.7}) {
        EXPECT_NEAR(static_cast<double>(sum(times(files, 0, scaled(factor)))), factor * static_cast<double>(recorded),
                    1)
            << factor;
    }
    const std::vector<std::uint64_t> half = times(files, 0, scaled(0.5));
    EXPECT_EQ(half[0], 500U) << "of 1,000 ns";
    EXPECT_EQ(half[1], (101'007U) / 2);
    EXPECT_EQ(half[2], 1014U / 2) << "the half ns of the one before is not enough for one more";
    EXPECT_EQ(half[3], (101'021U + 1) / 2);
}

TEST(ScaledComputations, APhaseHasAFactorOfItsOwn) {
    std::vector<TraceBytes> files{testing::rank_of_two(0), testing::rank_of_two(1)};
    for (TraceBytes& file : files) {
        file.call(Call::pcontrol, 2000, 2000, {1})
            .call(allreduce, 3000, 3000, {world, no_root, 8, 8})
            .call(Call::pcontrol, 5000, 5000, {2})
            .call(allreduce, 8000, 8000, {world, no_root, 8, 8});
    }
    ConvertOptions options = scaled(10);
    options.computation.factors_by_phase = {{1, 2.0}, {std::nullopt, 4.0}};
    EXPECT_EQ(times(files, 0, options), (std::vector<std::uint64_t>{4 * 1000 + 2 * 1000, 2 * 2000 + 10 * 3000}));
    options.computation.factors_by_phase = {{3, 2.0}};
    EXPECT_EQ(refusal(files, options),
              "rank0: no computation that is used has the phase level:3: expected a level of its MPI_Pcontrol, of "
              "level:none, level:1, level:2");
}

TEST(ScaledComputations, ASiteHasAFactorOfItsOwn) {
    const std::vector<TraceBytes> files = loop(41);
    const Computations recorded = computations_of(trace_of(files).ranks, false);
    const std::uint32_t last = recorded.rows[40].site;
    std::uint64_t of_site = 0;
    for (const ComputationRow& row : recorded.rows) {
        of_site += row.rank == 0 && row.site == last ? static_cast<std::uint64_t>(row.ns) : 0;
    }
    ConvertOptions options;
    options.computation.factors_by_site = {{recorded.sites[last].site.id(), 3.0}};
    EXPECT_EQ(sum(times(files, 0, options)), sum(times(files, 0)) + 2 * of_site);
    options.computation.factors_by_site = {{0x123456789aU, 3.0}};
    EXPECT_EQ(refusal(files, options),
              "rank0: no call that is used has the site 123456789a: expected one of those that `idlewave computation` "
              "lists");
}

TEST(ComputationsWithoutNoise, AreShorterByItsShare) {
    const std::vector<TraceBytes> files = loop(500);
    ConvertOptions options;
    options.computation.noise = 0.0125;
    const auto recorded = static_cast<double>(sum(times(files, 1)));
    EXPECT_NEAR(static_cast<double>(sum(times(files, 1, options))), (1 - 0.0125) * recorded, 1);
}

}  // namespace
}  // namespace idlewave::trace
