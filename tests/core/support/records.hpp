#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "loggops/recorder.hpp"

/// Records of simulations, compared field by field.
namespace idlewave::testing {

inline auto fields_of(const loggops::CausedTime& moment) {
    return std::tuple(moment.time, moment.cause.rank, static_cast<std::uint32_t>(moment.cause.index),
                      moment.cause.point);
}
inline auto fields_of(const loggops::ActivityRecord& row) {
    const loggops::Activity& activity = row.activity;
    return std::tuple(activity.kind, activity.message, activity.level, activity.peer, activity.amount,
                      activity.op_index, activity.in_detour, activity.bytes_in_detour, fields_of(row.start), row.free);
}
inline auto fields_of(const loggops::OpRecord& row) {
    return std::tuple(row.rank, row.op_index, row.kind, row.peer, row.tag, row.size, row.call, fields_of(row.ready),
                      fields_of(row.start), fields_of(row.end), fields_of(row.arrived), fields_of(row.data_arrived),
                      fields_of(row.processed));
}
inline auto fields_of(const loggops::QueueRecord& row) {
    return std::tuple(row.arrivals, row.unexpected, row.posted_lengths, row.most_posted, row.receives,
                      row.matched_unexpected, row.unexpected_lengths, row.most_unexpected);
}

template <class Row>
bool alike(const std::vector<Row>& a, const std::vector<Row>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Row& x, const Row& y) { return fields_of(x) == fields_of(y); });
}
template <class Row>
bool alike(const std::vector<std::vector<Row>>& a, const std::vector<std::vector<Row>>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const std::vector<Row>& x, const std::vector<Row>& y) { return alike(x, y); });
}

/// What a recorded simulation leads to.
struct Recorded {
    std::vector<loggops::CausedTime> finish;
    loggops::SimulationRecord record;
};
inline bool operator==(const Recorded& a, const Recorded& b) {
    return alike(a.finish, b.finish) && alike(a.record.ops, b.record.ops) &&
           alike(a.record.activities, b.record.activities) && alike(a.record.queues, b.record.queues);
}

}  // namespace idlewave::testing
