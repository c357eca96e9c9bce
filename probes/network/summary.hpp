// The summary of an assessment: the last line of standard output, and loggp.json beside the samples.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "network/failure.hpp"
#include "network/json.hpp"
#include "network/place.hpp"
#include "network/samples_file.hpp"
#include "network/series.hpp"
#include "network/settings.hpp"

namespace idlewave::network {

constexpr int samples_format = 1;

inline std::string load_average() {
    double one = 0;
    return getloadavg(&one, 1) == 1 ? json_number(one, 2) : "null";
}

inline std::string series_of(const Abilities& abilities) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < series_names.size(); ++i) {
        if (has(abilities, static_cast<Series>(i))) names.emplace_back(series_names.at(i));
    }
    return json_list(names, quoted);
}

inline std::string foreign_load(const Outcome& outcome) {
    const auto side = [&outcome](bool server) {
        return json_list(outcome.load, [server](const std::pair<double, double>& load) {
            const double share = server ? load.second : load.first;
            return share < 0 ? std::string("null") : json_number(share, 3);
        });
    };
    return JsonObject().raw("client", side(false)).raw("server", side(true)).str();
}

template <class Clock>
JsonObject describe_clock(const Clock& clock) {
    JsonObject object;
    object.text("counter", clock.source()).number("tick_ns", clock.tick_ns, 9);
    object.number("read_cost_ns", clock.read_cost * clock.tick_ns);
    return object.number("wait_cost_ns", clock.wait_cost * clock.tick_ns);
}

// What every transport's summary has; `object` is its beginning.
inline void summarise(JsonObject object, const Abilities& abilities, const Settings& settings, const Outcome& outcome,
                      const std::array<Place, 2>& places, const std::string& load_before) {
    object.text("probe", "loggp").integer("format", samples_format).text("transport", abilities.name);
    object.raw("ranks", "[" + describe(places[0]) + ", " + describe(places[1]) + "]");
    object.truth("same_node", same_host(places[0], places[1]));
    object.text("file", "samples.csv").text("columns", sample_columns).raw("series", series_of(abilities));
    object.raw("rules", JsonObject().truth("rendezvous measured", abilities.receives).str());
    object.integer("train", settings.train).integer("seed", static_cast<long long>(settings.seed));
    object.number("seconds", settings.seconds).number("width", settings.width, 4);
    object.integer("sizes", static_cast<long long>(outcome.sizes.size())).integer("max_size", settings.max_size);
    object.raw("breaks", json_list(outcome.breaks)).raw("blocking_from", json_list(outcome.blocking));
    object.raw("dropped_sizes", json_list(outcome.dropped));
    object.integer("repetitions", outcome.repetitions).integer("samples", outcome.samples);
    object.integer("lost", outcome.lost).number("settled", outcome.settled, 4).text("ended", outcome.ended);
    object.truth("complete", outcome.ended != "interrupted");
    object.raw("load", JsonObject().raw("before", load_before).raw("after", load_average()).str());
    object.raw("foreign_load", foreign_load(outcome));
    std::ofstream file(settings.output + "/loggp.json");
    file << object.str() << '\n';
    if (!file.flush()) throw Failure(settings.output + "/loggp.json cannot be written");
    std::printf("%s\n", object.str().c_str());
    std::fflush(stdout);
}

}  // namespace idlewave::network
