#include "timeline/critical_path.hpp"

#include <algorithm>

namespace idlewave {

std::vector<PathStep> critical_path(const Record& record, const std::vector<Caused>& finish, const Machine& machine) {
    std::vector<PathStep> path;
    if (finish.empty()) {
        return path;
    }
    Caused end = *std::max_element(finish.begin(), finish.end(),
                                   [](const Caused& a, const Caused& b) { return a.time < b.time; });
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
