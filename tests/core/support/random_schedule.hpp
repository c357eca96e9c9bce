#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dice.hpp"
#include "goal/graph.hpp"
#include "machine/machine.hpp"

namespace idlewave::testing {

inline machine::Parameters random_parameters(Dice& dice) {
    constexpr double costs[] = {0, 0.5, 1, 2.25, 7};
    return {.L = dice.between(0, 40),
            .o_s = dice.between(1, 20),
            .o_r = dice.between(0, 20),
            .g = dice.between(0, 30),
            .G = costs[dice.roll(5)],
            .O_s = costs[dice.roll(5)],
            .O_r = costs[dice.roll(5)],
            .c = dice.one_in(4) ? dice.between(0, 40) : 0,
            .o_p = dice.one_in(12) ? dice.between(0, 20) : 0};
}

inline machine::Level random_level(Dice& dice) {
    machine::Level level;
    level.segments[0].parameters = random_parameters(dice);
    for (std::uint64_t from = 1 + dice.roll(6); dice.one_in(3); from += 1 + dice.roll(20)) {
        level.segments.push_back({from, random_parameters(dice)});
    }
    level.S = dice.one_in(2) ? machine::Level::always_eager : dice.roll(30);
    return level;
}

/// Detours that begin and last a few ps, in a period of at most a few hundred.
inline std::vector<machine::Detour> random_detours(Dice& dice, Time period) {
    std::vector<machine::Detour> detours;
    for (Time at = dice.between(0, 20); at < period; at += dice.between(0, 60)) {
        const Time length = std::min(dice.between(0, 25), period - at - (at == 0 ? 1 : 0));
        detours.push_back({at, length});
        at += length;
    }
    return detours;
}

inline machine::Machine random_machine(Dice& dice) {
    machine::Machine machine;
    machine.network = random_level(dice);
    if (dice.one_in(3)) {
        machine.node = random_level(dice);
        machine.node_ranks = 1 + dice.small(3);
    }
    if (dice.one_in(3)) {
        machine.shared_buffer = random_level(dice);
    }
    if (dice.one_in(2)) {
        const Time period = dice.between(50, 400);
        machine.noise = machine::NoiseTrace(random_detours(dice, period), period,
                                            dice.one_in(3) ? machine::Phase::same : machine::Phase::random);
    }
    return machine;
}

/// Messages between random ranks, with computation in between, and ops that wait for earlier ones. Most such schedules
/// end; with wildcards a message may go to another receive than it was meant for, and some do not.
inline goal::Graph random_schedule(Dice& dice, std::uint32_t ranks, std::uint32_t messages) {
    struct Planned {
        std::vector<goal::Op> ops;
        std::vector<std::pair<goal::OpIndex, goal::Edge>> waits_for;
        std::vector<goal::OpIndex> waiting;
    };
    std::vector<Planned> plan(ranks);
    const std::uint32_t cpus = dice.one_in(4) ? 2 : 1;
    const std::uint32_t nics = dice.one_in(4) ? 2 : 1;
    const bool wildcards = dice.one_in(3);
    const auto add = [&](std::uint32_t rank, goal::Op op) {
        Planned& planned = plan[rank];
        op.cpu = static_cast<std::uint8_t>(dice.roll(cpus));
        op.nic = static_cast<std::uint8_t>(op.kind == goal::OpKind::calc ? 0 : dice.roll(nics));
        const auto op_index = static_cast<goal::OpIndex>(planned.ops.size());
        planned.ops.push_back(op);
        for (std::uint64_t i = dice.roll(3); i > 0 && op_index > 0; --i) {
            planned.waiting.push_back(op_index);
            planned.waits_for.emplace_back(dice.small(op_index), dice.one_in(3) ? goal::Edge::start : goal::Edge::end);
        }
    };
    // A receive, and a send of the same kind that waits for its start alone.
    const auto exchange = [&](std::uint32_t rank, std::uint32_t peer, std::uint64_t size, std::uint32_t tag) {
        add(rank, {.size = size, .peer = peer, .tag = tag, .kind = goal::OpKind::recv});
        Planned& planned = plan[rank];
        goal::Op send = planned.ops.back();
        send.kind = goal::OpKind::send;
        planned.ops.push_back(send);
        planned.waiting.push_back(static_cast<goal::OpIndex>(planned.ops.size() - 1));
        planned.waits_for.emplace_back(static_cast<goal::OpIndex>(planned.ops.size() - 2), goal::Edge::start);
    };
    for (std::uint32_t i = 0; i < messages; ++i) {
        const std::uint32_t from = dice.small(ranks);
        const std::uint32_t to = dice.small(ranks);
        const std::uint32_t tag = dice.small(3) | (dice.one_in(3) ? goal::shared_buffer_tag : 0);
        const std::uint64_t size = dice.roll(40);
        if (dice.one_in(2)) {
            add(from, {.size = dice.roll(2), .kind = goal::OpKind::calc});
        }
        if (dice.one_in(4)) {
            exchange(from, to, size, tag);
            exchange(to, from, size, tag);
            continue;
        }
        // A few, without a throw of the dice: seeds give the schedules that others know.
        const std::uint64_t synchronous = i % 13 == 7 ? goal::synchronous_bit : 0;
        add(from, {.size = size | synchronous, .peer = to, .tag = tag, .kind = goal::OpKind::send});
        add(to, {.size = size,
                 .peer = wildcards && dice.one_in(3) ? goal::any : from,
                 .tag = wildcards && dice.one_in(3) ? goal::any : tag,
                 .kind = goal::OpKind::recv});
    }
    goal::GraphBuilder builder;
    for (const Planned& planned : plan) {
        builder.begin_rank();
        for (const goal::Op& op : planned.ops) {
            builder.add(op);
        }
        for (std::size_t i = 0; i < planned.waiting.size(); ++i) {
            builder.require(planned.waiting[i], planned.waits_for[i].first, planned.waits_for[i].second);
        }
    }
    return builder.finish();
}

}  // namespace idlewave::testing
