#include "trace/message_threads.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace idlewave::trace {

void MessageThreads::sent(std::uint32_t rank, std::uint32_t thread, std::int64_t begin, std::uint32_t destination,
                          std::uint32_t tag) {
    ranks_[rank].sends.push_back({.peer = destination, .tag = tag, .thread = thread, .begin = begin});
}

void MessageThreads::posted(std::uint32_t rank, std::uint32_t thread, std::int64_t begin, std::int64_t end,
                            std::uint32_t source, std::uint32_t tag) {
    ranks_[rank].receives.push_back({{.peer = source, .tag = tag, .thread = thread, .begin = begin}, end});
}

void MessageThreads::resolved(std::uint32_t rank, std::uint32_t receive, std::uint32_t source, std::uint32_t tag) {
    ranks_[rank].receives[receive].peer = source;
    ranks_[rank].receives[receive].tag = tag;
}

void MessageThreads::received(std::uint32_t rank, std::uint32_t receive, std::int64_t when) {
    std::int64_t& received = ranks_[rank].receives[receive].received;
    received = std::min(received, when);
}

void MessageThreads::cancelled(std::uint32_t rank, std::uint32_t receive) {
    ranks_[rank].receives[receive].cancelled = true;
}

/// Calls `use` with each message, its channel, and whether it is a receive.
template <class Use>
void MessageThreads::each(Use use) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        for (Message& send : ranks_[rank].sends) {
            use(Channel{rank, send.peer, send.tag}, &send, static_cast<Receive*>(nullptr));
        }
        for (Receive& receive : ranks_[rank].receives) {
            if (!receive.cancelled) {
                use(Channel{receive.peer, rank, receive.tag}, static_cast<Message*>(nullptr), &receive);
            }
        }
    }
}

void MessageThreads::find() {
    struct Threads {
        std::uint32_t sender = none;
        std::uint32_t receiver = none;
        bool several = false;
    };
    std::unordered_map<Channel, Threads, Hash> threads;
    each([&threads](const Channel& channel, const Message* send, const Receive* receive) {
        Threads& seen = threads[channel];
        std::uint32_t& first = send != nullptr ? seen.sender : seen.receiver;
        const std::uint32_t thread = send != nullptr ? send->thread : receive->thread;
        seen.several = seen.several || (first != none && first != thread);
        first = thread;
    });
    std::unordered_map<Channel, Ends, Hash> shared;
    each([&](const Channel& channel, Message* send, Receive* receive) {
        if (!threads[channel].several) {
            return;
        }
        if (send != nullptr) {
            shared[channel].sends.push_back(send);
        } else {
            shared[channel].receives.push_back(receive);
        }
    });
    for (auto& [channel, ends] : shared) {
        match(ends);
    }
}

/// Sends match in the order in which they began. Receives match in an order in which they may have been posted, and in
/// which each has its message as early as the run shows: a receive that has its message comes before those that have
/// theirs later, and before all that were posted after its call (the rule of Lawler 1973 for due dates and precedence).
/// The run itself had such an order, so no receive gets a message that was sent after the receive was complete: all
/// goes on in the simulation as it did in the run.
void MessageThreads::match(Ends& ends) {
    std::ranges::stable_sort(ends.sends, {}, [](const Message* send) { return send->begin; });
    std::vector<Receive*> by_begin = ends.receives;
    std::ranges::stable_sort(by_begin, {}, [](const Receive* receive) { return receive->begin; });
    std::vector<std::int64_t> earliest(by_begin.size() + 1, latest);  // of those from there on, when one is complete
    for (std::size_t i = by_begin.size(); i > 0; --i) {
        earliest[i - 1] = std::min(earliest[i], by_begin[i - 1]->received);
    }
    std::vector<std::pair<std::int64_t, Receive*>> due;
    due.reserve(by_begin.size());
    for (Receive* receive : ends.receives) {
        const auto after =
            std::ranges::lower_bound(by_begin, receive->end, {}, [](const Receive* r) { return r->begin; });
        const auto next = static_cast<std::size_t>(after - by_begin.begin());
        due.emplace_back(std::min(receive->received, earliest[next]), receive);
    }
    std::ranges::stable_sort(due, {}, [](const auto& entry) { return std::tuple(entry.first, entry.second->end); });
    const std::size_t matched = std::min(ends.sends.size(), due.size());
    for (std::size_t i = 0; i < matched; ++i) {
        ends.sends[i]->other_thread = due[i].second->thread;
        due[i].second->other_thread = ends.sends[i]->thread;
    }
}

}  // namespace idlewave::trace
