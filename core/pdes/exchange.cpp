#include "pdes/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace idlewave::pdes {
namespace {

using Piece = Image::Piece;

void check(const idlewave_wire& wire, int status) {
    if (status != 0) {
        throw TransportError(wire.error_text());
    }
}

/// A piece and, behind it, the partition that it is for; of no bytes at all where a process has sent all.
struct Leaving {
    std::int32_t ticket = 0;
    Piece bytes;
};

std::vector<Leaving> send_all(Image& image, const idlewave_wire& wire, std::uint32_t threads) {
    std::vector<Leaving> leaving;
    const auto send = [&](std::uint32_t process, Piece bytes) {
        Leaving& one = leaving.emplace_back(Leaving{0, std::move(bytes)});
        check(wire, wire.send(static_cast<std::int32_t>(process), one.bytes.data(), one.bytes.size(), &one.ticket));
    };
    for (std::uint32_t process = 0; process < static_cast<std::uint32_t>(wire.processes); ++process) {
        if (process == static_cast<std::uint32_t>(wire.process)) {
            continue;
        }
        for (std::uint32_t partition = process * threads; partition < (process + 1) * threads; ++partition) {
            for (Piece& piece : std::exchange(image.of(partition), {})) {
                const auto* number = reinterpret_cast<const std::byte*>(&partition);
                piece.insert(piece.end(), number, number + sizeof partition);
                send(process, std::move(piece));
            }
        }
        send(process, {});
    }
    return leaving;
}

void forget_what_left(std::vector<Leaving>& leaving, const idlewave_wire& wire) {
    std::erase_if(leaving, [&](const Leaving& one) {
        std::int32_t done = 0;
        check(wire, wire.sent(one.ticket, &done));
        return done != 0;
    });
}

/// Whether there was a message; an empty one says that another process has sent all.
bool receive(Image& image, const idlewave_wire& wire, std::int32_t& ended) {
    std::int64_t size = 0;
    check(wire, wire.probe(&size));
    if (size < 0) {
        return false;
    }
    Piece bytes(static_cast<std::size_t>(size));
    check(wire, wire.receive(bytes.data()));
    if (bytes.empty()) {
        ++ended;
        return true;
    }
    std::uint32_t partition = 0;
    std::memcpy(&partition, bytes.data() + bytes.size() - sizeof partition, sizeof partition);
    bytes.resize(bytes.size() - sizeof partition);
    image.add(partition, std::move(bytes));
    return true;
}

}  // namespace

void exchange(Image& image, const idlewave_wire& wire, std::uint32_t threads) {
    meet(&wire);
    std::vector<Leaving> leaving = send_all(image, wire, threads);
    std::int32_t ended = 0;
    while (ended < wire.processes - 1 || !leaving.empty()) {
        if (!receive(image, wire, ended)) {
            forget_what_left(leaving, wire);
        }
    }
    meet(&wire);
}

void meet(const idlewave_wire* wire) {
    std::uint64_t nothing = 0;
    add_up(std::span(&nothing, 1), wire);
}

void add_up(std::span<std::uint64_t> values, const idlewave_wire* wire) {
    if (wire != nullptr) {
        check(*wire, wire->sum(values.data(), static_cast<std::int32_t>(values.size())));
    }
}

void add_up(Statistics& statistics, const idlewave_wire* wire) {
    const auto sums = statistics.sums();
    std::array<std::uint64_t, std::tuple_size_v<decltype(sums)>> values{};
    std::transform(sums.begin(), sums.end(), values.begin(), [](const std::uint64_t* sum) { return *sum; });
    add_up(values, wire);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        *sums[i] = values[i];
    }
}

}  // namespace idlewave::pdes
