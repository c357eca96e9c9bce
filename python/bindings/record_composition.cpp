#include "collectives/composition.hpp"
#include "record.hpp"

namespace idlewave {

template nanobind::dict record(const Composition&, const Machine&, std::uint64_t, std::uint32_t,
                               const nanobind::object&, const RecordingScope&);
template nanobind::dict record_partitioned(const Composition&, const Machine&, std::uint64_t,
                                           const pdes::RunConfiguration&, const nanobind::object&, const Transport*,
                                           const RecordingScope&);

}  // namespace idlewave
