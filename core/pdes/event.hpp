#pragma once

#include <cstdint>
#include <tuple>

#include "base/time.hpp"

namespace idlewave::pdes {

/// What a logical process (LP) is told, and when.
template <class Payload>
struct Event {
    Time time = 0;
    std::uint32_t destination = 0;
    std::uint32_t source = 0;
    std::uint64_t sequence = 0;  ///< how many events the source had sent before
    Payload payload;

    /// In place of a source: the LP's own timer. It comes after all messages of its time.
    static constexpr std::uint32_t timer = 0xffffffff;

    /// The total order in which events are handled: it depends on no placement and no scheduler.
    [[nodiscard]] auto order() const { return std::tuple(time, destination, source, sequence); }
};

}  // namespace idlewave::pdes
