#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "trace/rank_converter.hpp"

/// How one-sided communication becomes one-sided operations of the schedule. Puts and accumulates are puts; gets and
/// operations that return something are gets. A flush waits for those to its target, one of local buffers for the gets.
/// A fence, and making and freeing a window, are barriers, before which the rank waits for its operations. A post,
/// start, complete and wait are messages without data between the ranks that they name. A lock of all ranks takes none:
/// it is shared, and seldom waits.
///
/// In a program of several threads, and in a run that is used in part only, puts, gets, accumulates, locks and flushes
/// are computations as long as they took.
namespace idlewave::trace {
namespace {

/// The operations of a OneSided record, as far as they are distinguished, and the steps of a PassiveTarget record
/// (docs/trace-format.md).
enum class Operation : std::int32_t { put = 0, accumulate = 2 };
enum class Step : std::int32_t {
    lock = 0,  ///< of a kind that older traces do not have; taken as shared, which waits for no other such lock
    unlock = 1,
    flush = 2,
    flush_local = 3,
    sync = 4,
    shared_lock = 5,
    exclusive_lock = 6
};

}  // namespace

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
    Window& window = window_of(r);
    wait_for_accesses(window, every_rank_of_window);
    synchronise(r, window.communicator, window.ordinal);
    windows_.erase(r.words[0]);
}

bool RankConverter::simulates_one_sided() const {
    return threads_in_search_ == nullptr && found_threads_ == nullptr && cut_in_search_ == nullptr &&
           found_cut_ == nullptr;
}

/// A put, get or accumulate, and a lock or flush.
void RankConverter::one_sided(const TraceRecord& r) {
    Window& window = window_of(r);
    if (simulates_one_sided()) {
        r.call == Call::passive_target ? passive_target(r, window) : access(r, window);
        return;
    }
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

/// A put or get, which goes on until the rank waits for it: by a flush or another synchronisation of its window, or by
/// the completion of its request.
void RankConverter::access(const TraceRecord& r, Window& window) {
    using Kind = collectives::Instruction::Kind;
    const auto [target, number] = r.pair(1);
    const auto operation = static_cast<Operation>(number);
    const bool puts = operation == Operation::put || operation == Operation::accumulate;
    const bool has_request = r.words.size() > 4;
    if (target < 0 && target != proc_null) {
        fail(r, "names target " + std::to_string(target));
    }
    std::uint32_t slot = collectives::no_slot;
    if (target != proc_null) {
        slot = new_slot();
        thread_->program.instructions.push_back({.kind = puts ? Kind::put : Kind::get,
                                                 .slot = slot,
                                                 .peer = peer_of(r, window.communicator, target),
                                                 .tag = puts ? goal::no_notification : 0,
                                                 .size = size_of(r, r.number(puts ? 2 : 3))});
        has_one_sided_ = true;
        window.accesses[target].push_back({.slot = slot, .gets = !puts, .has_request = has_request});
    }
    if (has_request) {
        pending_[r.words[4]].requests.push_back(
            {.thread = thread_->number, .slot = slot, .access = std::pair(r.words[0], target)});
    }
}

/// A request of a put or get is complete: its window need not wait for it any more.
void RankConverter::forget_access(const Pending& pending) {
    if (!pending.access) {
        return;
    }
    const auto window = windows_.find(pending.access->first);
    if (window != windows_.end()) {
        std::erase_if(window->second.accesses[pending.access->second],
                      [&pending](const Access& access) { return access.slot == pending.slot; });
    }
}

void RankConverter::passive_target(const TraceRecord& r, Window& window) {
    const auto [target, number] = r.pair(1);
    switch (static_cast<Step>(number)) {
        case Step::exclusive_lock:
            lock_or_unlock(r, window, collectives::Instruction::Kind::lock, target);
            break;
        case Step::lock:
        case Step::shared_lock:
            lock_or_unlock(r, window, collectives::Instruction::Kind::shared_lock, target);
            break;
        case Step::unlock:
            wait_for_accesses(window, target);
            lock_or_unlock(r, window, collectives::Instruction::Kind::unlock, target);
            break;
        case Step::flush:
            wait_for_accesses(window, target);
            break;
        case Step::flush_local:  // of puts nothing is waited for, as if their CPU had copied the buffer
            wait_for_accesses(window, target, Waited::gets);
            break;
        case Step::sync:
            break;
    }
}

/// Takes or releases the lock of one rank.
void RankConverter::lock_or_unlock(const TraceRecord& r, Window& window, collectives::Instruction::Kind kind,
                                   std::int32_t target) {
    const bool unlocks = kind == collectives::Instruction::Kind::unlock;
    if (target < 0 || (unlocks && window.locked.erase(target) == 0)) {
        return;
    }
    if (!unlocks && !window.locked.insert(target).second) {
        fail(r, "locks rank " + std::to_string(target) + " again");
    }
    thread_->program.instructions.push_back(
        {.kind = kind,
         .blocking = true,
         .peer = peer_of(r, window.communicator, target),
         .tag = tag_of(window.communicator, 0, {Tags::Context::Space::exposures, window.ordinal}),
         .size = 1});
    has_one_sided_ = true;
}

/// Waits for the operations to a target, or to all, that the rank has not waited for.
void RankConverter::wait_for_accesses(Window& window, std::int32_t target, Waited waited) {
    std::vector<std::uint32_t> slots;
    std::vector<std::uint32_t> awaited_again;
    const auto take = [&](std::vector<Access>& accesses) {
        std::erase_if(accesses, [&](const Access& access) {
            if (waited == Waited::gets && !access.gets) {
                return false;
            }
            slots.push_back(access.slot);
            if (access.has_request) {
                awaited_again.push_back(access.slot);
            }
            return true;
        });
    };
    if (target == every_rank_of_window) {
        for (auto& [_, accesses] : window.accesses) {
            take(accesses);
        }
    } else if (const auto found = window.accesses.find(target); found != window.accesses.end()) {
        take(found->second);
    }
    wait_for(slots, awaited_again);
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
    wait_for_accesses(window, every_rank_of_window);
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
