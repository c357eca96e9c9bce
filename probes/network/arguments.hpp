// The command line of both programs.
#pragma once

#include <getopt.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "network/failure.hpp"
#include "network/settings.hpp"

namespace idlewave::network {

struct Arguments {
    Settings settings;
    std::string transport;
    std::string address;   // of the server's host, for transports that open sockets
    std::string provider;  // of libfabric
    std::string listen;
    std::string connect;
    std::string network;
    double scatter = 0;
    double hits = 0;
    double timeout = 30;
    bool list_transports = false;
    bool help = false;
};

inline double number(const char* name, const char* text, double low, double high) {
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    const bool inside = value >= low && value <= high;
    if (end == text || *end != '\0' || !inside) {
        throw WrongUse(std::string("--") + name + ": expected a number from " + std::to_string(low) + " to " +
                       std::to_string(high) + ", found '" + text + "'");
    }
    return value;
}

inline void take(Arguments& a, const std::string& name, const char* text) {
    Settings& s = a.settings;
    const auto limited = [&](double low, double high) { return number(name.c_str(), text, low, high); };
    if (name == "output") s.output = text;
    if (name == "seconds") s.seconds = limited(0.01, 86400);
    if (name == "max-size") s.max_size = static_cast<int>(limited(2, 1'073'741'824));
    if (name == "train") s.train = static_cast<int>(limited(2, 10000));
    if (name == "seed") s.seed = static_cast<unsigned long>(limited(0, 1e15));
    if (name == "repetitions") s.repetitions = static_cast<int>(limited(1, 1e9));
    if (name == "width") s.width = limited(0.0001, 1);
    if (name == "transport") a.transport = text;
    if (name == "address") a.address = text;
    if (name == "provider") a.provider = text;
    if (name == "listen") a.listen = text;
    if (name == "connect") a.connect = text;
    if (name == "network") a.network = text;
    if (name == "scatter") a.scatter = limited(0, 0.5);
    if (name == "hits") a.hits = limited(0, 1);
    if (name == "timeout") a.timeout = limited(0.1, 86400);
    if (name == "transports") a.list_transports = true;
    if (name == "help") a.help = true;
}

// `without` holds the names that this program does not have.
inline Arguments parse(int argc, char* const* argv, const std::vector<std::string>& without) {
    std::vector<option> known;
    for (const char* name : {"output", "seconds", "max-size", "train", "seed", "repetitions", "width", "transport",
                             "address", "provider", "listen", "connect", "network", "scatter", "hits", "timeout"}) {
        bool has = true;
        for (const std::string& other : without) has = has && other != name;
        if (has) known.push_back({name, required_argument, nullptr, 0});
    }
    known.push_back({"transports", no_argument, nullptr, 0});
    known.push_back({"help", no_argument, nullptr, 0});
    known.push_back({nullptr, 0, nullptr, 0});
    Arguments arguments;
    int index = 0;
    for (int c = 0; (c = getopt_long(argc, argv, "", known.data(), &index)) != -1;) {
        if (c != 0) throw WrongUse("the option is not known, or lacks its value; --help shows them");
        take(arguments, known[static_cast<std::size_t>(index)].name, optarg == nullptr ? "" : optarg);
    }
    if (optind < argc) throw WrongUse("expected options only, found '" + std::string(argv[optind]) + "'");
    return arguments;
}

}  // namespace idlewave::network
