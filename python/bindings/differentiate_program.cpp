#include "collectives/program.hpp"
#include "differentiate.hpp"

namespace idlewave {

template nanobind::dict derivatives(const ProgramSource&, const Machine&, std::uint64_t, std::uint32_t,
                                    const nanobind::object&);
template nanobind::dict derivatives_partitioned(const ProgramSource&, const Machine&, std::uint64_t,
                                                const pdes::RunConfiguration&, const nanobind::object&,
                                                const Transport*);

}  // namespace idlewave
