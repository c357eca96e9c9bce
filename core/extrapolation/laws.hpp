#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/structure.hpp"

namespace idlewave::extrapolation {

using collectives::ProcessGrid;

/// How a size or a time changes with the grid: constant + factor · a product of extents, each to a power, or the
/// logarithm of the number of ranks. With the extents' powers these are volumes, surfaces, and shares of either.
struct Law {
    double constant = 0;
    double factor = 0;
    std::array<int, ProcessGrid::dimensions> powers{};
    int logarithms = 0;  ///< the power of log2 of the number of ranks

    [[nodiscard]] double term(const ProcessGrid& grid) const;
    [[nodiscard]] double at(const ProcessGrid& grid) const { return constant + factor * term(grid); }
    /// In words, such as "64 + 8192 / (X Y)"; X, Y and Z are the extents.
    [[nodiscard]] std::string text() const;
};

/// A value that was traced on a grid.
struct Sample {
    ProcessGrid grid;
    double value = 0;
};

/// A law and how far the samples are off it.
struct Fit {
    Law law;
    double worst = 0;  ///< the largest difference, relative to the sample
};

inline constexpr double most_size_error = 0.05;

/// The laws that all samples follow to less than 1, the rounding of a size, the most common ones in practice first:
/// constant, proportional, or with three different samples or more both; else those that they follow to
/// `most_size_error`, as sizes of which each dimension is rounded do, the closest first. They depend on extents that
/// vary between the samples; only that of a message along a `dimension` may be the whole surface across it. A
/// size that is the same in all samples may be constant or this surface. Both are returned; the surface is first if
/// other sizes follow theirs (`others_follow_surface`).
std::vector<Fit> fit_sizes(std::span<const Sample> samples, std::optional<std::uint8_t> dimension = std::nullopt,
                           bool others_follow_surface = false);

/// Whether a size changes between the samples, by more than `most_size_error`, and follows the surface across a
/// dimension.
bool is_changing_surface(std::span<const Sample> samples, std::uint8_t dimension);

/// The law that samples with errors are closest to: constant, unless another one is clearly closer. Two samples are too
/// few for a law that grows with the grid: the error of one would be continued.
Fit fit_time(std::span<const Sample> samples);

}  // namespace idlewave::extrapolation
