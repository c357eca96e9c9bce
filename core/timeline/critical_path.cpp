#include "timeline/critical_path.hpp"

#include <algorithm>

namespace idlewave::timeline {

std::vector<PathStep> critical_path(const loggops::SimulationRecord& record,
                                    const std::vector<loggops::CausedTime>& finish, const machine::Machine& machine) {
    std::vector<PathStep> path;
    if (finish.empty()) {
        return path;
    }
    loggops::CausedTime end =
        *std::max_element(finish.begin(), finish.end(),
                          [](const loggops::CausedTime& a, const loggops::CausedTime& b) { return a.time < b.time; });
    while (end.cause.known()) {
        const loggops::ActivityRecord& done = record.activities[end.cause.rank][end.cause.index];
        path.push_back({end.cause.rank, done.activity, end.cause.point, done.start.time, end.time,
                        spans_of(done.activity, end.cause.point, done.start.time, end.time, machine)});
        end = done.start;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace idlewave::timeline
