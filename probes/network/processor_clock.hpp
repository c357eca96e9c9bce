// The processor's counter as a transport's clock.
#pragma once

#include <string>
#include <vector>

#include "common/median.hpp"
#include "common/switches.hpp"
#include "common/ticks.hpp"

namespace idlewave::probe::network {

class ProcessorClock {
  public:
    double tick_ns = 1;
    double read_cost = 0;  // ticks between two ordered reads with nothing between them
    double wait_cost = 0;  // ticks of a call of compute beyond its result

    ProcessorClock() { calibrate(); }

    Ticks now() const { return read_ticks_ordered(); }

    // Returns the real length, so that a detour in it does not count as the network's.
    __attribute__((noinline)) Ticks compute(Ticks length) const {
        const Ticks begin = read_ticks_ordered();
        Ticks now = begin;
        while (now - begin < length) now = read_ticks_ordered();
        return now - begin;
    }

    // Waits until the other side has posted its receive.
    void settle() const { compute(static_cast<Ticks>(1000 / tick_ns)); }

    std::int64_t involuntary() const { return involuntary_switches(); }

    double observed(double ns) const { return ns; }

    std::string source() const { return ticks_source(); }

  private:
    void calibrate() {
        constexpr int tries = 1000;
        tick_ns = measure_tick_length(50'000'000);
        std::vector<double> reads;
        std::vector<double> waits;
        for (int i = 0; i < tries; ++i) {
            const Ticks begin = read_ticks_ordered();
            const Ticks middle = read_ticks_ordered();
            const Ticks waited = compute(100);
            const Ticks end = read_ticks_ordered();
            reads.push_back(static_cast<double>(middle - begin));
            waits.push_back(static_cast<double>(end - middle - waited));
        }
        read_cost = upper_median(reads);
        wait_cost = upper_median(waits) - read_cost;
    }
};

}  // namespace idlewave::probe::network
