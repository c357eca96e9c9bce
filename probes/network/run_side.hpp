// One side of an assessment.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "network/assessment.hpp"
#include "network/server.hpp"
#include "network/summary.hpp"

namespace idlewave::probe::network {

// A process that is bound to one CPU stays there. Otherwise the client takes the first CPU that it may use, and the
// server the last, so that on one host the two have different CPUs.
inline ProcessPlace take_place(bool server) {
    const std::vector<int> allowed = allowed_cpus();
    ProcessPlace place = place_among_cpus();
    if (allowed.size() > 1) bind_to(place, server ? allowed.back() : allowed.front());
    return place;
}

// Receives the other side's place. Its text is terminated and its truth value made valid, whatever was received.
template <ControlPlane Control>
ProcessPlace receive_place(Control& control) {
    ProcessPlace place = receive_value<ProcessPlace>(control);
    place.host_text.back() = '\0';
    unsigned char pinned = 0;
    static_assert(sizeof pinned == sizeof place.pinned_by_probe);
    std::memcpy(&pinned, &place.pinned_by_probe, sizeof pinned);
    place.pinned_by_probe = pinned != 0;
    return place;
}

// Each side needs a CPU of its own. Otherwise the server would answer only when the client's time slice is over.
inline void refuse_one_cpu_for_both(const ProcessPlace& mine, const ProcessPlace& other) {
    if (mine.cpu < 0 || mine.cpu != other.cpu || mine.host() != other.host()) return;
    throw failed("both sides are bound to CPU " + std::to_string(mine.cpu) + "; they need one each");
}

// Runs one side. The two sides first exchange their places. `own` are the summary's first entries. Returns the outcome,
// which the client has.
template <class S>
AssessmentOutcome run_side(S side, bool server, const Settings& settings, const ProcessPlace& mine,
                           const json::Object& own) {
    send_value(side.control, mine);
    const ProcessPlace other = receive_place(side.control);
    refuse_one_cpu_for_both(mine, other);
    if (server) {
        Server<S>(side, mine.cpu).serve();
        return {};
    }
    Given given{own, abilities_of(side.data), settings, {mine, other}};
    given.beginning.append(describe_clock(side.clock));
    const std::string file = settings.output + "/loggp.json";
    Client<S> client(side);
    Assessment assessment(sampler_of(client, side), settings, mine.cpu);
    // A launcher may kill its ranks before the end, so everything that is known now is written now.
    replace_file(file, summary_of(given, {}).text().text + "\n");
    AssessmentOutcome outcome = assessment.run();
    const std::string summary = summary_of(given, outcome).text().text;
    replace_file(file, summary + "\n");
    print_line(summary);
    return outcome;
}

}  // namespace idlewave::probe::network
