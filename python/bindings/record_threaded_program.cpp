#include "collectives/threaded_program.hpp"
#include "collectives/threaded_program_run.hpp"
#include "record.hpp"

namespace idlewave {

template nanobind::dict record(const collectives::ThreadedProgramSource&, const machine::Machine&, std::uint64_t,
                               std::uint32_t, const nanobind::object&, const loggops::RecordingScope&);
template nanobind::dict record_partitioned(const collectives::ThreadedProgramSource&, const machine::Machine&,
                                           std::uint64_t, const pdes::RunConfiguration&, const nanobind::object&,
                                           const Transport*, const loggops::RecordingScope&);

}  // namespace idlewave
