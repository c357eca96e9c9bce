#include "machine/machine.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <variant>

#include "bindings.hpp"
#include "columns.hpp"
#include "machine/plain_detours.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

using SegmentTuple = std::tuple<std::uint64_t, Time, Time, Time, Time, double, double, double, Time, Time>;
using Times = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Factors = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

machine::Level level_from(const std::vector<SegmentTuple>& segments, std::optional<std::uint64_t> eager_limit) {
    machine::Level level;
    level.S = eager_limit.value_or(machine::Level::always_eager);
    level.segments.clear();
    for (const auto& [from, L, o_s, o_r, g, G, O_s, O_r, c, o_p] : segments) {
        level.segments.push_back({from, {L, o_s, o_r, g, G, O_s, O_r, c, o_p}});
    }
    if (level.segments.empty() || level.segments.front().from != 0) {
        throw LogicError("the first segment of a level must begin at 0 bytes");
    }
    return level;
}

machine::NoiseTrace noise_from(const Times& starts, const Times& lengths, Time period, machine::Phase phase,
                               const std::vector<Time>& phases) {
    if (starts.shape(0) != lengths.shape(0)) {
        throw InputError("noise: expected as many lengths as starts");
    }
    std::vector<machine::Detour> detours;
    detours.reserve(starts.shape(0));
    for (std::size_t i = 0; i < starts.shape(0); ++i) {
        detours.push_back({starts(i), lengths(i)});
    }
    return {detours, period, phase, phases};
}

machine::EmpiricalLength empirical(const Times& lengths) {
    return {std::vector<Time>(lengths.data(), lengths.data() + lengths.shape(0))};
}

machine::Variation variation_from(const Times& starts, const Factors& L, const Factors& G, Time period) {
    if (L.shape(0) != starts.shape(0) || G.shape(0) != starts.shape(0)) {
        throw InputError("variation: expected as many factors of L and of G as starts");
    }
    std::vector<machine::VariationRow> rows;
    rows.reserve(starts.shape(0));
    for (std::size_t i = 0; i < starts.shape(0); ++i) {
        rows.push_back({starts(i), L(i), G(i)});
    }
    return {std::move(rows), period};
}

/// Times as the bytes of an array of int64, for which Python needs no numpy.
nb::bytes bytes_of(const std::vector<Time>& times) {
    return nb::bytes(times.data(), times.size() * sizeof(Time));
}

nb::tuple columns_of(const std::vector<machine::Detour>& detours) {
    return nb::make_tuple(column_of<std::int64_t>(detours, [](const machine::Detour& d) { return d.start; }),
                          column_of<std::int64_t>(detours, [](const machine::Detour& d) { return d.length; }));
}

void bind_noise(nb::module_& m) {
    // The laws of detours' lengths; times in ps.
    nb::class_<machine::FixedLength>(m, "FixedLength")
        .def(nb::new_([](Time length) { return machine::FixedLength{length}; }), "length"_a);
    nb::class_<machine::ExponentialLength>(m, "ExponentialLength")
        .def(nb::new_([](double mean, double min) { return machine::ExponentialLength{mean, min}; }), "mean"_a,
             "min"_a);
    nb::class_<machine::UniformLength>(m, "UniformLength")
        .def(nb::new_([](Time min, Time max) { return machine::UniformLength{min, max}; }), "min"_a, "max"_a);
    nb::class_<machine::LognormalLength>(m, "LognormalLength")
        .def(nb::new_([](double median, double sigma) { return machine::LognormalLength{median, sigma}; }), "median"_a,
             "sigma"_a);
    nb::class_<machine::ParetoLength>(m, "ParetoLength")
        .def(nb::new_([](double min, double alpha) { return machine::ParetoLength{min, alpha}; }), "min"_a, "alpha"_a);
    nb::class_<machine::EmpiricalLength>(m, "EmpiricalLength").def(nb::new_(&empirical), "lengths"_a);

    nb::class_<machine::PoissonNoise>(m, "PoissonNoise", "Detours that come at random.")
        .def(nb::new_([](const std::vector<std::pair<double, machine::DetourLength>>& sources, machine::Phase phase) {
                 std::vector<machine::PoissonSource> all;
                 all.reserve(sources.size());
                 for (const auto& [interval, length] : sources) {
                     all.push_back({interval, length});
                 }
                 return machine::PoissonNoise(std::move(all), phase);
             }),
             "sources"_a, "phase"_a, "Sources are (mean gap in ps of CPU time, length).")
        .def(
            "detours",
            [](const machine::PoissonNoise& noise, std::uint64_t seed, std::uint32_t rank, Time until) {
                return columns_of(noise.detours(seed, rank, until));
            },
            "seed"_a, "rank"_a, "until"_a,
            nb::sig("def detours(self, seed: int, rank: int, until: int) -> tuple[numpy.typing.NDArray[numpy.int64], "
                    "numpy.typing.NDArray[numpy.int64]]"),
            "Starts and lengths of a rank's detours that begin before `until`; ps.");

    nb::class_<machine::MixedNoise>(m, "MixedNoise",
                                    "A trace's detours by the clock, and random ones in the time between.")
        .def(nb::new_([](const machine::NoiseTrace& trace, const machine::PoissonNoise& random) {
                 return machine::MixedNoise(trace, random);
             }),
             "trace"_a, "random"_a, "Both of the same phase, random or same.");
}

}  // namespace

void bind_machine(nb::module_& m) {
    nb::enum_<machine::Phase>(m, "Phase", "The phases of the ranks in the noise.")
        .value("random", machine::Phase::random)
        .value("same", machine::Phase::same)
        .value("given", machine::Phase::given);
    nb::class_<machine::NoiseTrace>(m, "NoiseTrace", "Detours of one period, repeated for ever.")
        .def(nb::new_(
                 [](const Times& starts, const Times& lengths, Time period, machine::Phase phase,
                    const std::vector<Time>& phases) { return noise_from(starts, lengths, period, phase, phases); }),
             "starts"_a, "lengths"_a, "period"_a, "phase"_a, "phases"_a,
             "Times in ps. `phases` are the phases of the ranks where `phase` is given.")
        .def("finish", &machine::NoiseTrace::finish, "phase"_a, "start"_a, "work"_a,
             "When `work`, begun at `start` by a rank of this phase, is done; ps.")
        .def("phase", &machine::NoiseTrace::phase, "seed"_a, "rank"_a, "The phase of a rank under a seed; ps.");

    bind_noise(m);

    m.def(
        "plain_detours",
        [](const nb::bytes& text) {
            const machine::PlainDetours read = machine::read_plain_detours({text.c_str(), text.size()});
            return nb::make_tuple(bytes_of(read.starts), bytes_of(read.lengths), read.bytes);
        },
        "text"_a, nb::sig("def plain_detours(text: bytes) -> tuple[bytes, bytes, int]"),
        "The lines START,LENGTH at the beginning of `text`, up to the first that is not whole or has another form: "
        "starts and lengths in ps, as the bytes of int64, and the number of bytes read.");

    nb::class_<machine::Level>(m, "Level", "One level of the network.")
        .def(nb::new_(&level_from), "segments"_a, "eager_limit"_a.none(),
             "Segments are (from, L, o_s, o_r, g, G, O_s, O_r, c, o_p): bytes, ps, and ps per byte; None: always "
             "eager.");

    nb::class_<machine::Variation>(m, "Variation", "Factors of L and G over time.")
        .def(nb::new_(&variation_from), "starts"_a, "L"_a, "G"_a, "period"_a,
             "Starts in ps and the factors from there on; period 0: never repeated.")
        .def(
            "arrival",
            [](const machine::Variation& variation, Time departure, Time L) {
                return machine::VariationCursor(variation).arrival(departure, L);
            },
            "departure"_a, "latency"_a, "When a message with this L arrives that departs at `departure`; ps.");

    nb::class_<machine::Machine>(m, "Machine", "A machine as the simulator sees it.")
        .def(nb::new_(
                 [](const machine::Level& network, const machine::Level* node, std::uint32_t node_ranks,
                    const machine::Level* shared_buffer, const machine::Level* one_sided, bool cpu_progress,
                    const std::optional<std::variant<machine::NoiseTrace, machine::PoissonNoise, machine::MixedNoise>>&
                        noise,
                    const std::tuple<bool, bool, bool, bool, bool>& reach, const machine::Variation* variation) {
                     machine::Machine machine;
                     machine.network = network;
                     if (node != nullptr) {
                         machine.node = *node;
                         machine.node_ranks = node_ranks;
                     }
                     if (shared_buffer != nullptr) {
                         machine.shared_buffer = *shared_buffer;
                     }
                     if (one_sided != nullptr) {
                         machine.one_sided = *one_sided;
                         machine.progress = cpu_progress ? machine::Progress::cpu : machine::Progress::network;
                     }
                     if (noise) {
                         std::visit([&machine](const auto& kind) { machine.noise = kind; }, *noise);
                     }
                     const auto [o_s, o_r, O, calc, reduction] = reach;
                     machine.noise_reach = {.o_s = o_s, .o_r = o_r, .O = O, .calc = calc, .reduction = reduction};
                     if (variation != nullptr) {
                         machine.variation = *variation;
                     }
                     return machine;
                 }),
             "network"_a, "node"_a.none(), "node_ranks"_a, "shared_buffer"_a.none(), "one_sided"_a.none(),
             "cpu_progress"_a, "noise"_a.none(), "noise_reach"_a, "variation"_a.none(),
             "`cpu_progress`: whether a CPU of the target completes one-sided operations. `noise_reach`: whether noise "
             "reaches o_s, o_r, O, calc, reduction.")
        .def_prop_ro(
            "lookahead", [](const machine::Machine& machine) { return machine.lookahead(); },
            "Least time in which a rank reaches another; ps.");
}

}  // namespace idlewave
