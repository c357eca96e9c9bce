#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "bindings.hpp"
#include "extrapolation/extrapolate.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {
namespace {

using Extents = std::array<std::uint32_t, collectives::ProcessGrid::dimensions>;

/// A law: what it is of; (ranks, value) of each run, in bytes or ns; the law in words; its largest relative error; its
/// value on the new grid; another law that fits, in words.
using LawRow =
    std::tuple<std::string, std::vector<std::tuple<std::uint64_t, double>>, std::string, double, double, std::string>;

/// A program that was continued, and what it was continued by.
struct Continued {
    collectives::ProgramSource program;
    Extents grid;
    std::vector<Extents> traced;
    std::string kind;
    std::vector<std::string> peers;
    std::vector<LawRow> sizes;
    std::vector<LawRow> times;
    std::vector<std::uint8_t> one_sided_dimensions;
    std::string other_structure;
};

std::string name_of(std::optional<extrapolation::NeighbourKind::On> neighbours) {
    using On = extrapolation::NeighbourKind::On;
    if (!neighbours) {
        return "uniform";
    }
    return *neighbours == On::grid ? "neighbours" : *neighbours == On::tree ? "tree" : "star";
}

std::vector<LawRow> rows(const std::vector<extrapolation::FoundLaw>& laws) {
    std::vector<LawRow> rows;
    for (const extrapolation::FoundLaw& law : laws) {
        std::vector<std::tuple<std::uint64_t, double>> samples;
        samples.reserve(law.samples.size());
        for (const extrapolation::Sample& sample : law.samples) {
            samples.emplace_back(sample.grid.ranks(), sample.value);
        }
        rows.emplace_back(law.what, std::move(samples), law.fit.law.text(), law.fit.worst, law.continued, law.other);
    }
    return rows;
}

Continued extrapolate(const std::vector<const collectives::ProgramSource*>& runs, std::uint32_t ranks,
                      const Extents& grid, bool fitted_times) {
    std::vector<const collectives::Program*> programs;
    programs.reserve(runs.size());
    for (const collectives::ProgramSource* run : runs) {
        if (run->copies() != 1) {
            throw InputError("copies of a traced program have no structure of their own: continue the trace itself");
        }
        programs.push_back(run->program().get());
    }
    extrapolation::ExtrapolationOptions options{.ranks = ranks, .grid = {}, .fitted_times = fitted_times};
    if (grid[0] != 0) {
        options.grid = collectives::ProcessGrid{grid};
    }
    extrapolation::Extrapolation found = extrapolation::extrapolate(programs, options);
    const Extents extents = found.program.structure->grid.extents;
    std::vector<Extents> traced;
    traced.reserve(found.traced.size());
    for (const collectives::ProcessGrid& run : found.traced) {
        traced.push_back(run.extents);
    }
    return {.program = {std::make_shared<const collectives::Program>(std::move(found.program)), 1},
            .grid = extents,
            .traced = std::move(traced),
            .kind = name_of(found.neighbours),
            .peers = std::move(found.peers),
            .sizes = rows(found.sizes),
            .times = rows(found.times),
            .one_sided_dimensions = std::move(found.one_sided_dimensions),
            .other_structure = std::move(found.other_structure)};
}

}  // namespace

void bind_extrapolation(nb::module_& m) {
    nb::class_<Continued>(m, "Continued", "A traced program on more ranks, and what it was continued by.")
        .def_ro("program", &Continued::program)
        .def_ro("grid", &Continued::grid, "How many ranks lie along each dimension.")
        .def_ro("traced", &Continued::traced, "The same of the traced runs, the smallest first.")
        .def_ro("kind", &Continued::kind, "Which ranks make which calls: uniform, neighbours, tree or star.")
        .def_ro("peers", &Continued::peers, "The rules of peers, in words.")
        .def_ro(
            "sizes", &Continued::sizes,
            "Of bytes: what, (ranks, value) of the runs, the law, its largest relative error, the new value, another "
            "law that fits.")
        .def_ro("times", &Continued::times, "The same of computation in ns.")
        .def_ro("one_sided_dimensions", &Continued::one_sided_dimensions,
                "Dimensions along which no traced rank has neighbours on both sides.")
        .def_ro("other_structure", &Continued::other_structure,
                "Another structure that the traced runs may have as well, in words; empty: none.");
    m.def("extrapolate", &extrapolate, "runs"_a, "ranks"_a, "grid"_a, "fitted_times"_a,
          nb::call_guard<nb::gil_scoped_release>(),
          "Continue the program of traced runs on more ranks. `grid`: its extents; the first one 0: found.");
}

}  // namespace idlewave
