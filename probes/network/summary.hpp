// The summary of an assessment, which is written to loggp.json beside the samples.
#pragma once

#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/page.hpp"
#include "common/place.hpp"
#include "network/samples_file.hpp"
#include "network/series.hpp"
#include "network/settings.hpp"

namespace idlewave::probe::network {

constexpr int samples_format = 2;

inline double load_average() {
    double one = 0;
    return getloadavg(&one, 1) == 1 ? one : std::numeric_limits<double>::quiet_NaN();
}

inline std::vector<std::string> series_of(const Abilities& abilities) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < series_names.size(); ++i) {
        if (has(abilities, static_cast<Series>(i))) names.emplace_back(series_names.at(i));
    }
    return names;
}

inline json::Object foreign_load(const AssessmentOutcome& outcome) {
    const auto known = [](double share) { return share < 0 ? json::null() : json::value(share); };
    std::vector<json::Text> client;
    std::vector<json::Text> server;
    for (const auto& [clients, servers] : outcome.load) {
        client.push_back(known(clients));
        server.push_back(known(servers));
    }
    return json::Object().add("client", client).add("server", server);
}

template <class Clock>
json::Object describe_clock(const Clock& clock) {
    json::Object object;
    object.add("counter", clock.source()).add("tick_ns", clock.tick_ns);
    object.add("read_cost_ns", clock.read_cost * clock.tick_ns);
    return object.add("wait_cost_ns", clock.wait_cost * clock.tick_ns);
}

inline json::Object describe(const Traits& traits) {
    json::Object object;
    object.add("needs_mpi", traits.needs_mpi).add("passive", traits.passive).add("receives", traits.receives);
    return object.add("rendezvous", traits.rendezvous).add("shared_memory", traits.shared_memory);
}

// Null if a side runs on no host.
inline json::Text same_node(const std::array<ProcessPlace, 2>& places) {
    if (places[0].host().empty() || places[1].host().empty()) return json::null();
    return json::value(places[0].host() == places[1].host());
}

// The part of the summary that is known before the assessment.
struct Given {
    json::Object beginning;  // the transport's own
    Abilities abilities;
    Settings settings;
    std::array<ProcessPlace, 2> places;
    double load = load_average();
};

inline json::Object summary_of(const Given& given, const AssessmentOutcome& outcome) {
    const Settings& settings = given.settings;
    json::Object object = given.beginning;
    object.add("probe", "loggp").add("format", samples_format).add("transport", given.abilities.traits.name);
    object.add("traits", describe(given.abilities.traits));
    if (!given.abilities.fabric.empty()) object.add("fabric", given.abilities.fabric);
    object.add("ranks", std::vector<json::Object>{describe(given.places[0]), describe(given.places[1])});
    object.add("same_node", same_node(given.places));
    object.add("file", "samples.csv").add("columns", sample_columns).add("series", series_of(given.abilities));
    if (given.abilities.in_page) {
        object.add("pages", json::Object().add("size", page_size()).add("start", *given.abilities.in_page));
    }
    object.add("train", settings.train).add("seed", settings.seed);
    object.add("seconds", settings.seconds).add("width", settings.width);
    object.add("sizes", outcome.sizes.size()).add("max_size", settings.max_size);
    object.add("breaks", outcome.breaks).add("blocking_from", outcome.blocking);
    object.add("core_sizes", outcome.core_sizes).add("dropped_sizes", outcome.dropped);
    object.add("repetitions", outcome.repetitions).add("samples", outcome.samples);
    object.add("lost", outcome.lost).add("settled", outcome.settled).add("ended", outcome.ended);
    object.add("complete", outcome.ended != "interrupted" && outcome.ended != killed);
    object.add("load", json::Object().add("before", given.load).add("after", load_average()));
    return object.add("foreign_load", foreign_load(outcome));
}

}  // namespace idlewave::probe::network
