// The evolution in the spectrum: after t steps the amplitude of the wave (kx, ky, kz) is multiplied by
// exp(-4 alpha pi^2 t (kx^2 + ky^2 + kz^2)), which is a product of one factor for each dimension.
#pragma once

#include <vector>

#include "decomposition.hpp"

namespace ft {

class Evolution {
  public:
    Evolution(const Decomposition& cut, int steps);

    // One line along z, for a column and y of this rank.
    void apply(const Complex* line, int y, int x, Complex* evolved) const {
        const double of_line = y_[static_cast<size_t>(y)] * x_[static_cast<size_t>(x)];
        for (size_t z = 0; z < z_.size(); ++z) evolved[z] = line[z] * (of_line * z_[z]);
    }

  private:
    std::vector<double> x_;
    std::vector<double> y_;
    std::vector<double> z_;
};

}  // namespace ft
