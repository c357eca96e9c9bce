#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/elementary.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "models/event_digest.hpp"
#include "models/flood_topology.hpp"

namespace idlewave::models {

/// A distributed denial-of-service attack: during a time, bots among the hosts flood the victim with packets. Times are
/// in ps. By default 1024 hosts send 100 packets a second each for a second. In its second half 128 bots send 4000 more
/// a second each: the load of the victim's access link is then 3.
struct FloodParameters {
    static constexpr std::uint32_t unlimited = 0xffffffff;

    enum class Service : std::uint8_t { fixed, exponential };

    std::uint32_t routers = 64;
    std::uint32_t hosts = 1024;
    std::uint32_t bots = 128;              ///< hosts that attack, spread evenly over the numbers of the hosts
    Time link_delay = 1'000'000'000;       ///< propagation delay of every link: the lookahead
    Time legitimate_gap = 10'000'000'000;  ///< mean of the exponential time between two packets of a host
    Time attack_gap = 250'000'000;         ///< mean of the exponential time between two attack packets of a bot
    Time attack_from = 500'000'000'000;    ///< when bots begin to attack
    Time attack_until = never;             ///< when bots cease to attack
    double attack_size = 1;                ///< size of an attack packet, as a multiple of a legitimate packet
    double access_utilization = 0.5;       ///< load of the victim's access link by legitimate packets
    double utilization = 0.2;              ///< load of every other link by legitimate packets
    Service service = Service::fixed;      ///< whether service times on a link are fixed, or exponential
    std::uint32_t buffer = 64;             ///< most packets in a router's queue, with the one on the link
    Time measured_from = 0;                ///< packets that were sent earlier are not counted
    Time end = 1'000'000'000'000;          ///< no packet is sent then or later; packets in flight arrive
    std::uint64_t seed = 1;

    /// The fields by name.
    static constexpr auto fields() {
        using P = FloodParameters;
        return std::tuple{std::pair{"routers", &P::routers},
                          std::pair{"hosts", &P::hosts},
                          std::pair{"bots", &P::bots},
                          std::pair{"link_delay", &P::link_delay},
                          std::pair{"legitimate_gap", &P::legitimate_gap},
                          std::pair{"attack_gap", &P::attack_gap},
                          std::pair{"attack_from", &P::attack_from},
                          std::pair{"attack_until", &P::attack_until},
                          std::pair{"attack_size", &P::attack_size},
                          std::pair{"access_utilization", &P::access_utilization},
                          std::pair{"utilization", &P::utilization},
                          std::pair{"service", &P::service},
                          std::pair{"buffer", &P::buffer},
                          std::pair{"measured_from", &P::measured_from},
                          std::pair{"end", &P::end},
                          std::pair{"seed", &P::seed}};
    }
};

/// Hosts send packets to the victim; the packets of each host are a Poisson process. A router is a FIFO queue: it
/// serves one packet after another by putting it on its link. A packet that arrives while the buffer is full is lost.
/// The victim's access link is the link of the first router.
///
/// A single router is an M/M/1, M/D/1, M/M/1/K or M/D/1/K queue. Routers with exponential service times and unlimited
/// buffers are a Jackson network (L. Kleinrock: Queueing Systems I and II, 1975, 1976). Kleinrock's independence
/// assumption holds, since the service time of a packet is drawn anew on each link.
class Flood {
  public:
    static constexpr bool needs_lookahead = true;
    static constexpr std::string_view time_unit = "ps";

    enum PacketClass : std::uint32_t { legitimate, attack };
    static constexpr std::size_t classes = 2;

    /// The packets of a class that an LP has counted.
    struct Count {
        std::uint64_t packets = 0;  ///< at a host: sent; at a router: arrived; at the victim: delivered
        std::uint64_t lost = 0;     ///< at a router: packets that found the buffer full
        Time delay = 0;  ///< sum over packets; at a router: waiting times; at the victim: times from host to victim
    };

    struct State {
        std::array<Count, classes> counts;
        std::uint64_t queue_length_sum = 0;  ///< sum of the queue lengths that counted packets found at their arrival
        Time link_free_at = 0;               ///< when the router will have served its whole queue
        std::uint32_t queue_length = 0;      ///< packets in the router's queue, with the one on the link
        std::uint32_t max_queue_length = 0;
        EventDigest events;  ///< those that the LP has handled
    };

    /// A host sends its next packet, a packet arrives at an LP, or a packet leaves a router's queue.
    enum class EventKind : std::uint32_t { send, arrival, departure };

    struct Payload {
        Time sent = 0;  ///< when the packet was sent
        EventKind kind = EventKind::send;
        PacketClass packet_class = legitimate;

        bool operator==(const Payload&) const = default;
    };

    /// The scheduler `check` compares states byte by byte, so they have no padding.
    static_assert(std::has_unique_object_representations_v<State> && std::has_unique_object_representations_v<Payload>);

    /// Throws InputError.
    explicit Flood(const FloodParameters& parameters);

    [[nodiscard]] std::uint32_t lps() const { return topology_.lps(); }
    [[nodiscard]] Time lookahead() const { return parameters_.link_delay; }
    [[nodiscard]] std::uint64_t seed() const { return parameters_.seed; }
    /// What an LP adds to the digest of a run.
    [[nodiscard]] static std::uint64_t digest(std::uint32_t lp, const State& state) { return state.events.of_lp(lp); }
    [[nodiscard]] const FloodTopology& topology() const { return topology_; }

    /// Mean service time of a legitimate packet on a router's link, ps; 0 if the packets of no host pass the router.
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
            schedule_send(legitimate, 0, context);
        }
        if (is_bot(context.self())) {
            schedule_send(attack, parameters_.attack_from, context);
        }
    }

    template <class Context>
    void handle(State& state, const Payload& payload, Context& context) const {
        state.events.add(word_of(payload, context.now()));
        if (payload.kind == EventKind::departure) {
            --state.queue_length;
        } else if (payload.kind == EventKind::send) {
            send(state, payload.packet_class, context);
        } else if (context.self() == FloodTopology::victim) {
            Count& count = state.counts[payload.packet_class];
            if (is_counted(payload)) {
                ++count.packets;
                count.delay += context.now() - payload.sent;
            }
        } else {
            enqueue(state, payload, context);
        }
    }

  private:
    /// Sends a packet of a host, and schedules the next one.
    template <class Context>
    void send(State& state, PacketClass packet_class, Context& context) const {
        const Payload packet{context.now(), EventKind::arrival, packet_class};
        state.counts[packet_class].packets += is_counted(packet) ? 1 : 0;
        context.send(topology_.next_hop(context.self()), parameters_.link_delay, packet);
        schedule_send(packet_class, context.now(), context);
    }

    /// Schedules a host's next packet, an exponential time after `from`.
    template <class Context>
    void schedule_send(PacketClass packet_class, Time from, Context& context) const {
        const bool attacks = packet_class == attack;
        const Time mean = attacks ? parameters_.attack_gap : parameters_.legitimate_gap;
        const Time until = attacks ? std::min(parameters_.attack_until, parameters_.end) : parameters_.end;
        const double gap = exponential_sample(context.random_bits()[0]) * static_cast<double>(mean);
        if (gap < static_cast<double>(until - from)) {
            context.send(context.self(), from + static_cast<Time>(gap) - context.now(),
                         {0, EventKind::send, packet_class});
        }
    }

    /// A packet arrives at a router. The queue is FIFO, so the router knows at once when the packet will depart, and
    /// sends the departure to itself. The state therefore does not grow with the queue.
    template <class Context>
    void enqueue(State& state, const Payload& packet, Context& context) const {
        const bool lost = state.queue_length >= parameters_.buffer;
        const Time begin = std::max(context.now(), state.link_free_at);
        if (is_counted(packet)) {
            Count& count = state.counts[packet.packet_class];
            ++count.packets;
            state.queue_length_sum += state.queue_length;
            count.lost += lost ? 1 : 0;
            count.delay += lost ? 0 : begin - context.now();
        }
        if (lost) {
            return;
        }
        state.max_queue_length = std::max(state.max_queue_length, ++state.queue_length);
        state.link_free_at = begin + service_time(packet.packet_class, context);
        const Time departure = state.link_free_at - context.now();
        context.send(context.self(), departure, {0, EventKind::departure, packet.packet_class});
        context.send(topology_.next_hop(context.self()), departure + parameters_.link_delay, packet);
    }

    template <class Context>
    [[nodiscard]] Time service_time(PacketClass packet_class, Context& context) const {
        const double mean = service_mean_[context.self()] * (packet_class == attack ? parameters_.attack_size : 1);
        const bool fixed = parameters_.service == FloodParameters::Service::fixed;
        const double time = fixed ? mean : mean * exponential_sample(context.random_bits()[0]);
        return static_cast<Time>(time);
    }

    [[nodiscard]] bool is_counted(const Payload& packet) const { return packet.sent >= parameters_.measured_from; }

    /// An exponential sample of mean 1.
    [[nodiscard]] static double exponential_sample(std::uint64_t bits) {
        return -natural_logarithm(between_0_and_1(bits));
    }

    /// The event in the digest of an LP.
    [[nodiscard]] static std::uint64_t word_of(const Payload& payload, Time now) {
        const auto kind = static_cast<std::uint64_t>(payload.kind) * classes + payload.packet_class;
        return static_cast<std::uint64_t>(now) << 3 ^ static_cast<std::uint64_t>(payload.sent) ^ kind;
    }

    FloodParameters parameters_;
    FloodTopology topology_;
    std::vector<double> service_mean_;  ///< of routers, by LP; ps
};

/// The packets of a class, summed over all LPs.
struct FloodTotals {
    std::uint64_t sent = 0;
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;
    Time waited = 0;  ///< sum of the waiting times at all routers, ps
    Time delay = 0;   ///< sum of the times from host to victim of delivered packets, ps

    /// Adds the count of an LP; to be called once for each LP.
    void add(const Flood& flood, std::uint32_t lp, const Flood::Count& count);

    [[nodiscard]] double share_lost() const { return static_cast<double>(lost) / static_cast<double>(sent); }
    [[nodiscard]] double mean_delay() const { return static_cast<double>(delay) / static_cast<double>(delivered); }
};

}  // namespace idlewave::models
