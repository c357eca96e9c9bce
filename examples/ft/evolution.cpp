#include "evolution.hpp"

#include <cmath>
#include <numbers>

namespace ft {
namespace {

constexpr double alpha = 1e-6;

// The factors of the elements `first` to `first + count` of a dimension. Its second half are the negative waves.
std::vector<double> factors(int first, int count, int length, int steps) {
    std::vector<double> result;
    for (int i = first; i < first + count; ++i) {
        const double wave = i < length / 2 ? i : i - length;
        result.push_back(std::exp(-4 * alpha * std::numbers::pi * std::numbers::pi * steps * wave * wave));
    }
    return result;
}

}  // namespace

Evolution::Evolution(const Decomposition& cut, int steps)
    : x_(factors(cut.first_x, cut.x_columns, cut.nx, steps)),
      y_(factors(cut.first_y_line, cut.y_lines, cut.ny, steps)),
      z_(factors(0, cut.nz, cut.nz, steps)) {}

}  // namespace ft
