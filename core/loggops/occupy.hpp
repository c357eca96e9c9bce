#pragma once

#include "base/time.hpp"
#include "machine/machine.hpp"

namespace idlewave {

/// An overhead, o_s or o_r, and whether noise reaches it.
struct Overhead {
    Time length = 0;
    bool reached = true;
};

/// The time at which a CPU that transmits or receives is done with the overhead, and that at which it is free.
struct Occupied {
    Time overhead = 0;
    Time end = 0;
};

/// The CPU's part in a transmission or reception that begins at `t`: first the overhead, then the time `bytes` that O
/// costs. A part that noise does not reach takes its plain time, and delays what follows (docs/model.md, R17).
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
        NoiseState ahead = state;  // a copy: other work of the rank may still begin before the overhead ends
        done.end = machine.noise.finish(ahead, done.overhead, bytes);
    }
    return done;
}

}  // namespace idlewave
