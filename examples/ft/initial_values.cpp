#include "initial_values.hpp"

#include <cstdint>

namespace ft {
namespace {

constexpr uint64_t multiplier = 1220703125;  // 5^13
constexpr uint64_t seed = 314159265;
constexpr uint64_t mask = (uint64_t{1} << 46) - 1;
constexpr double scale = 1.0 / (uint64_t{1} << 46);

// The multiplier of so many steps at once. Products may wrap: 2^46 divides 2^64.
uint64_t multiplier_of(int64_t steps) {
    uint64_t result = 1;
    uint64_t power = multiplier;
    for (; steps > 0; steps /= 2) {
        if (steps % 2 == 1) result = result * power & mask;
        power = power * power & mask;
    }
    return result;
}

}  // namespace

void make_initial_values(const Decomposition& cut, Complex* values) {
    const uint64_t of_a_plane = multiplier_of(int64_t{2} * cut.nx * cut.ny);
    const int64_t before = int64_t{cut.first_z} * cut.ny + cut.first_y;  // rows
    uint64_t start = seed * multiplier_of(2 * cut.nx * before) & mask;
    for (int z = 0; z < cut.z_planes; ++z) {
        uint64_t state = start;
        const int64_t points = int64_t{cut.y_rows} * cut.nx;
        for (int64_t point = z * points; point < (z + 1) * points; ++point) {
            const uint64_t real = state * multiplier & mask;
            state = real * multiplier & mask;
            values[point] = {static_cast<double>(real) * scale, static_cast<double>(state) * scale};
        }
        start = start * of_a_plane & mask;
    }
}

}  // namespace ft
