// A compressible flow in a periodic box, as the CNS proxy application computes it: five conserved quantities, fluxes by
// central differences of eighth order, and three Runge-Kutta stages a step. Momentum and heat diffuse; the heat of
// friction is left out. The box fits a second-level cache.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

class CompressibleFlow : public Victim {
  public:
    explicit CompressibleFlow(int steps) : steps_(steps) {
        const auto begin = [](std::size_t i) { return 2 * std::numbers::pi * static_cast<double>(i) / n; };
        for (Field* const each : {&first_, &state_, &stage_, &change_, &flux_, &primitive_}) {
            for (auto& quantity : *each) quantity.assign(cells, 0.0);
        }
        for (std::size_t z = 0; z < n; ++z) {
            for (std::size_t y = 0; y < n; ++y) {
                for (std::size_t x = 0; x < n; ++x) {
                    const double u = 0.1 * std::sin(begin(x)) * std::cos(begin(y)) * std::cos(begin(z));
                    const double v = -0.1 * std::cos(begin(x)) * std::sin(begin(y)) * std::cos(begin(z));
                    set_first((z * n + y) * n + x, u, v);
                }
            }
        }
    }

    void reset() override { state_ = first_; }

    // The sum of the squares of all momenta.
    double run() override {
        for (int step = 0; step < steps_; ++step) advance();
        double sum = 0;
        for (std::size_t q = 1; q < 4; ++q) {
            for (const double each : state_[q]) sum += each * each;
        }
        return sum;
    }

    // Mass, momentum and energy are conserved, and the flow loses kinetic energy.
    [[nodiscard]] bool is_right(double result) const override {
        const auto sum = [](const std::vector<double>& values) {
            double whole = 0;
            for (const double each : values) whole += each;
            return whole;
        };
        for (std::size_t q = 0; q < quantities; ++q) {
            if (!(std::abs(sum(state_[q]) - sum(first_[q])) <= 1e-10 * cells)) return false;
        }
        return result > 0 && std::isfinite(result);
    }

  private:
    static constexpr std::size_t n = 16;  // a power of two
    static constexpr std::size_t cells = n * n * n;
    static constexpr std::size_t quantities = 5;  // density, three momenta, energy; of primitive ones: temperature,
                                                  // three velocities, pressure
    using Field = std::array<std::vector<double>, quantities>;
    static constexpr double gamma = 1.4;
    static constexpr double dx = 1.0 / n;
    static constexpr double dt = 0.2 * dx;
    static constexpr double viscosity = 1e-3;
    static constexpr std::array<double, 4> first_derivative = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    static constexpr std::array<double, 5> second_derivative = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
    static constexpr std::array<std::size_t, 3> strides = {1, n, n * n};

    void set_first(std::size_t cell, double u, double v) {
        first_[0][cell] = 1;
        first_[1][cell] = u;
        first_[2][cell] = v;
        first_[4][cell] = (1 / gamma) / (gamma - 1) + 0.5 * (u * u + v * v);
    }

    // The cell `by` further on in a direction, around the end of the box.
    static std::size_t shifted(std::size_t cell, std::size_t stride, std::size_t by) {
        const std::size_t at = cell / stride % n;
        return cell - at * stride + (at + by) % n * stride;
    }

    void advance() {
        differentiate(state_);
        combine(stage_, 1, state_, 0, state_);
        differentiate(stage_);
        combine(stage_, 0.75, state_, 0.25, stage_);
        differentiate(stage_);
        combine(state_, 1.0 / 3, state_, 2.0 / 3, stage_);
    }

    // to = a first + b (second + dt change); of the first stage, where b is 0, to = first + dt change.
    void combine(Field& to, double a, const Field& first, double b, const Field& second) const {
        const double step = (b == 0 ? 1 : b) * dt;
        for (std::size_t q = 0; q < quantities; ++q) {
            for (std::size_t i = 0; i < cells; ++i) {
                to[q][i] = a * first[q][i] + b * second[q][i] + step * change_[q][i];
            }
        }
    }

    void differentiate(const Field& of) {
        find_primitive(of);
        for (auto& quantity : change_) quantity.assign(cells, 0.0);
        for (std::size_t direction = 0; direction < 3; ++direction) {
            find_flux(of, direction);
            for (std::size_t q = 0; q < quantities; ++q) subtract_slope(flux_[q], strides[direction], change_[q]);
            for (std::size_t q = 1; q < 4; ++q) add_diffusion(primitive_[q], strides[direction], change_[q]);
            add_diffusion(primitive_[0], strides[direction], change_[4]);  // of heat
        }
    }

    void find_primitive(const Field& of) {
        for (std::size_t i = 0; i < cells; ++i) {
            const double inverse = 1 / of[0][i];
            double kinetic = 0;
            for (std::size_t q = 1; q < 4; ++q) {
                primitive_[q][i] = of[q][i] * inverse;
                kinetic += 0.5 * of[q][i] * primitive_[q][i];
            }
            primitive_[4][i] = (gamma - 1) * (of[4][i] - kinetic);
            primitive_[0][i] = primitive_[4][i] * inverse;
        }
    }

    void find_flux(const Field& of, std::size_t direction) {
        const std::vector<double>& along_it = primitive_[1 + direction];
        const std::vector<double>& pressure = primitive_[4];
        for (std::size_t i = 0; i < cells; ++i) {
            flux_[0][i] = of[1 + direction][i];
            for (std::size_t q = 1; q < 4; ++q) flux_[q][i] = of[q][i] * along_it[i];
            flux_[1 + direction][i] += pressure[i];
            flux_[4][i] = (of[4][i] + pressure[i]) * along_it[i];
        }
    }

    static void subtract_slope(const std::vector<double>& of, std::size_t stride, std::vector<double>& from) {
        for (std::size_t i = 0; i < cells; ++i) {
            double slope = 0;
            for (std::size_t k = 1; k <= first_derivative.size(); ++k) {
                slope += first_derivative[k - 1] * (of[shifted(i, stride, k)] - of[shifted(i, stride, n - k)]);
            }
            from[i] -= slope / dx;
        }
    }

    static void add_diffusion(const std::vector<double>& of, std::size_t stride, std::vector<double>& to) {
        for (std::size_t i = 0; i < cells; ++i) {
            double sum = second_derivative[0] * of[i];
            for (std::size_t k = 1; k < second_derivative.size(); ++k) {
                sum += second_derivative[k] * (of[shifted(i, stride, k)] + of[shifted(i, stride, n - k)]);
            }
            to[i] += viscosity * sum / (dx * dx);
        }
    }

    int steps_;
    Field first_, state_, stage_, change_, flux_, primitive_;
};

}  // namespace idlewave::probe::contention
