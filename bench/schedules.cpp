// Writes a schedule of the kind that real programs have, as a LogGOPSim binary file, for bench/peer.py:
//
//     schedules random|halo RANKS STEPS SEED FILE
//
// random: every rank posts all its receives, and then computes and sends STEPS times, to random ranks, random sizes up
// to 64 KiB. halo: STEPS iterations of computation that takes another time each time, an exchange of 8 KiB with the
// four neighbours on a periodic square, and an allreduce of 8 bytes by recursive doubling; RANKS is a power of two.
#include <bit>
#include <cstdint>
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "goal/rank_schedule.hpp"
#include "goal/schedule_file.hpp"

namespace {

using idlewave::goal::Edge;
using idlewave::goal::Op;
using idlewave::goal::OpIndex;
using idlewave::goal::OpKind;
using idlewave::goal::RankSchedule;
using idlewave::goal::ScheduleWriter;
using Random = std::mt19937_64;

/// A rank to which ops are added, each with the ops that must have ended before.
class RankBuilder {
  public:
    OpIndex add(const Op& op, const std::vector<OpIndex>& after) {
        rank_.ops.push_back(op);
        const auto added = static_cast<OpIndex>(rank_.ops.size() - 1);
        for (const OpIndex before : after) {
            rank_.requirements.push_back({added, before, Edge::end});
        }
        return added;
    }
    [[nodiscard]] const RankSchedule& rank() const { return rank_; }

  private:
    RankSchedule rank_;
};

void write_random(ScheduleWriter& out, std::uint32_t ranks, std::uint32_t steps, Random& random) {
    constexpr std::uint64_t largest = 65'536;
    std::vector<std::vector<Op>> sends(ranks);
    std::vector<std::vector<Op>> receives(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t step = 0; step < steps; ++step) {
            const auto to = static_cast<std::uint32_t>((rank + 1 + random() % (ranks - 1)) % ranks);
            const std::uint64_t size = 1 + random() % largest;
            sends[rank].push_back({.size = size, .peer = to, .tag = step, .kind = OpKind::send});
            receives[to].push_back({.size = size, .peer = rank, .tag = step, .kind = OpKind::recv});
        }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        RankBuilder builder;
        for (const Op& receive : receives[rank]) {
            builder.add(receive, {});
        }
        std::vector<OpIndex> before;
        for (const Op& send : sends[rank]) {
            const OpIndex computed = builder.add({.size = random() % 2000}, before);
            before = {builder.add(send, {computed})};
        }
        out.add(builder.rank());
    }
}

/// The four neighbours of a rank on a periodic grid of `width` columns.
std::vector<std::uint32_t> neighbours(std::uint32_t rank, std::uint32_t width, std::uint32_t height) {
    const std::uint32_t x = rank % width;
    const std::uint32_t y = rank / width;
    return {y * width + (x + 1) % width, y * width + (x + width - 1) % width, (y + 1) % height * width + x,
            (y + height - 1) % height * width + x};
}

void write_halo(ScheduleWriter& out, std::uint32_t ranks, std::uint32_t steps, Random& random) {
    constexpr std::uint64_t face = 8192;
    constexpr std::uint32_t tag_of_allreduce = 100;
    std::uint32_t width = 1;
    while (std::uint64_t{width} * width < ranks) {
        width *= 2;
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::vector<std::uint32_t> around = neighbours(rank, width, ranks / width);
        RankBuilder builder;
        std::vector<OpIndex> before;
        for (std::uint32_t step = 0; step < steps; ++step) {
            const OpIndex computed = builder.add({.size = 20'000 + random() % 2000}, before);
            std::vector<OpIndex> exchanged;
            for (std::uint32_t i = 0; i < around.size(); ++i) {
                const Op receive{.size = face, .peer = around[i ^ 1U], .tag = i, .kind = OpKind::recv};
                exchanged.push_back(builder.add(receive, {computed}));
            }
            for (std::uint32_t i = 0; i < around.size(); ++i) {
                const Op send{.size = face, .peer = around[i], .tag = i, .kind = OpKind::send};
                exchanged.push_back(builder.add(send, {computed}));
            }
            before = {builder.add({}, exchanged)};
            for (std::uint32_t distance = 1; distance < ranks; distance *= 2) {
                const std::uint32_t peer = rank ^ distance;
                const OpIndex received =
                    builder.add({.size = 8, .peer = peer, .tag = tag_of_allreduce, .kind = OpKind::recv}, before);
                const OpIndex sent =
                    builder.add({.size = 8, .peer = peer, .tag = tag_of_allreduce, .kind = OpKind::send}, before);
                before = {builder.add({}, {received, sent})};
            }
        }
        out.add(builder.rank());
    }
}

void write(const std::vector<std::string>& arguments) {
    if (arguments.size() != 6) {
        throw std::invalid_argument("expected: random|halo RANKS STEPS SEED FILE");
    }
    if (arguments[1] != "random" && arguments[1] != "halo") {
        throw std::invalid_argument("expected random or halo, found " + arguments[1]);
    }
    const auto number = [&](std::size_t i) { return static_cast<std::uint32_t>(std::stoul(arguments[i])); };
    if (number(2) < 2 || (arguments[1] == "halo" && !std::has_single_bit(number(2)))) {
        throw std::invalid_argument("expected at least two ranks, and of a halo a power of two");
    }
    idlewave::OutputFile file(arguments[5]);
    ScheduleWriter out(file, idlewave::goal::ScheduleFormat::loggopsim, number(2));
    Random random(number(4));
    if (arguments[1] == "random") {
        write_random(out, number(2), number(3), random);
    } else {
        write_halo(out, number(2), number(3), random);
    }
    out.finish();
    file.commit();
}

}  // namespace

int main(int count, char** arguments) {
    try {
        write({arguments, arguments + count});
    } catch (const std::exception& error) {
        std::cerr << "schedules: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
