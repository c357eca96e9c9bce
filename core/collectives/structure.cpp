#include "collectives/structure.hpp"

namespace idlewave::collectives {
namespace {

std::optional<std::uint32_t> shifted(const PeerRule& rule, const ProcessGrid& grid, std::uint32_t rank) {
    std::int64_t peer = rank;
    for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
        if (rule.shift[d] == 0) {
            continue;
        }
        const std::int64_t extent = grid.extents[d];
        const std::int64_t at = grid.coordinate(rank, d);
        std::int64_t to = at + rule.shift[d];
        if (to < 0 || to >= extent) {
            if (!rule.periodic[d]) {
                return std::nullopt;
            }
            to = (to % extent + extent) % extent;
        }
        peer += (to - at) * grid.stride(d);
    }
    return static_cast<std::uint32_t>(peer);
}

/// In blocks of `columns / rows` ranks that stay together, which NAS CG exchanges so that its vector is transposed.
std::optional<std::uint32_t> transposed(const ProcessGrid& grid, std::uint32_t rank) {
    const std::uint32_t rows = grid.extents[0];
    const std::uint32_t columns = grid.extents[1];
    if (grid.extents[2] != 1 || columns % rows != 0) {
        return std::nullopt;
    }
    const std::uint32_t block = columns / rows;
    const std::uint32_t at = rank / block;
    return block * (at % rows * rows + at / rows) + rank % block;
}

std::optional<std::uint32_t> below(std::uint64_t peer, const ProcessGrid& grid) {
    return peer < grid.ranks() ? std::optional(static_cast<std::uint32_t>(peer)) : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> peer_of(const PeerRule& rule, const ProcessGrid& grid, std::uint32_t rank) {
    switch (rule.kind) {
        case PeerRule::Kind::any:
            return std::nullopt;
        case PeerRule::Kind::fixed:
            return rank == rule.number ? std::nullopt : below(rule.number, grid);
        case PeerRule::Kind::shift:
            return shifted(rule, grid, rank);
        case PeerRule::Kind::flip: {
            const std::uint32_t at = grid.coordinate(rank, rule.dimension);
            const std::uint32_t to = at ^ rule.mask;
            return to < grid.extents[rule.dimension] ? std::optional(rank + (to - at) * grid.stride(rule.dimension))
                                                     : std::nullopt;
        }
        case PeerRule::Kind::transpose:
            return transposed(grid, rank);
        case PeerRule::Kind::parent:
            return rank == 0 ? std::nullopt : std::optional((rank - 1) / 2);
        case PeerRule::Kind::left_child:
            return below(2 * std::uint64_t{rank} + 1, grid);
        case PeerRule::Kind::right_child:
            return below(2 * std::uint64_t{rank} + 2, grid);
        case PeerRule::Kind::other:
            return below(std::uint64_t{rule.number} + (rule.number >= rank ? 1 : 0), grid);
        case PeerRule::Kind::worker:
            return rank == 0 ? below(std::uint64_t{rule.number} + 1, grid) : std::nullopt;
    }
    return std::nullopt;
}

std::uint32_t CommunicatorRule::size(const ProcessGrid& grid) const {
    std::uint32_t size = 1;
    for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
        size *= varies[d] ? grid.extents[d] : 1;
    }
    return size;
}

std::uint32_t CommunicatorRule::rank_in(const ProcessGrid& grid, std::uint32_t rank) const {
    std::uint32_t in = 0;
    for (std::uint32_t d = 0; d < ProcessGrid::dimensions; ++d) {
        in = varies[d] ? in * grid.extents[d] + grid.coordinate(rank, d) : in;
    }
    return in;
}

std::uint32_t CommunicatorRule::member(const ProcessGrid& grid, std::uint32_t rank, std::uint32_t member) const {
    std::uint32_t world = rank;
    for (std::uint32_t d = ProcessGrid::dimensions; d-- > 0;) {
        if (varies[d]) {
            world += (member % grid.extents[d] - grid.coordinate(rank, d)) * grid.stride(d);
            member /= grid.extents[d];
        }
    }
    return world;
}

}  // namespace idlewave::collectives
