// What computes beside traffic: a short iteration of fixed work whose result is checked.
#pragma once

#include <cmath>
#include <string>

#include "common/failure.hpp"
#include "contention/counters.hpp"

namespace idlewave::probe::contention {

class Victim {
  public:
    Victim() = default;
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;
    virtual ~Victim() = default;

    // Makes the state from which each iteration begins. Not timed.
    virtual void reset() = 0;

    // The work of an iteration, which is timed. Returns a result that is the same after each.
    virtual double run() = 0;

    // Whether the state after an iteration, whose result this is, is right by what is known of the problem. Not timed.
    [[nodiscard]] virtual bool is_right(double result) const = 0;

    // The counters of the last iteration alone, if it was not the calling thread that computed; else none.
    [[nodiscard]] virtual const Counters* counters() const { return nullptr; }
};

inline void check(const std::string& name, const Victim& victim, double result, double expected) {
    if (result == expected && victim.is_right(result)) return;
    throw failed("the victim " + name + " computed a wrong result: expected " + std::to_string(expected) + ", found " +
                 std::to_string(result));
}

}  // namespace idlewave::probe::contention
