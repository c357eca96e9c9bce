// One side's part in an assessment.
#pragma once

#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "network/assessment.hpp"
#include "network/server.hpp"
#include "network/summary.hpp"

namespace idlewave::network {

// A process that is bound to one CPU stays there. Another takes the first CPU that it may use; the server the last,
// so that on one host the two are apart.
inline Place take_place(bool server) {
    const std::vector<int> allowed = allowed_cpus();
    Place place = place_among_cpus();
    if (allowed.size() > 1) bind_to(place, server ? allowed.back() : allowed.front());
    return place;
}

// Both sides: their places are told to each other first. `own` are the summary's first entries.
template <class S>
void run_side(S side, bool server, const Settings& settings, const Place& mine, const json::Object& own) {
    send_value(side.control, mine);
    const Place other = receive_value<Place>(side.control);
    if (server) {
        Server<S>(side, mine.cpu).serve();
        return;
    }
    Given given{own, abilities_of(side.data), settings, {mine, other}};
    given.beginning.append(describe_clock(side.clock));
    const std::string file = settings.output + "/loggp.json";
    Client<S> client(side);
    Assessment assessment(sampler_of(client, side), settings, mine.cpu);
    // A launcher may kill its ranks before they get to the end: by then all that is known now is there.
    replace_file(file, summary_of(given, {}).text().text + "\n");
    const std::string summary = summary_of(given, assessment.run()).text().text;
    replace_file(file, summary + "\n");
    print_line(summary);
}

}  // namespace idlewave::network
