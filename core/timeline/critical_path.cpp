#include "timeline/critical_path.hpp"

#include <algorithm>

namespace idlewave {

std::vector<PathStep> critical_path(const SimulationRecord& record, const std::vector<CausedTime>& finish,
                                    const Machine& machine) {
    std::vector<PathStep> path;
    if (finish.empty()) {
        return path;
    }
    CausedTime end = *std::max_element(finish.begin(), finish.end(),
                                       [](const CausedTime& a, const CausedTime& b) { return a.time < b.time; });
    while (end.cause.known()) {
        const ActivityRecord& done = record.activities[end.cause.rank][end.cause.index];
        path.push_back({end.cause.rank, done.activity, end.cause.point, done.start.time, end.time,
                        spans_of(done.activity, end.cause.point, end.time - done.start.time, machine)});
        end = done.start;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace idlewave
