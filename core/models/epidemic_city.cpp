#include "models/epidemic_city.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/error.hpp"

namespace idlewave::models {
namespace {

/// The entities of the city's random draws, above the numbers of LPs, which have 32 bits.
enum class Entity : std::uint64_t { homes = 1, workplaces = 2, seats = 3 };

Philox draws_of(std::uint64_t seed, Entity entity, std::uint32_t number, std::uint32_t index) {
    return draws(seed, Stream::model, static_cast<std::uint64_t>(entity) << 32 | number, index);
}

void check(const CityParameters& city) {
    if (city.persons == 0) {
        throw InputError("epidemic: persons: expected at least 1");
    }
    if (city.districts == 0 || city.districts > city.persons) {
        throw InputError("epidemic: districts: expected 1 to as many as there are persons, found " +
                         std::to_string(city.districts));
    }
    const bool share = city.working >= 0 && city.working <= 1;  // false for NaN, too
    if (!share) {
        throw InputError("epidemic: working: expected a share from 0 to 1, found " + std::to_string(city.working));
    }
    if (!std::has_single_bit(city.smallest_workplace) || !std::has_single_bit(city.largest_workplace) ||
        city.smallest_workplace > city.largest_workplace) {
        throw InputError(
            "epidemic: smallest_workplace, largest_workplace: expected powers of two, the smallest first, found " +
            std::to_string(city.smallest_workplace) + " and " + std::to_string(city.largest_workplace));
    }
}

/// Sum of the frequencies of home sizes. Throws InputError if it is 0, or one of them is not possible.
double sum_of(const std::array<double, CityParameters::largest_home>& shares) {
    constexpr double largest = 1e9;
    double sum = 0;
    for (const double share : shares) {
        const bool possible = share >= 0 && share <= largest;
        if (!possible) {
            throw InputError("epidemic: home_sizes: expected shares from 0 to 1e9, found " + std::to_string(share));
        }
        sum += share;
    }
    if (sum <= 0) {
        throw InputError("epidemic: home_sizes: expected at least one share above 0");
    }
    return sum;
}

/// A member of a group other than the one at `position`, chosen uniformly.
std::uint32_t other_of(const City::Group& group, std::uint32_t position, std::uint64_t bits) {
    const auto other = group.first + static_cast<std::uint32_t>(below(group.size - 1, bits));
    return other < position ? other : other + 1;
}

}  // namespace

City::City(const CityParameters& parameters, std::uint64_t seed) : parameters_(parameters), seed_(seed) {
    check(parameters);
    const std::uint32_t share = parameters.persons / parameters.districts;
    const std::uint64_t rounded_up =
        (std::uint64_t{share} + (parameters.persons % parameters.districts > 0 ? 1 : 0) + block - 1) / block * block;
    district_size_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(rounded_up, UINT32_MAX));
    constexpr double all = 0x1p16;
    const double sum = sum_of(parameters.home_sizes);
    double shares = 0;
    for (std::size_t i = 0; i < home_below_.size(); ++i) {
        shares += parameters.home_sizes[i];
        home_below_[i] = static_cast<std::uint32_t>(shares / sum * all);
    }
}

City::Group City::home_of(std::uint32_t person) const {
    constexpr std::uint32_t sizes_a_draw = 16;
    const std::uint32_t number = person / block;
    const std::uint32_t begin = number * block;
    const std::uint32_t end = begin + std::min(block, parameters_.persons - begin);
    Philox bits{};
    std::uint32_t first = begin;
    for (std::uint32_t i = 0;; ++i) {
        if (i % sizes_a_draw == 0) {
            bits = draws_of(seed_, Entity::homes, number, i / sizes_a_draw);
        }
        const std::uint64_t sixteen = bits[i / 4 % 4] >> (16 * (i % 4)) & 0xffff;
        const auto* const found = std::ranges::find_if(home_below_, [&](std::uint32_t b) { return sixteen < b; });
        const auto size = std::min(static_cast<std::uint32_t>(found - home_below_.begin()) + 1, end - first);
        if (person - first < size) {
            return {first, size};
        }
        first += size;
    }
}

std::uint32_t City::home_mate(std::uint32_t person, std::uint64_t bits) const {
    const Group home = home_of(person);
    return home.size == 1 ? person : other_of(home, person, bits);
}

std::uint32_t City::size_of(std::uint32_t district) const {
    const std::uint64_t first = std::uint64_t{district} * district_size_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(district_size_, parameters_.persons - first));
}

City::District City::district(std::uint32_t number) const {
    return {number * district_size_, Permutation(size_of(number), draws_of(seed_, Entity::seats, number, 0)[0])};
}

/// The seats of a district are divided into ranges of `largest_workplace` seats, each of which has workplaces of one
/// size.
City::Group City::workplace_of_seat(std::uint32_t district, std::uint32_t seat) const {
    const auto taken = static_cast<std::uint32_t>(parameters_.working * size_of(district));
    if (seat >= taken) {
        return {};
    }
    const int smallest = std::countr_zero(parameters_.smallest_workplace);
    const int largest = std::countr_zero(parameters_.largest_workplace);
    const std::uint64_t sizes = static_cast<std::uint64_t>(largest) - smallest + 1;
    const Philox bits = draws_of(seed_, Entity::workplaces, district, seat >> largest);
    const std::uint64_t size = smallest + below(sizes, bits[0]);
    const std::uint32_t first = seat >> size << size;
    return {first, std::min(1U << size, taken - first)};
}

City::Group City::workplace_of(std::uint32_t person) const {
    const std::uint32_t number = district_of(person);
    const District here = district(number);
    return workplace_of_seat(number, here.seats.forward(person - here.first));
}

std::uint32_t City::colleague(std::uint32_t person, std::uint64_t bits) const {
    const std::uint32_t number = district_of(person);
    const District here = district(number);
    const std::uint32_t seat = here.seats.forward(person - here.first);
    const Group workplace = workplace_of_seat(number, seat);
    if (workplace.size <= 1) {
        return person;
    }
    return here.first + here.seats.backward(other_of(workplace, seat, bits));
}

}  // namespace idlewave::models
