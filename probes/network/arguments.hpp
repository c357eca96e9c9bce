// The options of both programs that assess a pair.
#pragma once

#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "network/connection.hpp"
#include "network/settings.hpp"

namespace idlewave::probe::network {

struct Arguments {
    Settings settings;
    std::string transport;
    std::string address;   // of the server's host, for transports that open sockets
    std::string provider;  // of libfabric
    double timeout = 30;
    bool list_transports = false;
};

// Those of any assessment.
inline std::vector<CommandOption> settings_arguments(Settings& s) {
    return {
        {"output", "DIR", "folder for samples and summary", text_to(s.output)},
        {"seconds", "S", "time limit in seconds (8)", number_to(s.seconds, 0.01, 86400)},
        {"max-size", "BYTES", "size of the largest message, in bytes (262144)",
         integer_to(s.max_size, 2, 1'073'741'824)},
        {"sizes", "B,B,...", "measure these sizes, and look for no others (default: sizes are chosen)",
         integers_to(s.sizes, 1, 1'073'741'824)},
        {"train", "N", "number of messages in a train (16)", integer_to(s.train, 2, 10000)},
        {"repetitions", "R", "largest number of repetitions (1000)", integer_to(s.repetitions, 1, 1'000'000'000)},
        {"width", "PART", "relative width of a median's 95 % interval at which its sampling ends (0.02)",
         number_to(s.width, 0.0001, 1)},
        {"seed", "K", "seed of the order of samples (1)", integer_to(s.seed, 0, 1'000'000'000'000'000)},
    };
}

inline std::vector<CommandOption> common_arguments(Arguments& a) {
    std::vector<CommandOption> all = settings_arguments(a.settings);
    const std::vector<CommandOption> more = {
        {"transport", "T", "what carries the messages", text_to(a.transport)},
        {"transports", "", "list the transports with their traits, as JSON", flag_to(a.list_transports)},
        {"address", "A", "address of the server's host, for transports with sockets (default: as the control channel)",
         text_to(a.address)},
        {"provider", "P", "libfabric's provider (default: shm within a host, else libfabric's choice)",
         text_to(a.provider)},
        {"timeout", "S", "seconds to wait for the other side (30)", number_to(a.timeout, 0.1, 86400)},
    };
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

inline Connection connection_of(const Arguments& arguments, bool server) {
    return {server, arguments.address, arguments.timeout, arguments.settings.max_size, arguments.provider};
}

// A check after parsing.
inline void require_output(const Arguments& arguments) {
    if (arguments.settings.output.empty()) throw refused("--output: expected the folder for samples and summary");
}

}  // namespace idlewave::probe::network
