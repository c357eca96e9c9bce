/// A model of your own: customers go round a ring of stations. It is run sequentially and under Time Warp.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "base/elementary.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "pdes/run_model.hpp"

using idlewave::Time;
namespace pdes = idlewave::pdes;

/// A station serves one customer after another (FIFO), and sends each one to the next station. Times are in ns.
struct Ring {
    struct State {
        Time free_at = 0;          // when the station will have served all its customers
        std::uint64_t served = 0;  // customers served before the end
    };
    struct Payload {
        std::uint32_t customer = 0;
        bool operator==(const Payload&) const = default;
    };

    static constexpr std::uint32_t stations = 10'000;  // each begins with one customer
    static constexpr Time service = 1000;              // mean of the exponential service time
    static constexpr Time travel = 1000;               // time to the next station
    static constexpr Time end = 1'000'000;             // no customer arrives then or later

    static std::uint32_t lps() { return stations; }
    static Time lookahead() { return travel; }
    static std::uint64_t seed() { return 1; }

    template <class Context>
    void start(State& /*state*/, Context& context) const {
        context.send(context.self(), 0, {context.self()});
    }

    template <class Context>
    void handle(State& state, const Payload& payload, Context& context) const {
        const Time now = context.now();
        const double sample = -idlewave::natural_logarithm(idlewave::between_0_and_1(context.random_bits()[0]));
        state.free_at = std::max(now, state.free_at) + static_cast<Time>(sample * service);
        state.served += state.free_at < end ? 1 : 0;
        if (state.free_at + travel < end) {
            context.send((context.self() + 1) % stations, state.free_at + travel - now, payload);
        }
    }
};

void run(const char* scheduler, std::uint32_t threads) {
    std::uint64_t served = 0;
    const pdes::RunResult run =
        pdes::run_model(Ring{}, {.scheduler = scheduler, .threads = threads},
                        [&](std::uint32_t /*lp*/, const Ring::State& state) { served += state.served; });
    std::printf("%s: digest %016llx, %.1f million events a second, stations busy for %.3f of the time\n", scheduler,
                static_cast<unsigned long long>(run.digest),
                static_cast<double>(run.statistics.counts.committed) / run.statistics.seconds / 1e6,
                static_cast<double>(served) * Ring::service / Ring::stations / Ring::end);
}

int main() {
    try {
        run("sequential", 1);
        run("timewarp", 2);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
