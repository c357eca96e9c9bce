#include "collectives/program.hpp"
#include "collectives/program_run.hpp"
#include "record.hpp"

namespace idlewave {

template nanobind::dict record(const collectives::ProgramSource&, const machine::Machine&, std::uint64_t, std::uint32_t,
                               const nanobind::object&, const loggops::RecordingScope&);
template nanobind::dict record_partitioned(const collectives::ProgramSource&, const machine::Machine&, std::uint64_t,
                                           const pdes::RunConfiguration&, const nanobind::object&, const Transport*,
                                           const loggops::RecordingScope&);

}  // namespace idlewave
