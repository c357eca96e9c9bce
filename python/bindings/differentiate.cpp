#include "differentiate.hpp"

#include "bindings.hpp"
#include "collectives/composition.hpp"
#include "collectives/program.hpp"
#include "collectives/threaded_program.hpp"
#include "goal/graph.hpp"
#include "goal/graph_run.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace idlewave {

extern template nb::dict derivatives(const collectives::Composition&, const machine::Machine&, std::uint64_t,
                                     std::uint32_t, const nb::object&);
extern template nb::dict derivatives_partitioned(const collectives::Composition&, const machine::Machine&,
                                                 std::uint64_t, const pdes::RunConfiguration&, const nb::object&,
                                                 const Transport*);
extern template nb::dict derivatives(const collectives::ProgramSource&, const machine::Machine&, std::uint64_t,
                                     std::uint32_t, const nb::object&);
extern template nb::dict derivatives_partitioned(const collectives::ProgramSource&, const machine::Machine&,
                                                 std::uint64_t, const pdes::RunConfiguration&, const nb::object&,
                                                 const Transport*);
extern template nb::dict derivatives(const collectives::ThreadedProgramSource&, const machine::Machine&, std::uint64_t,
                                     std::uint32_t, const nb::object&);
extern template nb::dict derivatives_partitioned(const collectives::ThreadedProgramSource&, const machine::Machine&,
                                                 std::uint64_t, const pdes::RunConfiguration&, const nb::object&,
                                                 const Transport*);

namespace {

template <class S>
void bind(nb::module_& m, const char* text, const char* text_of_partitions) {
    m.def("differentiate", &derivatives<S>, "schedule"_a, "machine"_a, "seed"_a, "threads"_a, "progress"_a.none(),
          text);
    m.def("differentiate_partitioned", &derivatives_partitioned<S>, "schedule"_a, "machine"_a, "seed"_a,
          "configuration"_a, "progress"_a.none(), "transport"_a.none(), text_of_partitions);
}

}  // namespace

void bind_differentiate(nb::module_& m) {
    bind<goal::Graph>(m, "Simulate a schedule with the derivatives of every rank's finish time.",
                      "Simulate a schedule in partitions with the same derivatives.");
    bind<collectives::Composition>(m, "Simulate jobs beside each other with these derivatives.",
                                   "The same in partitions.");
    bind<collectives::ProgramSource>(m, "Simulate a traced program with these derivatives.", "The same in partitions.");
    bind<collectives::ThreadedProgramSource>(m, "The same of a program whose ranks have several threads.",
                                             "The same in partitions.");
}

}  // namespace idlewave
