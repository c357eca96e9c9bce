#include "trace/thread_cpus.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <ranges>
#include <tuple>

namespace idlewave::trace {

std::vector<std::uint32_t> threads_by_begin(std::span<const ThreadSpan> threads) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t number = 1; number < threads.size(); ++number) {
        numbers.push_back(number);
    }
    std::ranges::stable_sort(numbers, std::greater(),
                             [threads](std::uint32_t number) { return threads[number].begin; });
    return numbers;
}

std::vector<ThreadCpu> cpus_of(std::span<const ThreadSpan> threads) {
    using Use = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  // until when, which, and by which thread
    std::priority_queue<Use, std::vector<Use>, std::greater<>> used;
    std::vector<ThreadCpu> found(threads.size());
    std::uint32_t cpus = 1;
    for (const std::uint32_t number : threads_by_begin(threads) | std::views::reverse) {
        ThreadCpu& own = found[number];
        if (cpus >= most_cpus && std::get<0>(used.top()) <= threads[number].begin) {
            std::tie(std::ignore, own.cpu, own.before) = used.top();
            used.pop();
        } else {
            own.cpu = cpus++;
        }
        used.emplace(threads[number].end, own.cpu, number);
    }
    return found;
}

}  // namespace idlewave::trace
