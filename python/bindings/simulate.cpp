#include "simulate.hpp"

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "collectives/threaded_program.hpp"
#include "goal/graph.hpp"
#include "goal/graph_run.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {

extern template nb::dict finish_times(const collectives::Composition&, const machine::Machine&, std::uint64_t,
                                      std::uint32_t, const nb::object&);
extern template nb::dict finish_times_partitioned(const collectives::Composition&, const machine::Machine&,
                                                  std::uint64_t, const pdes::RunConfiguration&, const nb::object&,
                                                  const Transport*);
extern template nb::dict finish_times(const collectives::ProgramSource&, const machine::Machine&, std::uint64_t,
                                      std::uint32_t, const nb::object&);
extern template nb::dict finish_times_partitioned(const collectives::ProgramSource&, const machine::Machine&,
                                                  std::uint64_t, const pdes::RunConfiguration&, const nb::object&,
                                                  const Transport*);
extern template nb::dict finish_times(const collectives::ThreadedProgramSource&, const machine::Machine&, std::uint64_t,
                                      std::uint32_t, const nb::object&);
extern template nb::dict finish_times_partitioned(const collectives::ThreadedProgramSource&, const machine::Machine&,
                                                  std::uint64_t, const pdes::RunConfiguration&, const nb::object&,
                                                  const Transport*);

namespace {

template <class S>
void bind(nb::module_& m, const char* text) {
    m.def("simulate", &finish_times<S>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(), text);
    m.def("simulate_partitioned", &finish_times_partitioned<S>, "schedule"_a, "machine"_a, "seed"_a, "configuration"_a,
          "progress"_a.none(), "transport"_a.none(), text);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    bind<goal::Graph>(m, "Simulate a schedule; the answer has the finish times in the result's own memory.");
    bind<collectives::Composition>(m, "Simulate jobs beside each other.");
    bind<collectives::ProgramSource>(m, "Simulate a traced program.");
    bind<collectives::ThreadedProgramSource>(m, "Simulate a traced program whose ranks have several threads.");
}

}  // namespace idlewave
