#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "models/epidemic_permutation.hpp"

namespace idlewave::models {

struct CityParameters {
    static constexpr std::uint32_t largest_home = 8;

    std::uint32_t persons = 100'000;
    /// Persons work in the district in which they live; only travel connects districts. No home lies in two districts:
    /// districts are rounded up to whole blocks of 64 persons, so there may be fewer of them.
    std::uint32_t districts = 1;
    /// Relative frequencies of homes with 1, 2, … persons; close to U.S. households (mean 2.4).
    std::array<double, largest_home> home_sizes = {0.28, 0.35, 0.15, 0.13, 0.06, 0.03, 0, 0};
    double working = 0.75;                  ///< share of persons that have a workplace or a school
    std::uint32_t smallest_workplace = 4;   ///< persons, a power of two
    std::uint32_t largest_workplace = 512;  ///< persons, a power of two

    /// The fields that a run may set, by name.
    static constexpr auto fields() {
        using P = CityParameters;
        return std::tuple{std::pair{"persons", &P::persons}, std::pair{"districts", &P::districts}};
    }
};

/// A synthetic city. Homes and workplaces are a pure function of (seed, person), so a city of any size takes no memory.
/// The persons of a home have consecutive numbers, so most of their contacts are local to a partition. The workplace of
/// a person is independent of its home within the district.
///
/// The sizes of workplaces are powers of two, and the workplaces of each size employ the same share of persons. The
/// number of workplaces with more than x persons then falls as 1 / x, which is Zipf's law (R. L. Axtell: Zipf
/// distribution of U.S. firm sizes, Science 293, 2001).
class City {
  public:
    /// Persons with consecutive numbers (a home), or consecutive seats (a workplace).
    struct Group {
        std::uint32_t first = 0;
        std::uint32_t size = 0;

        bool operator==(const Group&) const = default;
    };

    /// Throws InputError.
    City(const CityParameters& parameters, std::uint64_t seed);

    [[nodiscard]] std::uint32_t persons() const { return parameters_.persons; }
    [[nodiscard]] std::uint32_t district_of(std::uint32_t person) const { return person / district_size_; }

    /// The home of a person: all who live there, the person included.
    [[nodiscard]] Group home_of(std::uint32_t person) const;

    /// The workplace of a person: its seats in the district; none if the person does not work.
    [[nodiscard]] Group workplace_of(std::uint32_t person) const;

    /// Another person of the same home, chosen uniformly by 64 random bits; the person itself if it lives alone.
    [[nodiscard]] std::uint32_t home_mate(std::uint32_t person, std::uint64_t bits) const;

    /// Another person of the same workplace, chosen uniformly; the person itself if it has no colleague.
    [[nodiscard]] std::uint32_t colleague(std::uint32_t person, std::uint64_t bits) const;

    /// A person of the whole city, chosen uniformly. It may be the person who has the contact: the contact rate is then
    /// exactly the coefficient of the differential equations.
    [[nodiscard]] std::uint32_t anybody(std::uint64_t bits) const {
        return static_cast<std::uint32_t>(below(parameters_.persons, bits));
    }

  private:
    /// Number of persons whose homes are drawn together; the last home is cut off at the end of the block.
    static constexpr std::uint32_t block = 64;

    /// A district's persons: the first one, and the seat of each.
    struct District {
        std::uint32_t first;
        Permutation seats;
    };

    [[nodiscard]] std::uint32_t size_of(std::uint32_t district) const;
    [[nodiscard]] District district(std::uint32_t number) const;
    [[nodiscard]] Group workplace_of_seat(std::uint32_t district, std::uint32_t seat) const;

    CityParameters parameters_;
    std::uint64_t seed_;
    std::uint32_t district_size_ = 0;
    /// Probability that a home has at most i + 1 persons, in units of 2^-16.
    std::array<std::uint32_t, CityParameters::largest_home> home_below_{};
};

}  // namespace idlewave::models
