#include <nanobind/nanobind.h>

#include "base/version.hpp"
#include "bindings.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of Idlewave: schedules, the simulator, and readers of traces.";
    m.def("version", &idlewave::version, "The core's version.");
    idlewave::bind_errors(m);
    idlewave::bind_machine(m);
    idlewave::bind_costs(m);
    idlewave::bind_trace(m);
    idlewave::bind_schedule(m);
    idlewave::bind_extrapolation(m);
    idlewave::bind_kernel_run(m);
    idlewave::bind_simulate(m);
    idlewave::bind_record(m);
    idlewave::bind_differentiate(m);
    idlewave::bind_loggopsim(m);
    idlewave::bind_pdes(m);
}
