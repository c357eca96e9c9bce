#include "models/epidemic_city.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "dice.hpp"
#include "models/epidemic_permutation.hpp"

namespace idlewave::models {
namespace {

TEST(Permutation, IsAPermutationAndCanBeInverted) {
    for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 63U, 64U, 1000U, 4097U}) {
        const Permutation permutation(size, size * 77);
        std::vector<bool> hit(size);
        for (std::uint32_t x = 0; x < size; ++x) {
            const std::uint32_t y = permutation.forward(x);
            ASSERT_LT(y, size);
            ASSERT_FALSE(hit[y]);
            hit[y] = true;
            ASSERT_EQ(permutation.backward(y), x);
        }
    }
    const Permutation large(0xffffffff, 5);
    for (const std::uint32_t x : {0U, 1U, 77U, 0xfffffffeU}) {
        EXPECT_EQ(large.backward(large.forward(x)), x);
    }
}

TEST(Permutation, PutsNeighboursFarApart) {
    constexpr std::uint32_t size = 100'000;
    const Permutation permutation(size, 3);
    double distance = 0;
    for (std::uint32_t x = 1; x < size; ++x) {
        distance += std::abs(static_cast<double>(permutation.forward(x)) - permutation.forward(x - 1));
    }
    // The distance of two random numbers has mean size / 3 and standard deviation size / sqrt(18).
    EXPECT_NEAR(distance / size, size / 3.0, 5 * size / std::sqrt(18.0) / std::sqrt(size));
}

TEST(City, EverybodyLivesInOneHomeAndHomesHaveTheGivenSizes) {
    CityParameters parameters;
    parameters.persons = 200'001;
    const City city(parameters, 9);
    std::array<double, CityParameters::largest_home + 1> homes{};
    double all = 0;
    for (std::uint32_t p = 0; p < parameters.persons;) {
        const City::Group home = city.home_of(p);
        ASSERT_EQ(home.first, p);
        ASSERT_LE(home.size, CityParameters::largest_home);
        for (std::uint32_t i = 0; i < home.size; ++i) {
            ASSERT_EQ(city.home_of(p + i), home);
        }
        if (p % 64 + home.size < 64) {  // homes at the end of a block of persons may be cut off
            ++homes[home.size];
            ++all;
        }
        p += home.size;
    }
    for (std::uint32_t size = 1; size <= CityParameters::largest_home; ++size) {
        // Homes that may be cut off are not counted, which favours small homes: by the difference in size over the 64
        // persons of a block.
        EXPECT_NEAR(homes[size] / all, parameters.home_sizes[size - 1], 0.01) << size;
    }
}

TEST(City, EverySizeOfWorkplaceEmploysTheSameShare) {
    CityParameters parameters;
    parameters.persons = 1 << 19;
    parameters.districts = 2;
    const City city(parameters, 4);
    std::map<std::uint32_t, double> employed;
    double working = 0;
    for (std::uint32_t p = 0; p < parameters.persons; ++p) {
        const City::Group place = city.workplace_of(p);
        if (place.size > 0) {
            ++employed[place.size];
            ++working;
        }
    }
    EXPECT_EQ(working, 0.75 * parameters.persons);
    ASSERT_EQ(employed.size(), 8U) << "4, 8, … 512";
    // 768 ranges of 512 seats have one of 8 sizes each: a binomial distribution.
    const double sigma = std::sqrt(1.0 / 8 * 7 / 8 / 768);
    for (const auto& [size, persons] : employed) {
        EXPECT_NEAR(persons / working, 1.0 / 8, 4 * sigma) << size;
    }
}

TEST(City, ColleaguesAndHomeMatesAreOtherPersonsOfTheSamePlaceAndAllAreChosen) {
    CityParameters parameters;
    parameters.persons = 5000;
    parameters.districts = 3;
    const City city(parameters, 2);
    testing::Dice dice(1);
    for (int i = 0; i < 2000; ++i) {
        const auto person = dice.small(parameters.persons);
        const City::Group place = city.workplace_of(person);
        const City::Group home = city.home_of(person);
        const std::uint32_t colleague = city.colleague(person, dice.roll(1ULL << 63) * 2);
        const std::uint32_t mate = city.home_mate(person, dice.roll(1ULL << 63) * 2);
        ASSERT_EQ(colleague == person, place.size <= 1);
        ASSERT_EQ(mate == person, home.size == 1);
        ASSERT_EQ(city.home_of(mate), home);
        ASSERT_EQ(city.workplace_of(colleague), place);
        ASSERT_EQ(city.district_of(colleague), city.district_of(person));
        ASSERT_EQ(city.district_of(mate), city.district_of(person));
        if (place.size > 1 && place.size <= 16) {
            std::set<std::uint32_t> met;
            for (std::uint64_t k = 0; k < place.size - 1; ++k) {  // the middle of each range of bits
                met.insert(city.colleague(person, (2 * k + 1) * (~std::uint64_t{0} / (2 * (place.size - 1)))));
            }
            ASSERT_EQ(met.size(), place.size - 1);
        }
    }
}

}  // namespace
}  // namespace idlewave::models
