#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "loggops/recorder.hpp"
#include "machine/machine.hpp"
#include "timeline/spans.hpp"

namespace idlewave::timeline {

/// One step of the critical path: an activity of a rank, from its beginning to the point from which the path goes on.
struct PathStep {
    std::uint32_t rank = 0;
    loggops::Activity activity = {};
    loggops::Point point = loggops::Point::start;
    Time from = 0;
    Time to = 0;
    Spans spans = {};
};

/// The critical path: the chain of activities that decides when the last rank finishes. It begins at time 0, and each
/// activity begins at the time at which the previous one allows it, so there is no waiting on the path. Of several such
/// chains it is the one that ends at the lowest rank. Of two causes at one time a requirement of the op counts, then
/// its CPU, then its NIC. Needs a record of all ranks and times.
std::vector<PathStep> critical_path(const loggops::SimulationRecord& record,
                                    const std::vector<loggops::CausedTime>& finish, const machine::Machine& machine);

}  // namespace idlewave::timeline
