// The first sizes of an assessment; refinement adds others.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "network/series.hpp"

namespace idlewave::probe::network {

// The sizes with `an_octave` (1, 2 or 4) an octave. With four there are also, up to 16 KiB, the two beside each power
// of two, where programs' buffers end.
inline std::vector<int> first_sizes(int max_size, int an_octave) {
    constexpr long long dense_to = 16384;
    std::set<long long> sizes = {max_size};
    for (long long power = 1; power <= max_size; power *= 2) {
        for (int i = 0; i < an_octave; ++i) sizes.insert(power + power * i / an_octave);
        if (an_octave == 4 && power <= dense_to) sizes.insert({power - 1, power + 1});
    }
    std::vector<int> result;
    for (const long long size : sizes) {
        if (size >= 1 && size <= max_size) result.push_back(static_cast<int>(size));
    }
    return result;
}

// The time of one sample of each of a size's jobs on a quiet machine, in nanoseconds: the jobs with their pauses, and
// the round trips before each.
inline double visit_cost(const std::vector<Exchange>& jobs, const Pilot& pilot) {
    constexpr double overhead_ns = 20'000;  // the orders, the file
    const double round = std::min(pilot.round_ns, pilot.least_pair_ns);
    const double gap = std::max(pilot.least_pair_ns - round, round / 20);
    const double quiet = pilot.pair_ns > 0 ? pilot.least_pair_ns / pilot.pair_ns : 1;
    double total = 0;
    for (const Exchange& job : jobs) {
        const int pauses = job.messages > 1 ? job.messages - 1 : 1;
        total += overhead_ns + 3 * round + (job.messages - 1) * gap + pauses * job.delay_ns * quiet;
    }
    return total;
}

}  // namespace idlewave::probe::network
