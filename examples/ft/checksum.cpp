#include "checksum.hpp"

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ft {
namespace {

// The values are summed as multiples of 2^-50, which is exact in any order: they are averages of numbers between 0 and
// 1, so that 1024 of them do not overflow.
constexpr double unit = 1.0 / (int64_t{1} << 50);
constexpr double largest = 4;

}  // namespace

Checksum::Checksum(const Decomposition& cut) : points_(static_cast<double>(cut.nx) * cut.ny * cut.nz) {
    for (int j = 1; j <= 1024; ++j) {
        const int x = j % cut.nx;
        const int y = 3 * j % cut.ny - cut.first_y;
        const int z = 5 * j % cut.nz - cut.first_z;
        if (y < 0 || y >= cut.y_rows || z < 0 || z >= cut.z_planes) continue;
        const size_t row = static_cast<size_t>(z) * static_cast<size_t>(cut.y_rows) + static_cast<size_t>(y);
        own_.push_back(row * static_cast<size_t>(cut.nx) + static_cast<size_t>(x));
    }
}

Complex Checksum::of(const Complex* values) const {
    std::array<int64_t, 3> own{};  // real, imaginary, points that cannot be right
    for (const size_t where : own_) {
        const Complex value = values[where] / points_;
        if (std::abs(value.real()) <= largest && std::abs(value.imag()) <= largest) {
            own[0] += std::llrint(value.real() / unit);
            own[1] += std::llrint(value.imag() / unit);
        } else {
            ++own[2];
        }
    }
    std::array<int64_t, 3> all{};
    MPI_Reduce(own.data(), all.data(), 3, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (all[2] > 0) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    return {static_cast<double>(all[0]) * unit, static_cast<double>(all[1]) * unit};
}

}  // namespace ft
