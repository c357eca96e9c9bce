// One side's part in an assessment.
#pragma once

#include <array>
#include <string>

#include "network/assessment.hpp"
#include "network/server.hpp"
#include "network/summary.hpp"

namespace idlewave::network {

// Both sides: their places are told to each other first. `own` are the summary's first entries.
template <class S>
void run_side(S side, bool server, const Settings& settings, const Place& mine, const JsonObject& own) {
    send_value(side.control, mine);
    const Place other = receive_value<Place>(side.control);
    const std::array<Place, 2> places = {server ? other : mine, server ? mine : other};
    if (server) {
        Server<S>(side, mine.cpu).serve();
        return;
    }
    const std::string load = load_average();
    Client<S> client(side);
    Assessment assessment(sampler_of(client, side), settings, mine.cpu);
    const Outcome outcome = assessment.run();
    JsonObject beginning = own;
    summarise(beginning.add(describe_clock(side.clock)), abilities_of(side.data), settings, outcome, places, load);
}

}  // namespace idlewave::network
