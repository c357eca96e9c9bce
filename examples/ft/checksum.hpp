// The benchmark's checksum: the sum of 1024 points that lie all over the domain, divided by the number of its points.
#pragma once

#include <cstddef>
#include <vector>

#include "decomposition.hpp"

namespace ft {

class Checksum {
  public:
    explicit Checksum(const Decomposition& cut);

    // Collective over all ranks; rank 0 gets the checksum. It has the same bits in every decomposition, and is no
    // number if a point is none or is too large to be right.
    Complex of(const Complex* values) const;

  private:
    std::vector<size_t> own_;  // where this rank's points of the 1024 are
    double points_;
};

}  // namespace ft
