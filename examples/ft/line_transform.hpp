// The Fourier transform of one line, by FFTW or pocketfft: which of the two is decided by the file that is compiled.
//
// Lines are transformed one by one, and never planned by measurement: so each gets the same bits on every rank, in
// every decomposition and every run.
#pragma once

#include <memory>

#include "problem.hpp"

namespace ft {

enum class Direction { forward, inverse };

class LineTransform {
  public:
    // Of so many numbers; the inverse is not scaled.
    LineTransform(int length, Direction direction);
    ~LineTransform();
    LineTransform(const LineTransform&) = delete;
    LineTransform& operator=(const LineTransform&) = delete;
    LineTransform(LineTransform&&) = delete;
    LineTransform& operator=(LineTransform&&) = delete;

    // `from` and `to` are different memory, aligned to 16 bytes; `from` stays as it is.
    void operator()(const Complex* from, Complex* to) const;

  private:
    struct Plan;
    std::unique_ptr<Plan> plan_;
};

// The library's name.
const char* transform_library();

}  // namespace ft
