// What is measured of each back end: which operation, over how many links, of which size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace idlewave::probe::one_sided {

// Between ranks 0 (the origin) and 1 (the target); a further link is a further target rank.
//   ping_pong: a message there and one back. acknowledged: a message there, and an empty one back.
//   put, get: with remote completion; the target takes no part.
//   notified: a put, and after its remote completion a flag that the target polls, which is a transmission of its own
//   (the model's notification, R25, comes with the put); the same back.
//   polled: a put whose last byte the target polls; the same back.
//   rput: MPI_Rput and MPI_Wait: the origin's buffer is free.
//   fence, pscw: a put between two fences, or in an epoch of post, start, complete and wait.
//   active_message: a request with the bytes, and a reply with as many.
//   call: the call that starts a put, or a send, alone.
//   flood: many puts, or sends, to each of some ranks in turn, and then the completion of all.
//   overlap, get_overlap: a transfer alone, then the same with a computation as long between its start and its
//   completion.
//   computing: a put to a target that computes and calls no library meanwhile.
enum class Operation : std::int64_t {
    ping_pong,
    acknowledged,
    put,
    get,
    notified,
    polled,
    rput,
    fence,
    pscw,
    active_message,
    call,
    flood,
    overlap,
    get_overlap,
    computing
};

inline const std::vector<std::string> operation_names{"ping-pong",
                                                      "acknowledged send",
                                                      "put",
                                                      "get",
                                                      "put, then flag",
                                                      "polled put",
                                                      "rput",
                                                      "fence",
                                                      "post-start-complete-wait",
                                                      "active message",
                                                      "call",
                                                      "flood",
                                                      "overlap",
                                                      "overlap of a get",
                                                      "computing target"};

struct Item {
    std::size_t back_end = 0;
    Operation operation = Operation::put;
    int links = 1;
    int window = 1;  // transfers of a flood on each link
    std::int64_t size = 1;
};

// Times of all repetitions of a sample. alone_ns: of a transfer without the computation; computed_ns: of the
// computations, of which elapsed_ns has all. 0 where there is no computation.
struct Times {
    std::int64_t elapsed_ns = 0;
    std::int64_t alone_ns = 0;
    std::int64_t computed_ns = 0;
};

constexpr std::int64_t most_on_the_way = 8 << 20;  // bytes of a flood, on all its links
constexpr int most_window = 64;
constexpr int most_links = 8;
constexpr std::int64_t computing_ns = 2'000'000;  // of a target that computes

// 0, then in steps of four, from 64 bytes on in steps of two.
inline std::vector<std::int64_t> sizes_up_to(std::int64_t most) {
    std::vector<std::int64_t> sizes{0};
    for (std::int64_t size = 1; size <= most; size *= size < 64 ? 4 : 2) sizes.push_back(size);
    return sizes;
}

// The links of a flood to `targets` ranks: 1, 2, 4 and all of them.
inline std::vector<int> links_up_to(int targets) {
    std::vector<int> found;
    for (int links = 1; links < std::min(targets, most_links); links *= 2) found.push_back(links);
    found.push_back(std::min(targets, most_links));
    return found;
}

inline bool fits(Operation operation, std::int64_t size) {
    if (operation == Operation::computing) return size == 1 || size == 4096 || size == 262'144;
    const bool needs_a_byte =
        operation == Operation::polled || operation == Operation::overlap || operation == Operation::get_overlap;
    return size > 0 || !needs_a_byte;
}

// The items of a back end that has these operations.
inline void add_items(std::vector<Item>& items, std::size_t back_end, const std::vector<Operation>& operations,
                      const std::vector<std::int64_t>& sizes, int targets) {
    for (const std::int64_t size : sizes) {
        for (const Operation operation : operations) {
            if (!fits(operation, size)) continue;
            if (operation != Operation::flood) {
                items.push_back({back_end, operation, 1, 1, size});
                continue;
            }
            for (const int links : links_up_to(targets)) {
                const std::int64_t room = most_on_the_way / (links * std::max<std::int64_t>(size, 1));
                const int window = static_cast<int>(std::clamp<std::int64_t>(room, 1, most_window));
                items.push_back({back_end, operation, links, window, size});
            }
        }
    }
}

inline std::int64_t bytes_of(const Item& item) {
    return item.size * item.window * item.links;
}

// Many of what is short, since a clock's reading takes time, too; but no longer than needed, since the machine's speed
// may change within a millisecond.
inline int repetitions_of(const Item& item) {
    constexpr std::int64_t bytes = 1 << 18;
    constexpr std::int64_t transfers = 64;
    if (item.operation == Operation::computing) return 1;
    const std::int64_t wanted =
        std::min(bytes / std::max<std::int64_t>(bytes_of(item), 1), transfers / (item.window * item.links));
    return static_cast<int>(std::max<std::int64_t>(wanted, 2));
}

// The repetitions that are not timed: large buffers are in the caches only after the second transfer.
inline int untimed_repetitions(const Item& item) {
    return item.window >= 16 || item.operation == Operation::computing ? 1 : 2;
}

}  // namespace idlewave::probe::one_sided
