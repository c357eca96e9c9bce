#include "loggopsim/costs.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace idlewave::loggopsim {
namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw InputError("the loggopsim dialect " + what);
}

Time whole(const char* name, double cost) {
    if (cost != std::floor(cost) || cost >= 0x1p62) {
        refuse("counts whole picoseconds per byte; expected such a " + std::string(name) + ", found " +
               std::to_string(cost) + " ps");
    }
    return static_cast<Time>(cost);
}

}  // namespace

Costs costs_of(const machine::Machine& machine) {
    if (!machine.noise.silent()) {
        refuse("is for runs without noise: leave the machine's noise out");
    }
    if (!machine.variation.empty()) {
        refuse("knows one L and one G for all times: leave out network.variation");
    }
    if (machine.node) {
        refuse("knows one network: leave out network.node");
    }
    if (machine.shared_buffer) {
        refuse("knows one network: leave out network.shared_buffer");
    }
    if (machine.network.segments.size() > 1) {
        refuse("knows one set of parameters for all sizes: leave out network.segment");
    }
    const machine::Parameters& p = machine.network.segments.front().parameters;
    if (p.o_s != p.o_r) {
        refuse("knows one overhead o; expected o_s and o_r to be equal, found " + std::to_string(p.o_s) + " ps and " +
               std::to_string(p.o_r) + " ps");
    }
    if (p.O_s != p.O_r) {
        refuse("knows one O; expected O_s and O_r to be equal, found " + std::to_string(p.O_s) + " ps and " +
               std::to_string(p.O_r) + " ps per byte");
    }
    if (p.o_p != 0) {
        refuse("knows no time to post a receive, o_p; expected 0, found " + std::to_string(p.o_p) + " ps");
    }
    if (p.c != 0) {
        refuse("knows no completion time c; expected 0, found " + std::to_string(p.c) + " ps");
    }
    return {.L = p.L, .o = p.o_s, .g = p.g, .G = whole("G", p.G), .O = whole("O", p.O_s), .S = machine.network.S};
}

}  // namespace idlewave::loggopsim
