#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "loggops/recorder.hpp"
#include "machine/machine.hpp"
#include "timeline/spans.hpp"

namespace idlewave {

/// A part of the critical path: what a rank did, from its start to the point from which the path goes on.
struct PathStep {
    std::uint32_t rank = 0;
    Activity activity = {};
    Point point = Point::start;
    Time from = 0;
    Time to = 0;
    Spans spans = {};
};

/// The chain of activities that decides when the last rank finishes, from time 0 on: each begins at the very time at
/// which the one before it lets it, so that nothing is waited for on it. Of several such chains the one that ends at
/// the lowest rank, and of two causes at one time what the op required, then
/// its CPU, then its NIC.
/// Needs a record of all ranks and times.
std::vector<PathStep> critical_path(const Record& record, const std::vector<Caused>& finish, const Machine& machine);

}  // namespace idlewave
