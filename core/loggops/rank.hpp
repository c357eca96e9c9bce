#pragma once

#include <algorithm>
#include <cstdint>

#include "base/inline_vector.hpp"
#include "base/slots.hpp"
#include "base/time.hpp"
#include "loggops/agenda.hpp"
#include "loggops/matching.hpp"
#include "machine/noise_state.hpp"

namespace idlewave {

/// A send by rendezvous, from its request to send until its data have left.
struct RendezvousSend {
    Op op = {};
    Place place = 0;
    std::uint32_t cookie = 0;
    Time ready = 0;
    Time start = 0;
    std::uint64_t number = 0;     ///< of its request to send
    std::uint32_t receiving = 0;  ///< the receiver's handle, once cleared to send
    bool cleared = false;         ///< the clear to send has been processed
};

/// All that changes of a simulated rank.
template <class SourceState>
struct Rank {
    Time finish = 0;                  ///< the latest of: an op's end, a CPU free, a message processed
    std::uint64_t transmissions = 0;  ///< started so far
    NoiseState noise;
    InlineVector<Time, 4> clocks;  ///< as ClockLayout says
    Agenda agenda;
    Matching matching;
    SourceState source;
    Slots<Arrived, 1> arrived;
    Slots<RendezvousSend, 1> sends;

    void reach(Time time) { finish = std::max(finish, time); }
};

}  // namespace idlewave
