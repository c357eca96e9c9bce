// An assessment's view of a pair: a function that takes a sample, whatever the transport.
//
// These calls are around whole samples. The timed code lies within, compiled for its transport (client.hpp); so an
// assessment is compiled once, and not once a transport.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "network/client.hpp"
#include "network/series.hpp"

namespace idlewave::probe::network {

struct Sampler {
    Abilities abilities;
    std::function<std::optional<Sample>(const Exchange&)> sample;  // returns nothing if a message was lost
    std::function<double()> now_ns;                                // the transport's clock
    std::function<double()> server_load;
    std::function<bool()> server_interrupted;
    std::function<void()> stop;
};

// The sampler of a client's side, which must outlive it.
template <class S>
Sampler sampler_of(Client<S>& client, S side) {
    return {abilities_of(side.data),
            [&client](const Exchange& job) { return client.sample(job); },
            [&clock = side.clock] { return static_cast<double>(clock.now()) * clock.tick_ns; },
            [&client] { return client.server_load(); },
            [&client] { return client.server_interrupted(); },
            [&client] { client.stop(); }};
}

}  // namespace idlewave::probe::network
