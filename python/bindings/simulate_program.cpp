#include "collectives/program.hpp"
#include "collectives/program_run.hpp"
#include "simulate.hpp"

namespace idlewave {

template nanobind::dict finish_times(const collectives::ProgramSource&, const machine::Machine&, std::uint64_t,
                                     std::uint32_t, const nanobind::object&);
template nanobind::dict finish_times_partitioned(const collectives::ProgramSource&, const machine::Machine&,
                                                 std::uint64_t, const pdes::RunConfiguration&, const nanobind::object&,
                                                 const Transport*);

}  // namespace idlewave
