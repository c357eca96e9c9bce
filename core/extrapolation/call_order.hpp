#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "extrapolation/symbolic_program.hpp"

namespace idlewave::extrapolation {

/// Finds the order of all calls of a program from those of its ranks, each of which makes some of them.
///
/// The order of two calls that no rank makes both, because no traced rank has neighbours on both sides along a
/// dimension, is that of the same calls along another dimension; or else the lower neighbour's call comes first.
class CallOrder {
  public:
    /// `items` are numbered in no order; `sequences` has those of each rank. `program` gets the ordered items.
    CallOrder(SymbolicProgram& program, std::vector<Item> items,
              const std::vector<std::vector<std::uint32_t>>& sequences);

    /// Returns false if the ranks' orders contradict each other.
    bool find();

  private:
    /// What decides about two calls along a dimension: sends, receives and the waits for them, to either side.
    struct Side {
        std::uint8_t dimension = 0;
        std::uint8_t call = 0;         ///< below `calls`
        std::uint32_t occurrence = 0;  ///< of the same call before it
    };
    static constexpr std::size_t calls = 8;  ///< send, receive, and the waits for them; downwards, upwards
    static constexpr std::uint8_t upwards = 1;

    void note_sides();
    void learn();
    [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const;
    void store(const std::vector<std::uint32_t>& order);

    SymbolicProgram& program_;
    std::vector<Item> items_;
    const std::vector<std::vector<std::uint32_t>>& sequences_;
    std::vector<std::uint32_t> first_ranks_;  ///< by item: the first rank that makes the call
    std::vector<std::optional<Side>> sides_;  ///< by item: of messages along one dimension, and waits for them
    /// Which of two calls comes first: 1 the first, -1 the second, 0 unknown.
    std::array<std::array<int, calls>, calls> learned_{};
};

}  // namespace idlewave::extrapolation
