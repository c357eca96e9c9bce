// Conjugate gradients as HPCCG has them: a sparse matrix by rows, 27 on the diagonal and -1 for each of a grid point's
// 26 neighbours, and a right side whose solution is 1 everywhere.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

class ConjugateGradient : public Victim {
  public:
    ConjugateGradient(int points, int steps) : points_(points), steps_(steps) {
        build();
        b_.resize(rows());
        multiply(std::vector<double>(rows(), 1.0), b_);
        for (std::vector<double>* const each : {&x_, &r_, &p_, &q_}) each->resize(rows());
    }

    void reset() override { x_.assign(rows(), 0.0); }

    // The squared norm of the residual after the steps.
    double run() override {
        r_ = b_;
        p_ = b_;
        double rr = dot(r_, r_);
        for (int step = 0; step < steps_; ++step) {
            multiply(p_, q_);
            const double alpha = rr / dot(p_, q_);
            for (std::size_t i = 0; i < rows(); ++i) {
                x_[i] += alpha * p_[i];
                r_[i] -= alpha * q_[i];
            }
            const double next = dot(r_, r_);
            const double beta = next / rr;
            rr = next;
            for (std::size_t i = 0; i < rows(); ++i) p_[i] = r_[i] + beta * p_[i];
        }
        return rr;
    }

    // The residual of the recurrence is that of the solution, and has fallen.
    [[nodiscard]] bool is_right(double rr) const override {
        std::vector<double> left(rows());
        multiply(x_, left);
        double off = 0;
        double solved = 0;
        for (std::size_t i = 0; i < rows(); ++i) {
            const double residual = b_[i] - left[i];
            off += (residual - r_[i]) * (residual - r_[i]);
            solved += residual * residual;
        }
        const double whole = dot(b_, b_);
        return off <= 1e-20 * whole && rr < 0.1 * whole && solved < 0.1 * whole;
    }

  private:
    [[nodiscard]] std::size_t rows() const { return starts_.size() - 1; }

    void build() {
        starts_.push_back(0);
        for (int z = 0; z < points_; ++z) {
            for (int y = 0; y < points_; ++y) {
                for (int x = 0; x < points_; ++x) add_row(x, y, z);
            }
        }
    }

    void add_row(int x, int y, int z) {
        const auto inside = [&](int i) { return i >= 0 && i < points_; };
        for (int dz = -1; dz <= 1; ++dz) {
            for (int dy = -1; dy <= 1; ++dy) {
                for (int dx = -1; dx <= 1; ++dx) {
                    if (!inside(x + dx) || !inside(y + dy) || !inside(z + dz)) continue;
                    columns_.push_back(((z + dz) * points_ + y + dy) * points_ + x + dx);
                    values_.push_back(dx == 0 && dy == 0 && dz == 0 ? 27.0 : -1.0);
                }
            }
        }
        starts_.push_back(static_cast<std::int32_t>(columns_.size()));
    }

    void multiply(const std::vector<double>& in, std::vector<double>& out) const {
        for (std::size_t row = 0; row < rows(); ++row) {
            double sum = 0;
            for (std::int32_t i = starts_[row]; i < starts_[row + 1]; ++i) {
                sum += values_[static_cast<std::size_t>(i)] *
                       in[static_cast<std::size_t>(columns_[static_cast<std::size_t>(i)])];
            }
            out[row] = sum;
        }
    }

    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }

    int points_;
    int steps_;
    std::vector<std::int32_t> starts_;
    std::vector<std::int32_t> columns_;
    std::vector<double> values_;
    std::vector<double> b_, x_, r_, p_, q_;
};

}  // namespace idlewave::probe::contention
