// The floor under the simulator with noise: dissemination as in floor.cpp, where detours of a recording stretch what
// the CPU does, at a phase of its own for every rank. Ranks drift apart, so that more is needed than there: the
// messages of one rank have an order, one that comes early waits for its round, and a send that is ready only behind a
// window waits for the next, in which an earlier message may come. The times are the simulator's own. Prints messages,
// and when the last rank has finished.
//
//     noise_floor RANKS RUNS DETOURS PERIOD    (DETOURS: a file, start_ns,length_ns; PERIOD in s)

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/huge_memory.hpp"
#include "floors.hpp"
#include "noise_recording.hpp"

namespace {

using floors::block_size;
using floors::g;
using floors::L;
using floors::o;
using floors::window;

constexpr std::size_t windows_ahead = 16;     ///< the longest detour of bench/simulate.py is five windows
constexpr std::size_t prefetched = 12;        ///< messages ahead
constexpr std::uint32_t wake = 0xffffffff;    ///< a round: no message, the rank may send
constexpr std::size_t fewest_to_count = 192;  ///< messages in a bucket; fewer are compared

struct Rank {
    std::int64_t cpu = 0;
    std::int64_t send_side = 0;
    std::int64_t receive_side = 0;
    std::int64_t ready = 0;  ///< when the next message may be sent, as far as is known
    floors::NextDetour next_detour;
    std::uint32_t came = 0;   ///< a bit a round
    std::uint32_t round = 0;  ///< the one whose message is sent next
};

struct Message {
    std::int64_t time;
    std::uint32_t destination;
    std::uint32_t round;
};
static_assert(sizeof(Message) == 16);

class NoiseFloor {
  public:
    NoiseFloor(std::uint32_t ranks, const floors::NoiseRecording& noise)
        : size_(ranks),
          rounds_(static_cast<std::uint32_t>(std::bit_width(ranks - 1))),
          noise_(noise),
          rank_(ranks),
          buckets_(ranks) {
        for (std::uint32_t r = 0; r < size_; ++r) {
            Rank& rank = rank_[r];
            rank.cpu = noise_.begin(r, rank.next_detour);
        }
    }

    std::uint64_t run() {
        for (std::uint32_t r = 0; r < size_; ++r) {
            send(rank_[r], r);
        }
        std::uint64_t messages = 0;
        for (std::uint64_t now = 0; !buckets_.empty(); ++now) {
            window_end_ = static_cast<std::int64_t>(now + 1) * window;
            for (std::uint32_t block = 0; block < buckets_.blocks(); ++block) {
                std::vector<Message> bucket = buckets_.take(now, block);
                if (!bucket.empty()) {
                    messages += handle(bucket);
                    buckets_.give(std::move(bucket));
                }
            }
        }
        return messages;
    }

    [[nodiscard]] std::int64_t last() const {
        std::int64_t last = 0;
        for (std::uint32_t r = 0; r < size_; ++r) {
            last = std::max(last, rank_[r].cpu);
        }
        return last;
    }

  private:
    /// Puts a bucket into the order of ranks, and a rank's messages into the order of time.
    void sort(const std::vector<Message>& bucket) {
        sorted_.resize(bucket.size() + prefetched);
        if (bucket.size() >= fewest_to_count) {
            floors::count<Message>(bucket, begins_);
            for (const Message& message : bucket) {
                sorted_[begins_[message.destination % block_size]++] = message;
            }
        } else {
            std::copy(bucket.begin(), bucket.end(), sorted_.begin());
            std::sort(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(bucket.size()),
                      [](const Message& a, const Message& b) { return a.destination < b.destination; });
        }
        std::fill(sorted_.end() - prefetched, sorted_.end(), sorted_[bucket.size() - 1]);
    }

    std::uint64_t handle(const std::vector<Message>& bucket) {
        sort(bucket);
        Message* message = sorted_.data();
        Message* const end = message + bucket.size();
        std::uint64_t received = 0;
        while (message != end) {
            const Rank& ahead = rank_[message[prefetched].destination];
            __builtin_prefetch(&ahead, 1);
            __builtin_prefetch(&ahead.round, 1);
            Message* const begin = message;
            do {
                ++message;
            } while (message != end && message->destination == begin->destination);
            const auto earlier = [](const Message& a, const Message& b) {
                return a.time != b.time ? a.time < b.time : a.round < b.round;
            };
            if (message - begin == 2) {
                if (earlier(begin[1], begin[0])) {
                    std::swap(begin[0], begin[1]);
                }
            } else if (message - begin > 2) {
                std::sort(begin, message, earlier);
            }
            received += visit(begin, message);
        }
        return received;
    }

    /// All that a rank is told in this window. Returns how many messages it has received.
    std::uint64_t visit(const Message* message, const Message* end) {
        const std::uint32_t r = message->destination;
        Rank& rank = rank_[r];
        std::uint64_t received = 0;
        for (; message != end; ++message) {
            if (message->round != wake) {
                receive(rank, *message);
                ++received;
            }
            send_before(message + 1 == end ? window_end_ : message[1].time, rank, r);
        }
        if (may_send(rank)) {
            push({rank.ready, r, wake});
        }
        return received;
    }

    void receive(Rank& rank, const Message& message) {
        const std::int64_t at = std::max(message.time, std::max(rank.cpu, rank.receive_side));
        rank.cpu = noise_.finish(rank.next_detour, at, o);
        rank.receive_side = at + g;
        rank.came |= std::uint32_t{1} << message.round;
        if (message.round + 1 == rank.round) {
            rank.ready = rank.cpu;
        }
    }

    /// A round's message may be sent when that of the round before has come.
    [[nodiscard]] bool may_send(const Rank& rank) const {
        return rank.round < rounds_ && (rank.came >> (rank.round - 1) & 1) != 0;
    }

    /// What may be sent goes before a message that comes later than the send is ready, whenever the CPU is free.
    void send_before(std::int64_t next, Rank& rank, std::uint32_t r) {
        while (may_send(rank) && rank.ready < next) {
            send(rank, r);
        }
    }

    void send(Rank& rank, std::uint32_t r) {
        const std::int64_t at = std::max(rank.cpu, rank.send_side);
        rank.cpu = noise_.finish(rank.next_detour, at, o);
        rank.send_side = at + g;
        rank.ready = rank.cpu;
        const std::uint64_t to = r + (std::uint64_t{1} << rank.round);
        const auto destination = static_cast<std::uint32_t>(to < size_ ? to : to - size_);
        push({rank.cpu + L, destination, rank.round++});
    }

    void push(const Message& message) { buckets_.push(message.time, message); }

    std::uint32_t size_;
    std::uint32_t rounds_;
    const floors::NoiseRecording& noise_;
    std::int64_t window_end_ = window;
    idlewave::HugeArray<Rank> rank_;
    floors::Buckets<Message, windows_ahead> buckets_;
    floors::Begins begins_{};
    std::vector<Message> sorted_;
};

}  // namespace

int main(int count, char** arguments) {
    const bool fits = count == 5;
    const long ranks = fits ? std::strtol(arguments[1], nullptr, 10) : 0;
    const long runs = fits ? std::strtol(arguments[2], nullptr, 10) : 0;
    const long period = fits ? std::strtol(arguments[4], nullptr, 10) : 0;
    if (ranks < 2 || ranks > 1L << 30 || runs < 1 || period < 1) {
        std::fprintf(
            stderr,
            "usage: noise_floor RANKS RUNS DETOURS PERIOD: from 2 to 2^30 ranks, a file of start_ns,length_ns, s\n");
        return 2;
    }
    try {
        const floors::NoiseRecording noise = floors::read_recording(arguments[3], period);
        floors::several(static_cast<std::size_t>(runs), [&] {
            NoiseFloor floor(static_cast<std::uint32_t>(ranks), noise);
            const std::string messages = "\"messages\": " + std::to_string(floor.run());
            return messages + ", \"max_finish_ps\": " + std::to_string(floor.last());
        });
    } catch (const std::exception& error) {
        std::fprintf(stderr, "noise_floor: %s\n", error.what());
        return 1;
    }
    return 0;
}
