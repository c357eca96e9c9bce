#include "machine/machine.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

using SegmentTuple = std::tuple<std::uint64_t, Time, Time, Time, Time, double, double>;
using Times = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Level level_from(const std::vector<SegmentTuple>& segments, std::optional<std::uint64_t> eager_limit) {
    Level level;
    level.S = eager_limit.value_or(Level::always_eager);
    level.segments.clear();
    for (const auto& [from, L, o_s, o_r, g, G, O] : segments) {
        level.segments.push_back({from, {L, o_s, o_r, g, G, O}});
    }
    if (level.segments.empty() || level.segments.front().from != 0) {
        throw LogicError("the first segment of a level must begin at 0 bytes");
    }
    return level;
}

NoiseTrace noise_from(const Times& starts, const Times& lengths, Time period, const std::string& phase,
                      const std::vector<Time>& phases) {
    if (starts.shape(0) != lengths.shape(0)) {
        throw InputError("noise: expected as many lengths as starts");
    }
    std::vector<Detour> detours;
    detours.reserve(starts.shape(0));
    for (std::size_t i = 0; i < starts.shape(0); ++i) {
        detours.push_back({starts(i), lengths(i)});
    }
    const Phase kind = phase == "random" ? Phase::random : phase == "same" ? Phase::same : Phase::given;
    return {detours, period, kind, phases};
}

}  // namespace

void bind_machine(nb::module_& m) {
    nb::class_<NoiseTrace>(m, "NoiseTrace", "Detours of one period, repeated for ever.")
        .def(nb::new_(
                 [](const Times& starts, const Times& lengths, Time period, const std::string& phase,
                    const std::vector<Time>& phases) { return noise_from(starts, lengths, period, phase, phases); }),
             "starts"_a, "lengths"_a, "period"_a, "phase"_a, "phases"_a,
             "Times in ps. `phase` is random, same or given (then `phases` is the list).")
        .def("finish", &NoiseTrace::finish, "phase"_a, "start"_a, "work"_a,
             "When `work`, begun at `start` by a rank of this phase, is done; ps.")
        .def("phase", &NoiseTrace::phase, "seed"_a, "rank"_a, "The phase of a rank under a seed; ps.");

    nb::class_<Level>(m, "Level", "One level of the network.")
        .def(nb::new_(&level_from), "segments"_a, "eager_limit"_a.none(),
             "Segments are (from, L, o_s, o_r, g, G, O): bytes, ps, and ps per byte; None: always eager.");

    nb::class_<Machine>(m, "Machine", "A machine as the simulator sees it.")
        .def(nb::new_([](const Level& network, const Level* node, std::uint32_t node_ranks, const NoiseTrace* noise) {
                 Machine machine;
                 machine.network = network;
                 if (node != nullptr) {
                     machine.node = *node;
                     machine.node_ranks = node_ranks;
                 }
                 if (noise != nullptr) {
                     machine.noise = *noise;
                 }
                 return machine;
             }),
             "network"_a, "node"_a.none(), "node_ranks"_a, "noise"_a.none())
        .def_prop_ro("lookahead", &Machine::lookahead, "Least time in which a rank reaches another; ps.");
}

}  // namespace idlewave
