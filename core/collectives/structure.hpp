#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

/// A program whose ranks lie on a grid: whom a rank exchanges messages with follows from where it lies.
namespace idlewave::collectives {

/// Ranks on a grid of up to three dimensions. The last one varies fastest, as in MPI_Cart_create.
struct ProcessGrid {
    static constexpr std::uint32_t dimensions = 3;

    std::array<std::uint32_t, dimensions> extents{1, 1, 1};  ///< ranks along each dimension

    [[nodiscard]] std::uint64_t ranks() const { return std::uint64_t{extents[0]} * extents[1] * extents[2]; }
    /// How far apart the numbers of two neighbours in a dimension are.
    [[nodiscard]] std::uint32_t stride(std::uint32_t dimension) const {
        return (dimension < 1 ? extents[1] : 1) * (dimension < 2 ? extents[2] : 1);
    }
    [[nodiscard]] std::uint32_t coordinate(std::uint32_t rank, std::uint32_t dimension) const {
        return rank / stride(dimension) % extents[dimension];
    }

    bool operator==(const ProcessGrid&) const = default;
};

/// The peer of a message as a function of the rank that sends or receives it.
struct PeerRule {
    enum class Kind : std::uint8_t {
        any,        ///< no source is named
        fixed,      ///< the rank `number`
        shift,      ///< so many ranks further along each dimension; there is none outside a grid that is not periodic
        flip,       ///< the coordinate in `dimension` with the bits of `mask` flipped: a hypercube
        transpose,  ///< rows and columns of a square exchanged; of a grid twice as wide, those of pairs of ranks
        parent,     ///< in the binary tree in which the children of r are 2r + 1 and 2r + 2
        left_child,
        right_child,
        other,  ///< the rank `number` among all ranks but the own one
        worker  ///< of rank 0 the rank `number` + 1; of the others none
    };

    Kind kind = Kind::any;
    std::uint8_t dimension = 0;
    std::array<bool, ProcessGrid::dimensions> periodic{};  ///< of a shift
    std::array<std::int32_t, ProcessGrid::dimensions> shift{};
    std::uint32_t mask = 0;    ///< of a flip
    std::uint32_t number = 0;  ///< of a fixed rank, another rank or a worker

    auto operator<=>(const PeerRule&) const = default;
};

/// The peer of `rank`; none if the rule gives it none. Not for rules of the kind `any`.
std::optional<std::uint32_t> peer_of(const PeerRule& rule, const ProcessGrid& grid, std::uint32_t rank);

/// The communicators of ranks that differ in some of their coordinates only: all ranks, rows, columns, planes, or one
/// rank. Their members are in the order of the world.
struct CommunicatorRule {
    std::array<bool, ProcessGrid::dimensions> varies{};

    /// How many ranks each of them has.
    [[nodiscard]] std::uint32_t size(const ProcessGrid& grid) const;
    /// The rank of the world's `rank` in its communicator.
    [[nodiscard]] std::uint32_t rank_in(const ProcessGrid& grid, std::uint32_t rank) const;
    /// The world's rank of `member` in the communicator of the world's `rank`.
    [[nodiscard]] std::uint32_t member(const ProcessGrid& grid, std::uint32_t rank, std::uint32_t member) const;

    auto operator<=>(const CommunicatorRule&) const = default;
};

/// The structure of a program that has fewer programs than ranks. Messages and collectives name their peers and
/// communicators by rules.
struct Structure {
    ProcessGrid grid;
    std::vector<PeerRule> peers;                  ///< of instructions that name their peer by a rule
    std::vector<CommunicatorRule> communicators;  ///< by the index that CollectiveSite has
    std::vector<std::uint32_t> programs;          ///< of each rank, which one it executes

    /// Peers that lie equally far ahead for all ranks of a program are stored as that distance plus this number, so
    /// that no distance looks like `goal::any`.
    static constexpr std::uint32_t distance_zero = 0x80000000;
};

}  // namespace idlewave::collectives
