#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/step.hpp"

namespace idlewave::testing {

/// The numbers of ranks that algorithms are tried with.
inline const std::vector<std::uint32_t> rank_counts{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                                    13, 14, 15, 16, 17, 18, 19, 20, 31, 32, 33, 64};

inline std::vector<std::uint32_t> roots_of(std::uint32_t ranks) {
    std::vector<std::uint32_t> roots{0, 1, ranks / 2, ranks - 1};
    std::erase_if(roots, [ranks](std::uint32_t root) { return root >= ranks; });
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    return roots;
}

/// The names of all algorithms of a collective, for tests of what each of them must do.
inline std::vector<std::string> names_of_all(collectives::Collective collective) {
    std::vector<std::string> names;
    for (const collectives::Algorithm& candidate : collectives::algorithms()) {
        if (candidate.collective == collective) {
            names.emplace_back(candidate.name);
        }
    }
    return names;
}

/// A call with a cost of reduction, so that reductions show as computation.
inline collectives::CollectiveCall call_of(std::uint32_t rank, std::uint32_t ranks, std::uint32_t root,
                                           std::uint64_t bytes) {
    return {.rank = rank,
            .size = ranks,
            .root = root,
            .bytes = bytes,
            .send_counts = {},
            .recv_counts = {},
            .reduction_cost = 1};
}

using CallOf = std::function<collectives::CollectiveCall(std::uint32_t rank)>;

inline CallOf calls(std::uint32_t ranks, std::uint32_t root, std::uint64_t bytes) {
    return [=](std::uint32_t rank) { return call_of(rank, ranks, root, bytes); };
}

/// A message, and when (in the order in which all ranks' steps were taken) it was begun and its receive waited for.
struct Sent {
    std::uint32_t from;
    std::uint32_t to;
    std::uint64_t bytes;
    collectives::StepNumber number;  ///< of the sender's step
    std::int64_t sent_at;            ///< the sender then had all that it had waited for before
    std::int64_t got_at = 0;         ///< from then on the receiver has what it brought
};

enum class Protocol { eager, rendezvous };

/// All ranks' steps, taken without a machine: only a join makes a rank wait. By rendezvous a send ends when its receive
/// has begun; eagerly at once.
class CollectiveRun {
  public:
    CollectiveRun(collectives::StepFunction step, std::uint32_t ranks, const CallOf& call,
                  Protocol protocol = Protocol::eager)
        : step_(step), protocol_(protocol), ranks_(ranks) {
        for (std::uint32_t r = 0; r < ranks; ++r) {
            ranks_[r].call = call(r);
        }
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::uint32_t r = 0; r < ranks; ++r) {
                while (take_step(r)) {
                    moved = true;
                }
            }
        }
        check_the_end();
    }

    /// Empty if all ranks left, every message has its receive, and both agree on the size; else what is wrong.
    [[nodiscard]] const std::string& wrong() const { return wrong_; }
    [[nodiscard]] const std::vector<Sent>& messages() const { return messages_; }
    /// Computation of a rank, ns: with a cost of 1 the bytes that it reduced.
    [[nodiscard]] std::uint64_t computed(std::uint32_t rank) const { return ranks_[rank].computed; }

    [[nodiscard]] std::uint64_t bytes() const {
        return std::accumulate(messages_.begin(), messages_.end(), std::uint64_t{0},
                               [](std::uint64_t sum, const Sent& m) { return sum + m.bytes; });
    }
    [[nodiscard]] std::uint64_t sent_by(std::uint32_t rank) const {
        return total([rank](const Sent& m) { return m.from == rank; });
    }
    [[nodiscard]] std::uint64_t received_by(std::uint32_t rank) const {
        return total([rank](const Sent& m) { return m.to == rank; });
    }

  private:
    struct Channel {
        std::vector<std::size_t> sends;       ///< indices into messages_
        std::vector<std::uint64_t> receives;  ///< sizes expected
        std::size_t got = 0;
    };
    struct Open {
        Channel* channel;
        std::size_t index;  ///< in the channel
        bool receive;
    };
    struct Rank {
        collectives::CollectiveCall call;
        collectives::StepNumber number = 0;
        std::vector<Open> open;
        std::uint64_t computed = 0;
        bool done = false;
        bool joining = false;  ///< at the join behind its last op
    };

    template <class Which>
    [[nodiscard]] std::uint64_t total(Which which) const {
        std::uint64_t sum = 0;
        for (const Sent& m : messages_) {
            sum += which(m) ? m.bytes : 0;
        }
        return sum;
    }

    [[nodiscard]] bool ended(const Open& open) const {
        if (open.receive) {
            return open.channel->sends.size() > open.index;
        }
        return protocol_ == Protocol::eager || open.channel->receives.size() > open.index;
    }

    bool join(Rank& rank) {
        if (!std::all_of(rank.open.begin(), rank.open.end(), [this](const Open& open) { return ended(open); })) {
            return false;
        }
        for (const Open& open : rank.open) {
            if (open.receive) {
                messages_[open.channel->sends[open.index]].got_at = clock_++;
            }
        }
        rank.open.clear();
        return true;
    }

    bool take_step(std::uint32_t r) {
        Rank& rank = ranks_[r];
        if (rank.done) {
            return false;
        }
        if (rank.joining && !join(rank)) {
            return false;
        }
        rank.joining = false;
        const collectives::Step step = step_(rank.call, rank.number);
        if ((step.kind == collectives::Step::Kind::join || step.kind == collectives::Step::Kind::done) && !join(rank)) {
            return false;
        }
        if (step.kind == collectives::Step::Kind::done) {
            rank.done = true;
            return true;
        }
        if (step.kind == collectives::Step::Kind::op) {
            begin(r, rank, step.op());
            rank.joining = step.joins;
        }
        if (step.after(rank.number) <= rank.number) {
            wrong_ = "a step goes back";
            rank.done = true;
        }
        rank.number = step.after(rank.number);
        return true;
    }

    void begin(std::uint32_t r, Rank& rank, const goal::Op& op) {
        if (op.kind == goal::OpKind::calc) {
            rank.computed += op.size;
            return;
        }
        if (op.peer >= ranks_.size() || op.peer == r) {
            wrong_ = "rank " + std::to_string(r) + " deals with rank " + std::to_string(op.peer);
            return;
        }
        if (op.kind == goal::OpKind::put) {  // which needs no receive
            messages_.push_back({r, op.peer, op.size, rank.number, clock_++});
        } else if (op.kind == goal::OpKind::send) {
            Channel& channel = channels_[{r, op.peer}];
            rank.open.push_back({&channel, channel.sends.size(), false});
            channel.sends.push_back(messages_.size());
            messages_.push_back({r, op.peer, op.size, rank.number, clock_++});
        } else {
            Channel& channel = channels_[{op.peer, r}];
            rank.open.push_back({&channel, channel.receives.size(), true});
            channel.receives.push_back(op.size);
        }
    }

    void check_the_end() {
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            if (!ranks_[r].done) {
                wrong_ = "rank " + std::to_string(r) + " waits for ever";
                return;
            }
        }
        for (const auto& [ends, channel] : channels_) {
            const std::string which = std::to_string(ends.first) + " to " + std::to_string(ends.second);
            if (channel.sends.size() != channel.receives.size()) {
                wrong_ = "a message or a receive from " + which + " is left";
                return;
            }
            for (std::size_t i = 0; i < channel.sends.size(); ++i) {
                if (messages_[channel.sends[i]].bytes != channel.receives[i]) {
                    wrong_ = "sizes differ from " + which;
                    return;
                }
            }
        }
    }

    collectives::StepFunction step_;
    Protocol protocol_;
    std::vector<Rank> ranks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Channel> channels_;
    std::vector<Sent> messages_;
    std::int64_t clock_ = 0;
    std::string wrong_;
};

/// Something that spreads from its owner to the ranks that want it.
struct Item {
    std::uint32_t owner;
    std::uint64_t bytes;
    std::function<bool(std::uint32_t rank)> wanted;
};

inline bool by_all(std::uint32_t /*rank*/) {
    return true;
}

/// Whether messages can bring every item to all who want it. A rank may hand on what it has, and gets an item when it
/// first can; a message then carries the items that somebody wanted from it. They must fit in its bytes, and if `full`
/// fill them. Returns what is wrong.
inline std::string spread(const std::vector<Sent>& messages, std::uint32_t ranks, const std::vector<Item>& items,
                          bool full) {
    constexpr std::size_t nothing = static_cast<std::size_t>(-1);
    struct Event {
        std::int64_t at;
        std::size_t message;
        bool got;
    };
    std::vector<Event> events;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        events.push_back({messages[i].sent_at, i, false});
        events.push_back({messages[i].got_at, i, true});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
    std::vector<std::vector<bool>> has(ranks, std::vector<bool>(items.size()));
    std::vector<std::vector<std::size_t>> by(ranks, std::vector<std::size_t>(items.size(), nothing));
    for (std::size_t x = 0; x < items.size(); ++x) {
        has[items[x].owner][x] = true;
    }
    std::vector<std::vector<bool>> known(messages.size());
    for (const Event& event : events) {
        const Sent& m = messages[event.message];
        if (!event.got) {
            known[event.message] = has[m.from];
            continue;
        }
        for (std::size_t x = 0; x < items.size(); ++x) {
            if (known[event.message][x] && !has[m.to][x]) {
                has[m.to][x] = true;
                by[m.to][x] = event.message;
            }
        }
    }
    std::vector<std::vector<bool>> carries(messages.size(), std::vector<bool>(items.size()));
    std::vector<std::uint64_t> load(messages.size());
    for (std::size_t x = 0; x < items.size(); ++x) {
        for (std::uint32_t r = 0; r < ranks; ++r) {
            if (!items[x].wanted(r)) {
                continue;
            }
            if (!has[r][x]) {
                return "item " + std::to_string(x) + " does not come to rank " + std::to_string(r);
            }
            for (std::size_t m = by[r][x]; m != nothing && !carries[m][x]; m = by[messages[m].from][x]) {
                carries[m][x] = true;
                load[m] += items[x].bytes;
            }
        }
    }
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (load[m] > messages[m].bytes || (full && load[m] != messages[m].bytes)) {
            return "a message of " + std::to_string(messages[m].bytes) + " bytes from " +
                   std::to_string(messages[m].from) + " to " + std::to_string(messages[m].to) + " carries " +
                   std::to_string(load[m]);
        }
    }
    return {};
}

/// Whether messages can add up every rank's contribution to every item at its owner: the spreading of items from their
/// owners backwards in time. Each rank gives its contribution once, and with it those that had come to it.
inline std::string add_up(const std::vector<Sent>& messages, std::uint32_t ranks, const std::vector<Item>& items,
                          bool full) {
    std::vector<Sent> backwards;
    for (const Sent& m : messages) {
        backwards.push_back({m.to, m.from, m.bytes, m.number, -m.got_at, -m.sent_at});
    }
    return spread(backwards, ranks, items, full);
}

/// The messages whose sender's step has a number in [begin, end).
inline std::vector<Sent> between(const std::vector<Sent>& messages, collectives::StepNumber begin,
                                 collectives::StepNumber end) {
    std::vector<Sent> some;
    std::copy_if(messages.begin(), messages.end(), std::back_inserter(some),
                 [=](const Sent& m) { return m.number >= begin && m.number < end; });
    return some;
}

/// The size of part `i` of a vector that is cut into `parts`, the first ones a byte longer.
inline std::uint64_t part_of(std::uint64_t bytes, std::uint32_t parts, std::uint32_t i) {
    return bytes / parts + (i < bytes % parts ? 1 : 0);
}

/// A vector of parts, one a rank; part `i` belongs to rank `owner(i)`.
template <class Owner>
std::vector<Item> parts_owned(std::uint64_t bytes, std::uint32_t ranks, Owner owner) {
    std::vector<Item> items;
    for (std::uint32_t i = 0; i < ranks; ++i) {
        items.push_back({owner(i), part_of(bytes, ranks, i), by_all});
    }
    return items;
}

inline std::uint32_t log2_up(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::bit_width(n - 1));
}

inline std::uint32_t log2_down(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::bit_width(n) - 1);
}

/// The number with its lowest `bits` bits in the opposite order.
inline std::uint32_t reversed(std::uint32_t n, std::uint32_t bits) {
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < bits; ++i) {
        result |= ((n >> i) & 1) << (bits - 1 - i);
    }
    return result;
}

/// Pieces that 2^m ranks have after halving a vector m times: number n has piece n with its bits in opposite order.
template <class RankOf>
std::vector<Item> pieces(std::uint64_t bytes, std::uint32_t rounds, RankOf rank_of) {
    std::vector<Item> items;
    for (std::uint32_t n = 0; n < (1U << rounds); ++n) {
        const std::uint64_t j = reversed(n, rounds);
        items.push_back({rank_of(n), (bytes * (j + 1) >> rounds) - (bytes * j >> rounds), by_all});
    }
    return items;
}

}  // namespace idlewave::testing
