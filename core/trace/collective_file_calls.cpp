#include "trace/collective_file_calls.hpp"

#include <algorithm>

namespace idlewave::trace {

CollectiveFileCalls::CollectiveFileCalls(const Trace& trace) {
    for (const RankTrace& rank : trace.ranks) {
        if (rank.file_calls() == 0) {
            continue;
        }
        std::unordered_map<std::uint64_t, std::size_t> made;  // by file
        rank.each([&](const TraceRecord& r) {
            if (!is_collective_file_call(r)) {
                return;
            }
            std::vector<std::int64_t>& entered = entered_[r.words[0]];
            const std::size_t number = made[r.words[0]]++;
            const std::int64_t begin = rank.header().global(r.begin);
            if (number == entered.size()) {
                entered.push_back(begin);
            }
            entered[number] = std::max(entered[number], begin);
        });
    }
}

}  // namespace idlewave::trace
