#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "models/epidemic_permutation.hpp"

namespace idlewave {

struct CityParameters {
    static constexpr std::uint32_t largest_home = 8;

    std::uint32_t persons = 100'000;
    /// Persons of one district work in it; only travel connects districts. Homes do not lie in two of them, for which
    /// districts are rounded up to whole blocks of 64 persons; so there may be fewer.
    std::uint32_t districts = 1;
    /// The shares of homes with 1, 2, … persons, of any sum; close to U.S. households (mean 2.4).
    std::array<double, largest_home> home_sizes = {0.28, 0.35, 0.15, 0.13, 0.06, 0.03, 0, 0};
    double working = 0.75;                  ///< the share of persons that have a place of work or a school
    std::uint32_t smallest_workplace = 4;   ///< persons, a power of two
    std::uint32_t largest_workplace = 512;  ///< persons, a power of two

    /// The fields that a run may set, by name.
    static constexpr auto fields() {
        using P = CityParameters;
        return std::tuple{std::pair{"persons", &P::persons}, std::pair{"districts", &P::districts}};
    }
};

/// A synthetic city: who lives and works with whom is a pure function of (seed, person), so that a city of any size
/// takes no memory. Persons that live together have consecutive numbers, which keeps most of their contacts on one
/// partition; where somebody works has nothing to do with where he lives in the district.
///
/// Places of work have sizes of powers of two, and every size employs the same share of those that work: the number of
/// places with more than x persons falls as 1 / x, which is Zipf's law (R. L. Axtell: Zipf distribution of U.S. firm
/// sizes, Science 293, 2001).
class City {
  public:
    /// Persons with consecutive numbers (a home), or seats (a place of work).
    struct Group {
        std::uint32_t first = 0;
        std::uint32_t size = 0;

        bool operator==(const Group&) const = default;
    };

    /// Throws InputError.
    City(const CityParameters& parameters, std::uint64_t seed);

    [[nodiscard]] std::uint32_t persons() const { return parameters_.persons; }
    [[nodiscard]] std::uint32_t district_of(std::uint32_t person) const { return person / district_size_; }

    /// The persons that `person` lives with, itself included.
    [[nodiscard]] Group home_of(std::uint32_t person) const;

    /// The seats of its district at the place where `person` works; none if it does not work.
    [[nodiscard]] Group work_place_of(std::uint32_t person) const;

    /// Somebody of the same home by 64 random bits, all others being as likely; `person` itself if it lives alone.
    [[nodiscard]] std::uint32_t home_mate(std::uint32_t person, std::uint64_t bits) const;

    /// Somebody of the same place of work, all others being as likely; `person` itself if there is none.
    [[nodiscard]] std::uint32_t colleague(std::uint32_t person, std::uint64_t bits) const;

    /// Anybody of all districts, `person` itself included: a rate of contacts with anybody is then the very
    /// coefficient of the differential equations.
    [[nodiscard]] std::uint32_t anybody(std::uint64_t bits) const {
        return static_cast<std::uint32_t>(below(parameters_.persons, bits));
    }

  private:
    /// Where the homes of some persons are drawn together; the last of them is cut off at the end.
    static constexpr std::uint32_t block = 64;

    /// A district's persons, and the order in which they take seats.
    struct District {
        std::uint32_t first;
        Permutation seats;
    };

    [[nodiscard]] std::uint32_t size_of(std::uint32_t district) const;
    [[nodiscard]] District district(std::uint32_t number) const;
    [[nodiscard]] Group place_of_seat(std::uint32_t district, std::uint32_t seat) const;

    CityParameters parameters_;
    std::uint64_t seed_;
    std::uint32_t district_size_ = 0;
    /// In units of 2^-16: a home has at most i + 1 persons if 16 random bits are below.
    std::array<std::uint32_t, CityParameters::largest_home> home_below_{};
};

}  // namespace idlewave
