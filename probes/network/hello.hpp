// The first message between two processes. It ensures that both have one format.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "network/transport.hpp"

namespace idlewave::probe::network {

struct Hello {
    static constexpr std::array<char, 16> word = {'i', 'd', 'l', 'e', 'w', 'a', 'v', 'e', '-', 'l', 'o', 'g', 'g', 'p'};
    static constexpr std::int32_t format_here = 1;

    std::array<char, 16> magic = word;
    std::int32_t format = format_here;
    std::int32_t max_size = 0;
    std::array<char, 32> transport{};

    void set_transport(const std::string& name) {
        transport = {};
        std::copy_n(name.begin(), std::min(name.size(), transport.size() - 1), transport.begin());
    }
    std::string transport_name() const { return {transport.data(), strnlen(transport.data(), transport.size())}; }
};

inline void check_transport(const std::string& name, const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    std::string list;
    for (const std::string& other : known) list += (list.empty() ? "" : ", ") + other;
    throw refused("--transport: expected one of " + list + ", found '" + name + "'");
}

template <ControlPlane Control>
void say_hello(Control& control, const Hello& hello) {
    send_value(control, hello);
    const Hello answer = receive_value<Hello>(control);
    if (answer.magic != Hello::word) throw failed("what answers is not idlewave-loggp-local");
    if (answer.format != Hello::format_here) {
        throw failed("the other side has format " + std::to_string(answer.format) + ", this one " +
                     std::to_string(Hello::format_here) + "; both need the same version");
    }
    if (answer.max_size != hello.max_size) {
        throw failed("the other side refuses the transport '" + hello.transport_name() + "'");
    }
}

// Receives the client's request, once the other side is known to be a client. The server also answers a refused
// request, so that the client can report why.
template <ControlPlane Control>
Hello answer_hello(Control& control, const std::vector<std::string>& known) {
    const Hello hello = receive_value<Hello>(control);
    Hello answer;
    const bool ours = hello.magic == Hello::word;
    const std::string name = ours ? hello.transport_name() : "";
    const bool has = std::find(known.begin(), known.end(), name) != known.end();
    const bool fits = hello.max_size >= 2 && hello.max_size <= 1'073'741'824;
    answer.max_size = has && fits ? hello.max_size : 0;
    send_value(control, answer);
    if (!ours) throw failed("what connected is not idlewave-loggp-local");
    if (hello.format != Hello::format_here) {
        throw failed("the other side has format " + std::to_string(hello.format) + ", this one " +
                     std::to_string(Hello::format_here) + "; both need the same version");
    }
    if (!fits) throw failed("the other side asks for messages of " + std::to_string(hello.max_size) + " B");
    if (!has) throw failed("the transport '" + name + "' that the other side asks for is not known here");
    return hello;
}

}  // namespace idlewave::probe::network
