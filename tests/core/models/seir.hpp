#pragma once

#include <array>

#include "models/epidemic.hpp"

namespace idlewave::testing {

/// The limit of many persons, as shares: the SEIR differential equations (R. M. Anderson, R. M. May: Infectious
/// Diseases of Humans, 1991), with Q for infectious persons that isolate. The other persons are recovered or immune.
/// The deviations of N persons from the limit are normal with covariance C / N, where dC/dt = J C + C J' + sum over
/// flows of rate * (jump)(jump)' (S. N. Ethier, T. G. Kurtz: Markov Processes, 1986, chapter 11; J is the Jacobian of
/// the equations).
class Seir {
  public:
    static constexpr int S = 0, E = 1, I = 2, Q = 3;
    using Vector = std::array<double, 4>;
    using Matrix = std::array<Vector, 4>;

    struct Rates {
        double infection = 0;  ///< per day, as the next two
        double onset = 0;
        double recovery = 0;
        double isolated = 0;  ///< share of the infectious that isolate
    };

    struct Point {
        Vector x{};
        Matrix c{};
    };

    Seir(const models::EpidemicParameters& p, double susceptible, double infectious) {
        const double days = static_cast<double>(models::EpidemicParameters::day);
        rates_.infection = (p.home_contacts + p.work_contacts + p.travel_contacts) * p.transmission;
        rates_.onset = days / static_cast<double>(p.latent);
        rates_.recovery = days / static_cast<double>(p.infectious);
        rates_.isolated = p.interventions.isolated;
        point_.x = {susceptible, 0, infectious * (1 - rates_.isolated), infectious * rates_.isolated};
        point_.c[I][I] = point_.c[Q][Q] = infectious * rates_.isolated * (1 - rates_.isolated);
        point_.c[I][Q] = point_.c[Q][I] = -point_.c[I][I];
    }

    void set_infection(double rate) { rates_.infection = rate; }

    /// Integrates one day by a Runge-Kutta method of order 4, whose error is far below the random deviations.
    void next_day() {
        constexpr int steps = 20;
        constexpr double h = 1.0 / steps;
        for (int i = 0; i < steps; ++i) {
            const Point k1 = slope(point_);
            const Point k2 = slope(plus(point_, k1, h / 2));
            const Point k3 = slope(plus(point_, k2, h / 2));
            const Point k4 = slope(plus(point_, k3, h));
            point_ = plus(plus(plus(plus(point_, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
        }
    }

    /// The mean of a weighted sum of the shares, and the variance of its deviation times N.
    [[nodiscard]] double mean(const Vector& w) const {
        return w[S] * point_.x[S] + w[E] * point_.x[E] + w[I] * point_.x[I] + w[Q] * point_.x[Q];
    }
    [[nodiscard]] double variance(const Vector& w) const {
        double sum = 0;
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                sum += w[i] * w[j] * point_.c[i][j];
            }
        }
        return sum;
    }

  private:
    struct Flow {
        Vector jump;
        double rate;
        Vector derivative;  ///< of the rate by the shares
    };

    [[nodiscard]] std::array<Flow, 5> flows(const Vector& x) const {
        const auto& [infection, onset, recovery, isolated] = rates_;
        const double to_i = onset * (1 - isolated);
        const double to_q = onset * isolated;
        return {{{{-1, 1, 0, 0}, infection * x[S] * x[I], {infection * x[I], 0, infection * x[S], 0}},
                 {{0, -1, 1, 0}, to_i * x[E], {0, to_i, 0, 0}},
                 {{0, -1, 0, 1}, to_q * x[E], {0, to_q, 0, 0}},
                 {{0, 0, -1, 0}, recovery * x[I], {0, 0, recovery, 0}},
                 {{0, 0, 0, -1}, recovery * x[Q], {0, 0, 0, recovery}}}};
    }

    [[nodiscard]] Point slope(const Point& at) const {
        Point d;
        Matrix jacobian{};
        for (const Flow& flow : flows(at.x)) {
            for (int i = 0; i < 4; ++i) {
                d.x[i] += flow.jump[i] * flow.rate;
                for (int j = 0; j < 4; ++j) {
                    jacobian[i][j] += flow.jump[i] * flow.derivative[j];
                    d.c[i][j] += flow.jump[i] * flow.jump[j] * flow.rate;
                }
            }
        }
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                for (int k = 0; k < 4; ++k) {
                    d.c[i][j] += jacobian[i][k] * at.c[k][j] + at.c[i][k] * jacobian[j][k];
                }
            }
        }
        return d;
    }

    static Point plus(Point a, const Point& b, double h) {
        for (int i = 0; i < 4; ++i) {
            a.x[i] += h * b.x[i];
            for (int j = 0; j < 4; ++j) {
                a.c[i][j] += h * b.c[i][j];
            }
        }
        return a;
    }

    Rates rates_;
    Point point_;
};

inline constexpr Seir::Vector susceptible_share{1, 0, 0, 0};
inline constexpr Seir::Vector exposed_share{0, 1, 0, 0};
inline constexpr Seir::Vector infectious_share{0, 0, 1, 1};
inline constexpr Seir::Vector not_removed_share{1, 1, 1, 1};

}  // namespace idlewave::testing
