#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "trace/rank_converter.hpp"

/// How one-sided communication becomes what its synchronisation means. A fence, and making and freeing a window, are
/// barriers. A post, start, complete and wait are messages without data between the ranks that they name. Puts, gets,
/// accumulates, locks and flushes, of which the target knows nothing, are computations as long as they took.
namespace idlewave::trace {

/// Adds computation for a call of which only the time is simulated, without its waits for a core.
void RankConverter::compute_for_call(std::int64_t ns, collectives::TimedCalls& timed) {
    ns -= std::min(ns, thread_->waited_inside);
    compute(ns);
    thread_->cache_use.compute(ns);
    timed.ns += static_cast<double>(ns);
}

/// A barrier of the ranks of the `ordinal`-th window or file of a communicator. Its messages are its own: ranks may
/// call nonblocking collectives of the communicator in another order.
void RankConverter::synchronise(const TraceRecord& r, std::uint64_t communicator, std::uint32_t ordinal) {
    const std::array<std::uint64_t, 4> words{communicator, static_cast<std::uint32_t>(not_known), 0, 0};
    collective({.call = Call::collectives, .info = 0, .begin = r.begin, .end = r.end, .words = words},
               Tags::ordinal_of_window_or_file(ordinal));
}

RankConverter::Window& RankConverter::window_of(const TraceRecord& r) {
    const auto found = windows_.find(r.words[0]);
    if (found == windows_.end()) {
        fail(r, "is on a window that this rank has not made");
    }
    return found->second;
}

void RankConverter::make_window(const TraceRecord& r) {
    Window window;
    window.communicator = r.words[1];
    window.ordinal = ++windows_and_files_made_[window.communicator];
    synchronise(r, window.communicator, window.ordinal);
    windows_.insert_or_assign(r.words[0], std::move(window));
}

void RankConverter::free_window(const TraceRecord& r) {
    const Window& window = window_of(r);
    synchronise(r, window.communicator, window.ordinal);
    windows_.erase(r.words[0]);
}

/// A put, get or accumulate, and a lock or flush.
void RankConverter::one_sided(const TraceRecord& r) {
    window_of(r);
    compute_for_call(r.end - r.begin, one_sided_);
    if (r.call == Call::passive_target) {
        return;
    }
    ++one_sided_.calls;
    one_sided_.bytes += size_of(r, r.number(2)) + size_of(r, r.number(3));
    if (r.words.size() > 4) {
        pending_[r.words[4]].requests.push_back({.thread = thread_->number, .timed = &one_sided_});
    }
}

/// The ranks of the group that a post or start names.
std::vector<std::int32_t> RankConverter::listed_ranks(const TraceRecord& r) const {
    const std::uint64_t size = r.words[1];
    if (size > 2 * r.words.size() || r.words.size() != 2 + (size + 1) / 2) {
        fail(r, "has a group of " + std::to_string(size) + " ranks, and lists " +
                    std::to_string(2 * (r.words.size() - 2)));
    }
    std::vector<std::int32_t> ranks = r.listed(2, static_cast<std::size_t>(size));
    if (const auto negative = std::ranges::find_if(ranks, [](std::int32_t rank) { return rank < 0; });
        negative != ranks.end()) {
        fail(r, "names rank " + std::to_string(*negative));
    }
    return ranks;
}

/// A message without data: that a window is exposed, or that the accesses to it are complete. Returns its slot; a send
/// has none.
std::uint32_t RankConverter::announce(const TraceRecord& r, const Window& window, bool receive, std::int32_t peer,
                                      bool completed) {
    return message(r,
                   {.receive = receive,
                    .communicator = window.communicator,
                    .peer_tag = {peer, completed ? 1 : 0},
                    .bytes = 0,
                    .context = {Tags::Context::Space::exposures, window.ordinal}},
                   !receive);
}

void RankConverter::expose(const TraceRecord& r) {
    Window& window = window_of(r);
    window.origins = listed_ranks(r);
    for (const std::int32_t origin : window.origins) {
        announce(r, window, false, origin, false);
    }
}

/// A start need not wait for the posts of its targets (MPI 4.1, 12.5.2), and does not where one is fast: it is the
/// completion that waits.
void RankConverter::begin_access(const TraceRecord& r) {
    Window& window = window_of(r);
    window.targets = listed_ranks(r);
    window.thread = thread_->number;
    for (const std::int32_t target : window.targets) {
        window.exposed.push_back(announce(r, window, true, target, false));
    }
}

void RankConverter::complete_access(const TraceRecord& r) {
    Window& window = window_of(r);
    own_slots(window.thread, window.exposed);
    wait_for(std::exchange(window.exposed, {}));
    for (const std::int32_t target : std::exchange(window.targets, {})) {
        announce(r, window, false, target, true);
    }
}

void RankConverter::end_exposure(const TraceRecord& r) {
    Window& window = window_of(r);
    std::vector<std::uint32_t> completed;
    for (const std::int32_t origin : std::exchange(window.origins, {})) {
        completed.push_back(announce(r, window, true, origin, true));
    }
    wait_for(completed);
}

}  // namespace idlewave::trace
