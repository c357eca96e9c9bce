#pragma once

#include <cstdint>

#include "collectives/algorithms.hpp"
#include "collectives/program.hpp"

namespace idlewave {

/// One call of a collective operation by `ranks` ranks, from root 0.
inline ProgramSource pattern(const Algorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                             double reduction_cost) {
    auto program = std::make_shared<Program>();
    RankProgram rank;
    rank.collectives.push_back({.step = algorithm.step, .bytes = bytes, .send_counts = {}, .recv_counts = {}});
    rank.instructions.push_back({.kind = Instruction::Kind::collective});
    program->ranks.push_back(std::move(rank));
    program->communicators = {{0}};
    program->reduction_cost = reduction_cost;
    return {std::move(program), ranks};
}

}  // namespace idlewave
