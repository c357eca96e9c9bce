#include "pdes/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "pdes/snapshot.hpp"
#include "pdes/statistics.hpp"
#include "pdes/transport.h"

namespace idlewave::pdes {
namespace {

using Section = Snapshot::Section;

void check(const idlewave_transport& transport, int status) {
    if (status != 0) {
        throw TransportError(transport.error_text());
    }
}

/// A section, followed by the number of its partition. A message without bytes says that a process has sent all its
/// sections.
struct InFlight {
    std::int32_t ticket = 0;
    Section bytes;
};

std::vector<InFlight> send_all(Snapshot& snapshot, const idlewave_transport& transport, std::uint32_t threads) {
    std::vector<InFlight> sending;
    const auto send = [&](std::uint32_t process, Section bytes) {
        InFlight& one = sending.emplace_back(InFlight{0, std::move(bytes)});
        check(transport,
              transport.send(static_cast<std::int32_t>(process), one.bytes.data(), one.bytes.size(), &one.ticket));
    };
    for (std::uint32_t process = 0; process < static_cast<std::uint32_t>(transport.processes); ++process) {
        if (process == static_cast<std::uint32_t>(transport.process)) {
            continue;
        }
        for (std::uint32_t partition = process * threads; partition < (process + 1) * threads; ++partition) {
            for (Section& section : std::exchange(snapshot.of(partition), {})) {
                const auto* number = reinterpret_cast<const std::byte*>(&partition);
                section.insert(section.end(), number, number + sizeof partition);
                send(process, std::move(section));
            }
        }
        send(process, {});
    }
    return sending;
}

void complete_sends(std::vector<InFlight>& sending, const idlewave_transport& transport) {
    std::erase_if(sending, [&](const InFlight& one) {
        std::int32_t done = 0;
        check(transport, transport.sent(one.ticket, &done));
        return done != 0;
    });
}

/// Receives a message; returns whether there was one. An empty one counts in `ended`.
bool receive(Snapshot& snapshot, const idlewave_transport& transport, std::int32_t& ended) {
    std::int64_t size = 0;
    check(transport, transport.probe(&size));
    if (size < 0) {
        return false;
    }
    Section bytes(static_cast<std::size_t>(size));
    check(transport, transport.receive(bytes.data()));
    if (bytes.empty()) {
        ++ended;
        return true;
    }
    std::uint32_t partition = 0;
    std::memcpy(&partition, bytes.data() + bytes.size() - sizeof partition, sizeof partition);
    bytes.resize(bytes.size() - sizeof partition);
    snapshot.add(partition, std::move(bytes));
    return true;
}

}  // namespace

void exchange(Snapshot& snapshot, const idlewave_transport& transport, std::uint32_t threads) {
    barrier(&transport);
    std::vector<InFlight> sending = send_all(snapshot, transport, threads);
    std::int32_t ended = 0;
    while (ended < transport.processes - 1 || !sending.empty()) {
        if (!receive(snapshot, transport, ended)) {
            complete_sends(sending, transport);
        }
    }
    barrier(&transport);
}

void barrier(const idlewave_transport* transport) {
    std::uint64_t nothing = 0;
    sum_over_processes(std::span(&nothing, 1), transport);
}

void sum_over_processes(std::span<std::uint64_t> values, const idlewave_transport* transport) {
    if (transport != nullptr) {
        check(*transport, transport->sum(values.data(), static_cast<std::int32_t>(values.size())));
    }
}

void sum_over_processes(Statistics& statistics, const idlewave_transport* transport) {
    const auto sums = statistics.sums();
    std::array<std::uint64_t, std::tuple_size_v<decltype(sums)>> values{};
    std::transform(sums.begin(), sums.end(), values.begin(), [](const std::uint64_t* sum) { return *sum; });
    sum_over_processes(values, transport);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        *sums[i] = values[i];
    }
}

}  // namespace idlewave::pdes
