#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "machine/noise.hpp"
#include "machine/noise_reach.hpp"
#include "machine/variation.hpp"

namespace idlewave::machine {

/// LogGOPS parameters of one transmission. Times in ps, costs in ps per byte.
struct Parameters {
    Time L = 0;      ///< latency: first byte leaves the sender → first byte at the receiver
    Time o_s = 0;    ///< CPU time to send
    Time o_r = 0;    ///< CPU time to receive
    Time g = 0;      ///< least time between two injections, and two receptions, of one NIC
    double G = 0;    ///< gap per further byte
    double O_s = 0;  ///< CPU time per further byte at the sender
    double O_r = 0;  ///< the same at the receiver
    Time c = 0;      ///< completion: from the end of a send's CPU time until the send ends
    Time o_p = 0;    ///< CPU time to post a receive
};

/// The time that G, O_s or O_r adds for a message of `size` bytes: `cost` for each byte after the first. The product is
/// rounded once, halves up.
inline Time per_byte(double cost, std::uint64_t size) {
    if (cost == 0 || size <= 1) {
        return 0;
    }
    const double product = std::floor(static_cast<double>(size - 1) * cost + 0.5);
    if (product >= static_cast<double>(never)) {
        throw TimeOverflow();
    }
    return static_cast<Time>(product);
}

/// Parameters for messages of at least `from` bytes and less than the next segment's `from`.
struct Segment {
    std::uint64_t from = 0;
    Parameters parameters;
};

/// One level of the network. The first segment is from 0; `from` ascends.
struct Level {
    static constexpr std::uint64_t always_eager = std::numeric_limits<std::uint64_t>::max();

    std::vector<Segment> segments{Segment{}};
    std::uint64_t S = always_eager;  ///< largest eager message in bytes

    [[nodiscard]] const Parameters& of(std::uint64_t size) const {
        std::size_t i = segments.size() - 1;
        while (segments[i].from > size) {
            --i;
        }
        return segments[i].parameters;
    }
};

/// The levels that a machine may have.
enum class LevelKind : std::uint8_t {
    network,        ///< between nodes; on a machine without a network within nodes between all ranks
    node,           ///< within a node
    shared_buffer,  ///< within a node, through a buffer that its ranks share
    one_sided       ///< of one-sided operations between all ranks
};
inline constexpr std::array level_kinds{LevelKind::network, LevelKind::node, LevelKind::shared_buffer,
                                        LevelKind::one_sided};

/// What completes a one-sided operation at its target (docs/model.md, R22).
enum class Progress : std::uint8_t {
    network,  ///< the NIC alone
    cpu       ///< the NIC and a CPU, as for a message
};

/// A machine: its network between nodes, optionally another inside nodes of `node_ranks` ranks, and its noise.
/// Optionally a node has a buffer that its ranks share, for the messages with its tags (goal/op.hpp); on a machine
/// without a network within nodes, all ranks share it. Its messages are always eager. One-sided operations may have
/// parameters of their own; else they have those of messages between the same ranks.
struct Machine {
    Level network;
    std::optional<Level> node;
    std::uint32_t node_ranks = 1;
    std::optional<Level> shared_buffer;
    std::optional<Level> one_sided;
    Progress progress = Progress::network;  ///< of one-sided operations
    Noise noise;
    NoiseReach noise_reach;
    /// Of L and G of messages between nodes, and of one-sided operations with parameters of their own.
    Variation variation;

    /// One of the levels, which the machine must have.
    [[nodiscard]] const Level& level(LevelKind kind) const {
        switch (kind) {
            case LevelKind::node:
                return *node;
            case LevelKind::shared_buffer:
                return *shared_buffer;
            case LevelKind::one_sided:
                return *one_sided;
            case LevelKind::network:
                break;
        }
        return network;
    }

    [[nodiscard]] bool has_level(LevelKind kind) const;

    /// Whether L and G of a level vary over time (docs/model.md, R27).
    [[nodiscard]] bool varies(LevelKind kind) const {
        return !variation.empty() && (kind == LevelKind::network || kind == LevelKind::one_sided);
    }

    /// The least time after which an action of one rank can affect another: min (o_s + L) (docs/model.md, R19). With
    /// one-sided operations it is min L, since acknowledgements take no overhead.
    [[nodiscard]] Time lookahead(bool with_one_sided = false) const;

    /// Whether receives take the CPU: o_p is not 0 for messages of some size.
    [[nodiscard]] bool posts_take_cpu() const;

    /// Whether sends on a level end after their CPU time: it has a c that is not 0 for messages of some size.
    [[nodiscard]] bool sends_end_late(LevelKind kind) const;
};

}  // namespace idlewave::machine
