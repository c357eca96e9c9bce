#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dice.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::testing {

inline goal::Op random_one_sided_op(Dice& dice, std::uint32_t ranks, std::uint8_t cpu) {
    constexpr goal::OpKind kinds[] = {goal::OpKind::put,  goal::OpKind::get,         goal::OpKind::await,
                                      goal::OpKind::lock, goal::OpKind::shared_lock, goal::OpKind::unlock};
    goal::Op op{.size = 1, .peer = dice.small(ranks), .kind = kinds[dice.roll(6)], .cpu = cpu};
    const bool awaits = op.kind == goal::OpKind::await;
    if (goal::has_size(op.kind)) {
        op.size = dice.one_in(4) ? goal::largest_size : dice.roll(100);
    }
    if (awaits && dice.one_in(4)) {
        op.peer = goal::any;
    }
    if (op.kind != goal::OpKind::get) {
        const bool any_or_none = awaits || op.kind == goal::OpKind::put;
        op.tag = any_or_none && dice.one_in(4) ? goal::any : dice.small(3);
    }
    op.nic = static_cast<std::uint8_t>(dice.one_in(4) ? dice.roll(256) : 0);
    return op;
}

inline goal::Op random_op(Dice& dice, std::uint32_t ranks, bool with_one_sided) {
    constexpr std::uint64_t sizes[] = {0, 1, 8, 1 << 20, std::uint64_t{1} << 33, goal::largest_size};
    constexpr std::uint64_t times[] = {
        0, 1, 1000, (std::uint64_t{1} << 50) - 1, std::uint64_t{1} << 50, goal::largest_calc};
    const auto cpu = static_cast<std::uint8_t>(dice.one_in(4) ? dice.roll(256) : 0);
    if (dice.one_in(3)) {
        return {.size = times[dice.roll(6)], .kind = goal::OpKind::calc, .cpu = cpu};
    }
    if (with_one_sided && dice.one_in(3)) {
        return random_one_sided_op(dice, ranks, cpu);
    }
    const bool send = dice.one_in(2);
    return {.size = dice.one_in(3) ? dice.roll(100) : sizes[dice.roll(6)],
            .peer = !send && dice.one_in(4) ? goal::any : dice.small(ranks),
            .tag = dice.one_in(4) ? goal::any : dice.small(3),
            .kind = send ? goal::OpKind::send : goal::OpKind::recv,
            .cpu = cpu,
            .nic = static_cast<std::uint8_t>(dice.one_in(4) ? dice.roll(256) : 0)};
}

/// A rank with requirements of any kind: on the op before, on later ones, on itself, several times the same.
inline goal::RankSchedule random_rank_schedule(Dice& dice, std::uint32_t ranks, std::uint32_t most,
                                               bool with_one_sided = false) {
    goal::RankSchedule rank;
    const std::uint32_t count = dice.small(most + 1);
    const std::uint64_t labels = dice.roll(3);
    for (goal::OpIndex op_index = 0; op_index < count; ++op_index) {
        rank.ops.push_back(random_op(dice, ranks, with_one_sided));
        rank.labels.add(labels == 0   ? std::string()
                        : labels == 1 ? goal::numbered_label(op_index)
                                      : std::string(dice.roll(4), 'x') + (dice.one_in(2) ? "" : "y1"));
    }
    for (std::uint64_t n = count == 0 ? 0 : dice.roll(3 * count); n > 0; --n) {
        const goal::OpIndex other = dice.small(count);
        const goal::OpIndex waiting = dice.one_in(2) && other + 1 < count ? other + 1 : dice.small(count);
        rank.requirements.push_back({waiting, other, dice.one_in(3) ? goal::Edge::start : goal::Edge::end});
    }
    return rank;
}

}  // namespace idlewave::testing
