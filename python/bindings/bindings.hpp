#pragma once

#include <nanobind/nanobind.h>

#include "base/error.hpp"

namespace idlewave {

void bind_costs(nanobind::module_& m);
void bind_differentiate(nanobind::module_& m);
void bind_errors(nanobind::module_& m);
void bind_extrapolation(nanobind::module_& m);
void bind_kernel_run(nanobind::module_& m);
void bind_loggopsim(nanobind::module_& m);
void bind_pdes(nanobind::module_& m);
void bind_machine(nanobind::module_& m);
void bind_record(nanobind::module_& m);
void bind_schedule(nanobind::module_& m);
void bind_simulate(nanobind::module_& m);
void bind_trace(nanobind::module_& m);

}  // namespace idlewave
