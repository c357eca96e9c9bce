#include "extrapolation/laws.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace idlewave::extrapolation {
namespace {

using Grid = ProcessGrid;

std::vector<Sample> samples_of(const std::function<double(double x, double y, double z)>& law,
                               const std::vector<Grid>& grids = {{{2, 2, 1}}, {{4, 2, 1}}, {{4, 4, 1}}}) {
    std::vector<Sample> samples;
    for (const Grid& grid : grids) {
        samples.push_back({grid, law(grid.extents[0], grid.extents[1], grid.extents[2])});
    }
    return samples;
}

double continued(const std::vector<Sample>& samples, const Grid& grid = {{8, 8, 1}}) {
    const auto fits = fit_sizes(samples);
    return fits.empty() ? -1 : fits.front().law.at(grid);
}

TEST(Laws, SizesFollowConstantsSharesSurfacesVolumesAndSums) {
    EXPECT_EQ(continued(samples_of([](double, double, double) { return 77; })), 77);
    EXPECT_DOUBLE_EQ(continued(samples_of([](double x, double y, double) { return 4096 / (x * y); })), 64);
    EXPECT_DOUBLE_EQ(continued(samples_of([](double, double y, double) { return 4096 / y; })), 512);
    EXPECT_DOUBLE_EQ(continued(samples_of([](double x, double, double) { return 4096 / x; })), 512);
    EXPECT_DOUBLE_EQ(continued(samples_of([](double x, double y, double) { return 12 * x * y; })), 768);
    EXPECT_DOUBLE_EQ(continued(samples_of([](double x, double y, double) { return 8192 / (x * x * y * y); })), 2);
    EXPECT_NEAR(continued(samples_of([](double x, double y, double) { return 100 + 4096 / (x * y); })), 164, 1e-6);
    EXPECT_NEAR(continued(samples_of([](double x, double y, double) { return 8 * std::log2(x * y); })), 48, 1e-9);
}

TEST(Laws, RoundingOfASizeIsNoDifference) {
    const std::vector<Grid> rows{{{3, 1, 1}}, {{5, 1, 1}}, {{7, 1, 1}}};
    const auto share = [](double x, double, double) { return std::floor(10'000 / x); };
    EXPECT_NEAR(continued(samples_of(share, rows), {{13, 1, 1}}), 10'000.0 / 13, 1);
}

TEST(Laws, SizesThatFollowNoneHaveNone) {
    const std::vector<double> values{100, 17, 930};
    std::size_t next = 0;
    EXPECT_TRUE(fit_sizes(samples_of([&](double, double, double) { return values[next++]; })).empty());
}

TEST(Laws, SizesThatDifferByARoundingAreOne) {
    const std::vector<Grid> grids{{{2, 2, 1}}, {{4, 2, 1}}, {{8, 2, 1}}};
    const auto samples = samples_of([](double x, double, double) { return x == 2 ? 1'000 : 1'001; }, grids);
    EXPECT_NEAR(continued(samples), 1'001, 1) << "not a share of the two ranks along Y, which never vary";
}

TEST(Laws, ASizeThatNoSampleChangesIsConstantOrFollowsTheSurfaceAcrossItsDimension) {
    const std::vector<Grid> grids{{{2, 2, 1}}, {{4, 2, 1}}};
    const auto samples = samples_of([](double, double, double) { return 2880; }, grids);
    const auto at_16 = [&](bool others_follow_surface) {
        std::vector<double> found;
        for (const Fit& fit : fit_sizes(samples, std::uint8_t{0}, others_follow_surface)) {
            EXPECT_EQ(fit.law.powers[2], 0) << "no sample shows what ranks along Z change";
            found.push_back(fit.law.at({{4, 4, 1}}));
        }
        return found;
    };
    EXPECT_EQ(at_16(false), (std::vector<double>{2880, 1440}));
    EXPECT_EQ(at_16(true), (std::vector<double>{1440, 2880}));
}

TEST(Laws, OnlyASizeThatShrinksWithTheSurfaceShowsThatOthersMay) {
    const std::vector<Grid> grids{{{2, 2, 1}}, {{4, 2, 1}}};
    const auto shrinks = [&](const std::function<double(double, double, double)>& size) {
        return is_changing_surface(samples_of(size, grids), 1);
    };
    EXPECT_TRUE(shrinks([](double x, double, double) { return 5760 / x; }));
    EXPECT_FALSE(shrinks([](double, double, double) { return 64; }));
    EXPECT_FALSE(shrinks([](double x, double, double) { return x == 2 ? 10'006 : 9'984; })) << "noise";
    EXPECT_FALSE(shrinks([](double x, double y, double) { return 8 * x * y; }));
    EXPECT_FALSE(shrinks([](double x, double, double) { return 5760 / (x * x); }));
}

TEST(Laws, DependOnExtentsThatVary) {
    const std::vector<Grid> grids{{{2, 2, 1}}, {{4, 2, 1}}};
    const auto samples = samples_of([](double x, double, double) { return 4096 / x; }, grids);
    for (const Fit& fit : fit_sizes(samples)) {
        EXPECT_EQ(fit.law.powers[1], 0) << fit.law.text();
    }
    EXPECT_DOUBLE_EQ(continued(samples, {{4, 4, 1}}), 1'024);
}

TEST(Laws, AMessageAlongADimensionHasTheSurfaceAcrossItFirst) {
    // On these two grids x, x y and x y z all double.
    const std::vector<Grid> grids{{{2, 2, 2}}, {{4, 2, 2}}};
    const auto samples = samples_of([](double x, double y, double) { return 9216 * 4 / (x * y); }, grids);
    const Grid larger{{4, 4, 4}};
    EXPECT_DOUBLE_EQ(fit_sizes(samples, std::uint8_t{2}).front().law.at(larger), 2304);
    EXPECT_GT(fit_sizes(samples, std::uint8_t{2}).size(), 1U) << "others fit as well";
    EXPECT_DOUBLE_EQ(fit_sizes(samples).front().law.at(larger), 4608);
}

TEST(Laws, TimesAreConstantUnlessAnotherLawIsClearlyCloser) {
    const auto noisy = samples_of([](double x, double, double) { return x == 2 ? 1'040 : 980; });
    EXPECT_EQ(fit_time(noisy).law.factor, 0) << "4 % is the noise of a measurement";
    const auto shared = samples_of([](double x, double y, double) { return 1.03 * 64'000 / (x * y) + x; });
    const Fit fit = fit_time(shared);
    EXPECT_NEAR(fit.law.at({{8, 8, 1}}), 1'030, 60);
    EXPECT_LT(fit.worst, 0.01);
}

TEST(Laws, TwoTimesAreTooFewForALawThatGrows) {
    const std::vector<Grid> grids{{{2, 1, 1}}, {{4, 1, 1}}};
    EXPECT_EQ(fit_time(samples_of([](double x, double, double) { return x; }, grids)).law.factor, 0);
    EXPECT_GT(fit_time(samples_of([](double x, double, double) { return 1 / x; }, grids)).law.factor, 0);
}

TEST(Laws, ReadLikeFormulas) {
    EXPECT_EQ((Law{.constant = 8}).text(), "8");
    EXPECT_EQ((Law{.factor = 512, .powers = {0, -1, 0}}).text(), "512 / (Y)");
    EXPECT_EQ((Law{.constant = 64, .factor = 4096, .powers = {-2, -1, 0}}).text(), "64 + 4096 / (X^2 Y)");
    EXPECT_EQ((Law{.factor = 3, .powers = {1, 1, 0}}).text(), "3 X Y");
    EXPECT_EQ((Law{.factor = 8, .logarithms = 1}).text(), "8 log2 P");
}

}  // namespace
}  // namespace idlewave::extrapolation
