#include "collectives/composition.hpp"
#include "simulate.hpp"

namespace idlewave {

template nanobind::dict finish_times(const collectives::Composition&, const machine::Machine&, std::uint64_t,
                                     std::uint32_t, const nanobind::object&);
template nanobind::dict finish_times_partitioned(const collectives::Composition&, const machine::Machine&,
                                                 std::uint64_t, const pdes::RunConfiguration&, const nanobind::object&,
                                                 const Transport*);

}  // namespace idlewave
