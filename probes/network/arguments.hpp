// The options of both programs that assess a pair.
#pragma once

#include <string>
#include <vector>

#include "common/arguments.hpp"
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

inline std::vector<CommandOption> common_arguments(Arguments& a) {
    Settings& s = a.settings;
    return {
        {"output", "DIR", "the folder for samples and summary", text_to(s.output)},
        {"transport", "T", "what carries the messages", text_to(a.transport)},
        {"transports", "", "only say which transports there are, as JSON", flag_to(a.list_transports)},
        {"seconds", "S", "how long it may take (8)", number_to(s.seconds, 0.01, 86400)},
        {"max-size", "BYTES", "the largest message (262144)", integer_to(s.max_size, 2, 1'073'741'824)},
        {"train", "N", "messages of a train (16)", integer_to(s.train, 2, 10000)},
        {"repetitions", "R", "at most so many (1000)", integer_to(s.repetitions, 1, 1'000'000'000)},
        {"width", "PART", "of a median's interval, at which it is settled (0.02)", number_to(s.width, 0.0001, 1)},
        {"seed", "K", "of the order of samples (1)", integer_to(s.seed, 0, 1'000'000'000'000'000)},
        {"address", "A", "of the server's host, for sockets (as the two found each other)", text_to(a.address)},
        {"provider", "P", "of libfabric (shm within a host, else the one it prefers)", text_to(a.provider)},
        {"timeout", "S", "how long to wait for the other side (30)", number_to(a.timeout, 0.1, 86400)},
    };
}

// After parsing.
inline void require_output(const Arguments& arguments) {
    if (arguments.settings.output.empty()) throw refused("--output: expected the folder for samples and summary");
}

}  // namespace idlewave::probe::network
