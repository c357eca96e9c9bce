// STREAM's four kernels: copy, scale, add, triad, over three arrays of a given size together.
#pragma once

#include <cstddef>
#include <vector>

#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

class Stream : public Victim {
  public:
    Stream(std::size_t bytes, int repetitions)
        : a_(bytes / (3 * sizeof(double))), b_(a_.size()), c_(a_.size()), repetitions_(repetitions) {}

    void reset() override {
        for (std::size_t i = 0; i < a_.size(); ++i) {
            a_[i] = first.a;
            b_[i] = first.b;
            c_[i] = first.c;
        }
    }

    double run() override {
        for (int i = 0; i < repetitions_; ++i) kernels();
        return a_[a_.size() / 2] + b_.back() + c_.front();
    }

    // Each element is computed like every other, so all are exactly what one is.
    [[nodiscard]] bool is_right(double /*result*/) const override {
        Element expected = first;
        for (int i = 0; i < repetitions_; ++i) {
            expected.c = expected.a;
            expected.b = scalar * expected.c;
            expected.c = expected.a + expected.b;
            expected.a = expected.b + scalar * expected.c;
        }
        constexpr std::size_t stride = 1009;
        for (std::size_t i = 0; i < a_.size(); i += stride) {
            if (a_[i] != expected.a || b_[i] != expected.b || c_[i] != expected.c) return false;
        }
        return true;
    }

  private:
    struct Element {
        double a, b, c;
    };
    static constexpr Element first = {0.1, 0.2, 0.0};
    static constexpr double scalar = 0.4142135623730951;  // sqrt(2) - 1: the triad leaves a as it was

    void kernels() {
        const std::size_t n = a_.size();
        double* const a = a_.data();
        double* const b = b_.data();
        double* const c = c_.data();
        for (std::size_t i = 0; i < n; ++i) c[i] = a[i];
        for (std::size_t i = 0; i < n; ++i) b[i] = scalar * c[i];
        for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
        for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + scalar * c[i];
    }

    std::vector<double> a_;
    std::vector<double> b_;
    std::vector<double> c_;
    int repetitions_;
};

}  // namespace idlewave::probe::contention
