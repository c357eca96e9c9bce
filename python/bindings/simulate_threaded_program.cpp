#include "collectives/threaded_program.hpp"
#include "collectives/threaded_program_run.hpp"
#include "simulate.hpp"

namespace idlewave {

template nanobind::dict finish_times(const collectives::ThreadedProgramSource&, const machine::Machine&, std::uint64_t,
                                     std::uint32_t, const nanobind::object&);
template nanobind::dict finish_times_partitioned(const collectives::ThreadedProgramSource&, const machine::Machine&,
                                                 std::uint64_t, const pdes::RunConfiguration&, const nanobind::object&,
                                                 const Transport*);

}  // namespace idlewave
