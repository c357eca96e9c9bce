#include "differentiate.hpp"

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "goal/graph.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {

extern template nb::dict derivatives(const Composition&, const Machine&, std::uint64_t, std::uint32_t,
                                     const nb::object&);
extern template nb::dict derivatives(const ProgramSource&, const Machine&, std::uint64_t, std::uint32_t,
                                     const nb::object&);

void bind_differentiate(nb::module_& m) {
    m.def("differentiate", &derivatives<Graph>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(),
          "Simulate a schedule with the derivatives of every rank's finish time.");
    m.def("differentiate", &derivatives<Composition>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a,
          "progress"_a.none());
    m.def("differentiate", &derivatives<ProgramSource>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a,
          "progress"_a.none());
}

}  // namespace idlewave
