// Lennard-Jones dynamics as in LAMMPS' benchmark: density 0.8442, temperature 1.44, a cutoff of 2.5, steps of 0.005 by
// velocity Verlet, pairs found by cell lists, in reduced units. The potential is shifted to be continuous.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "contention/victims/victim.hpp"

namespace idlewave::probe::contention {

class LennardJones : public Victim {
  public:
    // A face-centred lattice of so many unit cells in each direction, four atoms in each.
    LennardJones(int lattice_cells, int steps) : steps_(steps) {
        const double spacing = std::cbrt(4 / density);
        box_ = spacing * lattice_cells;
        cells_ = static_cast<int>(box_ / cutoff);
        place_atoms(lattice_cells, spacing);
        give_velocities();
        for (Vectors* const each : {&position_, &velocity_, &force_, &sorted_, &sorted_force_}) {
            for (auto& component : *each) component.resize(atoms());
        }
        order_.resize(atoms());
        cell_.resize(atoms());
        LennardJones::reset();
        first_energy_ = find_forces() + kinetic();
        first_force_ = force_;
    }

    void reset() override {
        position_ = first_position_;
        velocity_ = first_velocity_;
        if (!first_force_[0].empty()) force_ = first_force_;
    }

    // The energy after the steps.
    double run() override {
        double potential = 0;
        for (int step = 0; step < steps_; ++step) {
            push(0.5 * time_step);
            drift();
            potential = find_forces();
            push(0.5 * time_step);
        }
        return potential + kinetic();
    }

    // Energy and momentum are conserved.
    [[nodiscard]] bool is_right(double energy) const override {
        for (const auto& component : velocity_) {
            double sum = 0;
            for (const double v : component) sum += v;
            if (!(std::abs(sum) <= 1e-8 * static_cast<double>(atoms()))) return false;
        }
        return std::abs(energy - first_energy_) <= 1e-3 * std::abs(first_energy_);
    }

  private:
    using Vectors = std::array<std::vector<double>, 3>;
    static constexpr double density = 0.8442;
    static constexpr double temperature = 1.44;
    static constexpr double cutoff = 2.5;
    static constexpr double time_step = 0.005;

    [[nodiscard]] std::size_t atoms() const { return first_position_[0].size(); }

    void place_atoms(int lattice_cells, double spacing) {
        constexpr std::array<std::array<double, 3>, 4> in_cell = {
            {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}};
        for (int z = 0; z < lattice_cells; ++z) {
            for (int y = 0; y < lattice_cells; ++y) {
                for (int x = 0; x < lattice_cells; ++x) {
                    for (const auto& [dx, dy, dz] : in_cell) {
                        first_position_[0].push_back((x + dx) * spacing);
                        first_position_[1].push_back((y + dy) * spacing);
                        first_position_[2].push_back((z + dz) * spacing);
                    }
                }
            }
        }
    }

    void give_velocities() {
        std::minstd_rand random(1);  // NOLINT(bugprone-random-generator-seed): the same atoms in every run
        const auto uniform = [&] { return static_cast<double>(random()) / std::minstd_rand::max() - 0.5; };
        double squares = 0;
        for (auto& component : first_velocity_) {
            component.resize(atoms());
            double sum = 0;
            for (double& v : component) sum += v = uniform();
            for (double& v : component) {
                v -= sum / static_cast<double>(atoms());
                squares += v * v;
            }
        }
        const double factor = std::sqrt(3 * temperature * static_cast<double>(atoms()) / squares);
        for (auto& component : first_velocity_) {
            for (double& v : component) v *= factor;
        }
    }

    [[nodiscard]] double kinetic() const {
        double sum = 0;
        for (const auto& component : velocity_) {
            for (const double v : component) sum += 0.5 * v * v;
        }
        return sum;
    }

    void push(double time) {
        for (std::size_t d = 0; d < 3; ++d) {
            for (std::size_t i = 0; i < atoms(); ++i) velocity_[d][i] += time * force_[d][i];
        }
    }

    void drift() {
        for (std::size_t d = 0; d < 3; ++d) {
            for (std::size_t i = 0; i < atoms(); ++i) {
                double x = position_[d][i] + time_step * velocity_[d][i];
                if (x < 0) x += box_;
                if (x >= box_) x -= box_;
                position_[d][i] = x;
            }
        }
    }

    // Sorts the atoms by their cells: `starts_` has the first of each cell.
    void sort_into_cells() {
        const auto index = [&](double x) { return std::min(static_cast<int>(x / box_ * cells_), cells_ - 1); };
        starts_.assign(static_cast<std::size_t>(cells_ * cells_ * cells_) + 1, 0);
        for (std::size_t i = 0; i < atoms(); ++i) {
            const int cell =
                (index(position_[2][i]) * cells_ + index(position_[1][i])) * cells_ + index(position_[0][i]);
            cell_[i] = static_cast<std::uint32_t>(cell);
            ++starts_[cell_[i] + 1];
        }
        for (std::size_t cell = 1; cell < starts_.size(); ++cell) starts_[cell] += starts_[cell - 1];
        next_.assign(starts_.begin(), starts_.end() - 1);
        for (std::size_t i = 0; i < atoms(); ++i) order_[next_[cell_[i]]++] = static_cast<std::uint32_t>(i);
        for (std::size_t d = 0; d < 3; ++d) {
            for (std::size_t i = 0; i < atoms(); ++i) sorted_[d][i] = position_[d][order_[i]];
        }
    }

    // Computes all forces. Returns the potential energy.
    double find_forces() {
        sort_into_cells();
        for (auto& component : sorted_force_) std::fill(component.begin(), component.end(), 0.0);
        double energy = 0;
        for (int z = 0; z < cells_; ++z) {
            for (int y = 0; y < cells_; ++y) {
                for (int x = 0; x < cells_; ++x) energy += pairs_of_cell(x, y, z);
            }
        }
        for (std::size_t d = 0; d < 3; ++d) {
            for (std::size_t i = 0; i < atoms(); ++i) force_[d][order_[i]] = sorted_force_[d][i];
        }
        return energy;
    }

    // Pairs within a cell and with the thirteen cells behind it.
    double pairs_of_cell(int x, int y, int z) {
        const std::size_t own = cell_at(x, y, z);
        double energy = 0;
        for (std::size_t i = starts_[own]; i < starts_[own + 1]; ++i) {
            for (std::size_t j = i + 1; j < starts_[own + 1]; ++j) energy += pair(i, j);
        }
        for (int number = 14; number < 27; ++number) {
            const std::size_t other = cell_at(x + number % 3 - 1, y + number / 3 % 3 - 1, z + number / 9 - 1);
            for (std::size_t i = starts_[own]; i < starts_[own + 1]; ++i) {
                for (std::size_t j = starts_[other]; j < starts_[other + 1]; ++j) energy += pair(i, j);
            }
        }
        return energy;
    }

    [[nodiscard]] std::size_t cell_at(int x, int y, int z) const {
        const auto side = static_cast<std::size_t>(cells_);
        const auto around = [&](int i) { return static_cast<std::size_t>((i + cells_) % cells_); };
        return (around(z) * side + around(y)) * side + around(x);
    }

    double pair(std::size_t i, std::size_t j) {
        std::array<double, 3> apart{};
        double squared = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            double x = sorted_[d][i] - sorted_[d][j];
            if (x > 0.5 * box_) x -= box_;
            if (x < -0.5 * box_) x += box_;
            apart[d] = x;
            squared += x * x;
        }
        if (squared >= cutoff * cutoff) return 0;
        const double inverse = 1 / squared;
        const double sixth = inverse * inverse * inverse;
        const double strength = 48 * inverse * sixth * (sixth - 0.5);
        for (std::size_t d = 0; d < 3; ++d) {
            sorted_force_[d][i] += strength * apart[d];
            sorted_force_[d][j] -= strength * apart[d];
        }
        return 4 * sixth * (sixth - 1) - at_cutoff();
    }

    static constexpr double at_cutoff() {
        constexpr double sixth = 1 / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff);
        return 4 * sixth * (sixth - 1);
    }

    int steps_;
    int cells_ = 0;
    double box_ = 0;
    double first_energy_ = 0;
    Vectors first_position_, first_velocity_, first_force_, position_, velocity_, force_, sorted_, sorted_force_;
    std::vector<std::size_t> starts_, next_;
    std::vector<std::uint32_t> order_, cell_;
};

}  // namespace idlewave::probe::contention
