#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/elementary.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "models/flood_topology.hpp"

namespace idlewave {

/// A distributed denial-of-service attack: from a moment on, bots among the hosts flood the victim with packets. Times
/// are in ps. The default is a second of 1024 hosts with 100 packets a second each, and, in its second half, of 128
/// bots that send 4000 each besides: three times what the victim's access link carries.
struct FloodParameters {
    static constexpr std::uint32_t unlimited = 0xffffffff;

    enum class Service : std::uint8_t { fixed, exponential };

    std::uint32_t routers = 64;
    std::uint32_t hosts = 1024;
    std::uint32_t bots = 128;              ///< of the hosts, spread evenly over their numbers
    Time link_delay = 1'000'000'000;       ///< of every link: the lookahead
    Time legitimate_gap = 10'000'000'000;  ///< mean of the exponential time between two packets of a host
    Time attack_gap = 250'000'000;         ///< and between two attack packets of a bot
    Time attack_from = 500'000'000'000;    ///< from then on bots attack, ...
    Time attack_until = never;             ///< ... until then
    double attack_size = 1;                ///< the size of an attack packet, in those of a legitimate one
    double access_utilization = 0.5;       ///< the share of the victim's access link that legitimate packets take
    double utilization = 0.2;              ///< and of every other link that hosts lie behind
    Service service = Service::fixed;      ///< time on the link: by size alone, or exponential with that mean
    std::uint32_t buffer = 64;             ///< packets that a router holds, the one on the link included
    Time measured_from = 0;                ///< only packets that are sent from then on are counted
    Time end = 1'000'000'000'000;          ///< no packet is sent then or later; those under way arrive
    std::uint64_t seed = 1;
};

/// Hosts send packets to the victim as Poisson processes. A router puts what arrives on its link, one after the other
/// as they came (FIFO); a packet that finds the buffer full is lost. The victim's access link is that of the first
/// router. A single router is an M/M/1, M/D/1, M/M/1/K or M/D/1/K queue, and many with exponential times and unlimited
/// buffers are a Jackson network (L. Kleinrock: Queueing Systems I and II, 1975, 1976: a packet's time on the next link
/// is drawn anew, his independence assumption).
class Flood {
  public:
    enum Class : std::uint32_t { legitimate, attack };
    static constexpr std::size_t classes = 2;

    /// What an LP has counted of the packets of a class.
    struct Count {
        std::uint64_t packets = 0;  ///< a host has sent; that arrived at a router; that were delivered to the victim
        std::uint64_t lost = 0;     ///< at a router: of those
        /// At a router, how long those that are not lost waited before they were put on the link; at the victim, how
        /// long they were under way; all together.
        Time delay = 0;
    };

    struct State {
        std::array<Count, classes> counts;
        std::uint64_t found = 0;  ///< how many packets those that were counted found at the router, all together
        Time free_at = 0;         ///< when the link has sent all that the router holds
        std::uint32_t held = 0;   ///< packets at the router, the one on the link included
        std::uint32_t most = 0;   ///< that it has ever held
        std::uint64_t handled = 0;
        std::uint64_t digest = 0;  ///< of when it handled what, in that order
    };

    enum class What : std::uint32_t { sends, arrives, has_left };

    struct Payload {
        Time sent = 0;
        What what = What::sends;
        Class of = legitimate;

        bool operator==(const Payload&) const = default;
    };

    /// No padding: the kernel may compare them byte by byte.
    static_assert(std::has_unique_object_representations_v<State> && std::has_unique_object_representations_v<Payload>);

    /// Throws InputError.
    explicit Flood(const FloodParameters& parameters);

    [[nodiscard]] std::uint32_t lps() const { return topology_.lps(); }
    [[nodiscard]] Time lookahead() const { return parameters_.link_delay; }
    [[nodiscard]] std::uint64_t seed() const { return parameters_.seed; }
    [[nodiscard]] const FloodTopology& topology() const { return topology_; }

    /// How long a legitimate packet is on the link of a router that hosts lie behind, on average, ps.
    [[nodiscard]] double service_mean(std::uint32_t router) const { return service_mean_[router]; }

    [[nodiscard]] bool is_bot(std::uint32_t lp) const {
        if (!topology_.is_host(lp)) {
            return false;
        }
        const std::uint64_t host = lp - topology_.first_host();
        const std::uint64_t bots = parameters_.bots;
        return host * bots / parameters_.hosts != (host + 1) * bots / parameters_.hosts;
    }

    template <class Context>
    void start(State& /*state*/, Context& context) const {
        if (topology_.is_host(context.self())) {
            send_next(legitimate, 0, context);
        }
        if (is_bot(context.self())) {
            send_next(attack, parameters_.attack_from, context);
        }
    }

    template <class Context>
    void handle(State& state, const Payload& payload, Context& context) const {
        note(state, payload, context.now());
        if (payload.what == What::has_left) {
            --state.held;
        } else if (payload.what == What::sends) {
            send(state, payload.of, context);
        } else if (context.self() == FloodTopology::victim) {
            Count& count = state.counts[payload.of];
            if (is_counted(payload)) {
                ++count.packets;
                count.delay += context.now() - payload.sent;
            }
        } else {
            route(state, payload, context);
        }
    }

  private:
    /// A host's packet, and when the next one goes.
    template <class Context>
    void send(State& state, Class of, Context& context) const {
        const Payload packet{context.now(), What::arrives, of};
        state.counts[of].packets += is_counted(packet) ? 1 : 0;
        context.send(topology_.next_hop(context.self()), parameters_.link_delay, packet);
        send_next(of, context.now(), context);
    }

    /// Lets the host send a packet, an exponential time after `from`.
    template <class Context>
    void send_next(Class of, Time from, Context& context) const {
        const Time mean = of == attack ? parameters_.attack_gap : parameters_.legitimate_gap;
        const Time until = of == attack ? std::min(parameters_.attack_until, parameters_.end) : parameters_.end;
        const double gap = exponential_sample(context.random_bits()[0]) * static_cast<double>(mean);
        if (gap < static_cast<double>(until - from)) {
            context.send(context.self(), from + static_cast<Time>(gap) - context.now(), {0, What::sends, of});
        }
    }

    /// What a router does with a packet: since what it holds leaves in order, it knows at once when this one will. That
    /// it has left, it tells itself: so its state is small, however many packets it may hold.
    template <class Context>
    void route(State& state, const Payload& packet, Context& context) const {
        const bool lost = state.held >= parameters_.buffer;
        const Time begin = std::max(context.now(), state.free_at);
        if (is_counted(packet)) {
            Count& count = state.counts[packet.of];
            ++count.packets;
            state.found += state.held;
            count.lost += lost ? 1 : 0;
            count.delay += lost ? 0 : begin - context.now();
        }
        if (lost) {
            return;
        }
        state.most = std::max(state.most, ++state.held);
        state.free_at = begin + service_time(packet.of, context);
        const Time leaves = state.free_at - context.now();
        context.send(context.self(), leaves, {0, What::has_left, packet.of});
        context.send(topology_.next_hop(context.self()), leaves + parameters_.link_delay, packet);
    }

    template <class Context>
    [[nodiscard]] Time service_time(Class of, Context& context) const {
        const double mean = service_mean_[context.self()] * (of == attack ? parameters_.attack_size : 1);
        const bool fixed = parameters_.service == FloodParameters::Service::fixed;
        const double time = fixed ? mean : mean * exponential_sample(context.random_bits()[0]);
        return static_cast<Time>(time);
    }

    [[nodiscard]] bool is_counted(const Payload& packet) const { return packet.sent >= parameters_.measured_from; }

    /// Of mean 1.
    [[nodiscard]] static double exponential_sample(std::uint64_t bits) {
        return -natural_logarithm(between_0_and_1(bits));
    }

    static void note(State& state, const Payload& payload, Time now) {
        ++state.handled;
        const auto kind = static_cast<std::uint64_t>(payload.what) * classes + payload.of;
        const std::uint64_t word =
            static_cast<std::uint64_t>(now) << 3 ^ static_cast<std::uint64_t>(payload.sent) ^ kind;
        state.digest = (state.digest ^ word) * 0x9e3779b97f4a7c15U;
        state.digest ^= state.digest >> 32;
    }

    FloodParameters parameters_;
    FloodTopology topology_;
    std::vector<double> service_mean_;  ///< by LP, of routers; ps
};

/// What all LPs of a flood have counted of the packets of a class.
struct FloodTotals {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;
    Time waited = 0;  ///< at all routers; ps
    Time delay = 0;   ///< from host to victim, of all that were delivered; ps

    /// Once for every LP.
    void add(const Flood& flood, std::uint32_t lp, const Flood::Count& count);

    [[nodiscard]] double share_lost() const { return static_cast<double>(lost) / static_cast<double>(sent); }
    [[nodiscard]] double mean_delay() const { return static_cast<double>(delay) / static_cast<double>(delivered); }
};

}  // namespace idlewave
