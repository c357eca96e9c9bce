#pragma once

#include "base/time.hpp"
#include "machine/machine.hpp"

namespace idlewave {

/// An overhead, o_s or o_r, and whether noise reaches it.
struct Overhead {
    Time length = 0;
    bool reached = true;
};

/// When a CPU that transmits or receives is done with the overhead, and when with all further bytes.
struct Occupied {
    Time overhead = 0;
    Time end = 0;
};

/// A CPU's part in a transmission begun at `t`: first the overhead, then the time `bytes` for what O costs. What noise
/// does not reach takes its own time, and moves what follows.
inline Occupied occupy(const Machine& machine, NoiseState& state, Time t, Overhead first, Time bytes) {
    const bool bytes_reached = machine.noise_reach.O;
    Occupied done;
    done.overhead = first.reached ? machine.noise.finish(state, t, first.length) : later(t, first.length);
    if (bytes == 0) {
        done.end = done.overhead;
    } else if (!bytes_reached) {
        done.end = later(done.overhead, bytes);
    } else if (first.reached) {
        done.end = machine.noise.finish(state, t, later(first.length, bytes));
    } else {
        NoiseState ahead = state;  // other work of the rank may still begin before the overhead's end
        done.end = machine.noise.finish(ahead, done.overhead, bytes);
    }
    return done;
}

}  // namespace idlewave
