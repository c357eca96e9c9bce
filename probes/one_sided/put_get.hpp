// What every one-sided library can do, measured by the few calls that it offers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "one_sided/operations.hpp"
#include "one_sided/pair.hpp"

namespace idlewave::probe::one_sided {

// A one-sided library. Each rank has memory that others may write and read, and a count of notifications.
// put, get: start a transfer between this rank's own memory, sent(), and another's shown(): all have one place, as the
// messages of a program that sends from one buffer. complete(): all of them are done, at the target, too. notify(rank):
// adds one to the count of that rank, after what is complete; notifications(): the rank's own count. progress(): lets
// the library work; what others wrote is then seen.
template <class L>
concept OneSidedLibrary = requires(L library, int rank, std::size_t size) {
    library.put(rank, size);
    library.get(rank, size);
    library.complete();
    library.notify(rank);
    library.progress();
    { library.sent() } -> std::same_as<char*>;
    { library.shown() } -> std::same_as<volatile char*>;
    { library.notifications() } -> std::same_as<std::int64_t>;
};

template <OneSidedLibrary Library>
class PutGet {
  public:
    PutGet(const Job& job, Library& library) : job_(job), library_(library) {}

    static std::vector<Operation> operations() {
        return {Operation::put,   Operation::get,     Operation::notified,    Operation::polled,   Operation::call,
                Operation::flood, Operation::overlap, Operation::get_overlap, Operation::computing};
    }

    // Of the origin.
    Times run(const Item& item, int times) {
        const auto size = static_cast<std::size_t>(item.size);
        const auto put = [&] { library_.put(1, size); };
        const auto get = [&] { library_.get(1, size); };
        const auto complete = [&] { library_.complete(); };
        switch (item.operation) {
            case Operation::get:
                return timed(times, [&] { get(), complete(); });
            case Operation::notified:
                return timed(times, [&] { notify_put(size), await_notification(); });
            case Operation::polled:
                return polled(size, times);
            case Operation::call:
                return timed_start(job_, times, put, complete);
            case Operation::flood:
                return timed(times, [&] { flood(item); });
            case Operation::overlap:
                return timed_overlap(job_, times, put, complete);
            case Operation::get_overlap:
                return timed_overlap(job_, times, get, complete);
            case Operation::computing:
                meet_other();
                return timed(times, [&] { put(), complete(); });
            default:
                return timed(times, [&] { put(), complete(); });
        }
    }

    // Of the target: it acts where it is to see what has come, and elsewhere meets the origin afterwards.
    void serve(const Item& item, int times) {
        const auto size = static_cast<std::size_t>(item.size);
        if (item.operation == Operation::notified) {
            for (int i = 0; i < times; ++i) await_notification(), notify_put(size);
        } else if (item.operation == Operation::polled) {
            polled(size, times);
        } else if (item.operation == Operation::computing) {
            meet_other();
            job_.clock.compute(job_.ticks(computing_ns));
        }
    }

  private:
    void meet_other() {
        meet(job_, [&] { library_.progress(); });
    }

    void notify_put(std::size_t size) {
        library_.put(job_.peer(), size);
        library_.complete();
        library_.notify(job_.peer());
    }

    void await_notification() {
        ++awaited_;
        await([&] { return library_.notifications() >= awaited_; });
    }

    // Both ranks: each put ends in the byte that the other waits for, another one each time. The other must not clear
    // it: a copy may store the last byte twice, and the second store would look like the next put. Between two runs
    // that byte may have any value, so both clear it first, and meet.
    Times polled(std::size_t size, int times) {
        volatile char* const last = library_.shown() + size - 1;
        *last = 0;
        library_.progress();
        meet_other();
        char round = 0;
        const auto send = [&] {
            library_.sent()[size - 1] = round;
            library_.put(job_.peer(), size);
            library_.complete();
        };
        const auto see = [&] { await([&] { return *last == round; }); };
        return timed(times, [&] {
            round = static_cast<char>(round % 100 + 1);
            if (job_.origin()) send();
            see();
            if (!job_.origin()) send();
        });
    }

    // Some libraries make progress only in calls.
    template <class Seen>
    void await(const Seen& seen) {
        constexpr int looks = 64;  // between two calls of the library
        while (true) {
            for (int i = 0; i < looks; ++i) {
                if (seen()) return;
            }
            library_.progress();
        }
    }

    void flood(const Item& item) {
        const auto size = static_cast<std::size_t>(item.size);
        for (int i = 0; i < item.window * item.links; ++i) {
            library_.put(1 + i % item.links, size);
        }
        library_.complete();
    }

    const Job& job_;
    Library& library_;
    std::int64_t awaited_ = 0;
};

}  // namespace idlewave::probe::one_sided
