// The floor under the simulator with noise: dissemination as in floor.cpp, where detours of a recording stretch what
// the CPU does, at a phase of its own for every rank. Ranks drift apart, so that more is needed than there: the
// messages of one rank have an order, one that comes early waits for its round, and what would end behind a window is
// put off to the next, in which an earlier message may have come. The times are the simulator's own. Prints messages,
// seconds, and when the last rank has finished, ps.
//
//     noise_floor RANKS DETOURS PERIOD    (a table start_ns,length_ns in a file; s)

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/huge_memory.hpp"
#include "machine/noise_trace.hpp"

namespace {

using idlewave::Detour;
using idlewave::NoiseTrace;

constexpr std::int64_t L = 2'500'000;
constexpr std::int64_t o = 1'500'000;
constexpr std::int64_t g = 1'000'000;
constexpr std::int64_t window = o + L;
constexpr std::uint32_t block_size = 4096;
constexpr std::size_t windows_ahead = 16;
constexpr std::size_t prefetched = 12;        ///< messages ahead
constexpr std::uint32_t wake = 0xffffffff;    ///< a round: no message, the rank may send
constexpr std::size_t fewest_to_count = 192;  ///< messages in a bucket; fewer are compared

struct Rank {
    std::int64_t cpu = 0;
    std::int64_t send_side = 0;
    std::int64_t receive_side = 0;
    std::int64_t ready = 0;  ///< when the next message may be sent, as far as is known
    std::int64_t next_detour = 0;
    std::uint32_t detour = 0;  ///< the number of the next
    std::uint32_t came = 0;    ///< a bit a round
    std::uint32_t round = 0;   ///< the one whose message is sent next
};

struct Message {
    std::int64_t time;
    std::uint32_t destination;
    std::uint32_t round;
};
static_assert(sizeof(Message) == 16);

class NoiseFloor {
  public:
    NoiseFloor(std::uint32_t ranks, const std::vector<Detour>& detours, std::int64_t period)
        : size_(ranks),
          rounds_(static_cast<std::uint32_t>(std::bit_width(ranks - 1))),
          blocks_((ranks + block_size - 1) / block_size),
          detours_(detours),
          period_(period),
          rank_(ranks) {
        for (auto& buckets : buckets_) {
            buckets.resize(blocks_);
        }
        const NoiseTrace trace(detours, period, idlewave::Phase::random);
        for (std::uint32_t r = 0; r < size_; ++r) {
            Rank& rank = rank_[r];
            const std::int64_t phase = trace.phase(0, r);
            const auto next = std::partition_point(detours_.begin(), detours_.end(), [phase](const Detour& detour) {
                return detour.start + detour.length <= phase;
            });
            rank.detour = static_cast<std::uint32_t>(next - detours_.begin());
            begin_detour(rank, -phase);
        }
    }

    std::uint64_t run() {
        for (std::uint32_t r = 0; r < size_; ++r) {
            send(rank_[r], r);
        }
        std::uint64_t messages = 0;
        for (std::int64_t now = 0; under_way_ > 0; ++now) {
            window_end_ = (now + 1) * window;
            for (std::uint32_t block = 0; block < blocks_; ++block) {
                messages += handle(buckets_[static_cast<std::size_t>(now) % windows_ahead][block], block * block_size);
            }
        }
        return messages;
    }

    [[nodiscard]] std::int64_t last() {
        std::int64_t last = 0;
        for (std::uint32_t r = 0; r < size_; ++r) {
            last = std::max(last, rank_[r].cpu);
        }
        return last;
    }

  private:
    /// `shift`: from the recording's time to the rank's.
    void begin_detour(Rank& rank, std::int64_t shift) {
        if (rank.detour == detours_.size()) {
            rank.detour = 0;
            shift += period_;
        }
        rank.next_detour = detours_[rank.detour].start + shift;
    }

    /// When work begun at `at` is done.
    std::int64_t finish(Rank& rank, std::int64_t at, std::int64_t work) {
        if (at + work <= rank.next_detour) [[likely]] {
            return at + work;
        }
        return finish_in_noise(rank, at, work);
    }
    [[gnu::noinline]] std::int64_t finish_in_noise(Rank& rank, std::int64_t at, std::int64_t work) {
        std::int64_t end = at + work;
        while (rank.next_detour < end) {
            const std::int64_t length = detours_[rank.detour].length;
            const std::int64_t detour_end = rank.next_detour + length;
            if (rank.next_detour > at) {
                end += length;
            } else if (detour_end > at) {
                end += detour_end - at;
                at = detour_end;
            }
            const std::int64_t shift = rank.next_detour - detours_[rank.detour].start;
            ++rank.detour;
            begin_detour(rank, shift);
        }
        return end;
    }

    /// Puts a bucket into the order of ranks, and a rank's messages into the order of time.
    void sort(const std::vector<Message>& bucket, std::uint32_t first) {
        sorted_.resize(bucket.size() + prefetched);
        if (bucket.size() >= fewest_to_count) {
            begins_.fill(0);
            for (const Message& message : bucket) {
                ++begins_[message.destination - first];
            }
            std::uint32_t sum = 0;
            for (std::uint32_t& begin : begins_) {
                sum += std::exchange(begin, sum);
            }
            for (const Message& message : bucket) {
                sorted_[begins_[message.destination - first]++] = message;
            }
        } else {
            std::copy(bucket.begin(), bucket.end(), sorted_.begin());
            std::sort(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(bucket.size()),
                      [](const Message& a, const Message& b) { return a.destination < b.destination; });
        }
        std::fill(sorted_.end() - prefetched, sorted_.end(), sorted_[bucket.size() - 1]);
    }

    std::uint64_t handle(std::vector<Message>& bucket, std::uint32_t first) {
        if (bucket.empty()) {
            return 0;
        }
        sort(bucket, first);
        under_way_ -= bucket.size();
        Message* message = sorted_.data();
        Message* const end = message + bucket.size();
        bucket.clear();
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
            push(rank.ready, {rank.ready, r, wake});
        }
        return received;
    }

    void receive(Rank& rank, const Message& message) {
        const std::int64_t at = std::max(message.time, std::max(rank.cpu, rank.receive_side));
        rank.cpu = finish(rank, at, o);
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
        rank.cpu = finish(rank, at, o);
        rank.send_side = at + g;
        rank.ready = rank.cpu;
        const std::uint64_t to = r + (std::uint64_t{1} << rank.round);
        const auto destination = static_cast<std::uint32_t>(to < size_ ? to : to - size_);
        push(rank.cpu + L, {rank.cpu + L, destination, rank.round++});
    }

    void push(std::int64_t time, const Message& message) {
        if (time >= window_end_ + static_cast<std::int64_t>(windows_ahead - 1) * window) [[unlikely]] {
            std::fprintf(stderr, "noise_floor: detours longer than this loop is made for\n");
            std::exit(1);
        }
        buckets_[static_cast<std::size_t>(time / window) % windows_ahead][message.destination / block_size].push_back(
            message);
        ++under_way_;
    }

    std::uint32_t size_;
    std::uint32_t rounds_;
    std::uint32_t blocks_;
    std::vector<Detour> detours_;
    std::int64_t period_;
    std::int64_t window_end_ = window;
    idlewave::HugeArray<Rank> rank_;
    std::array<std::vector<std::vector<Message>>, windows_ahead> buckets_;
    std::array<std::uint32_t, block_size> begins_{};
    std::vector<Message> sorted_;
    std::uint64_t under_way_ = 0;
};

/// Of a table in ns.
std::vector<Detour> read_detours(const char* file) {
    constexpr std::int64_t picoseconds = 1'000;
    std::vector<Detour> detours;
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    long long start = 0;
    long long length = 0;
    while (std::getline(in, line) && std::sscanf(line.c_str(), "%lld,%lld", &start, &length) == 2) {
        detours.push_back({start * picoseconds, length * picoseconds});
    }
    return detours;
}

}  // namespace

int main(int count, char** arguments) {
    const long ranks = count == 4 ? std::strtol(arguments[1], nullptr, 10) : 0;
    const long period = count == 4 ? std::strtol(arguments[3], nullptr, 10) : 0;
    const std::vector<Detour> detours = count == 4 ? read_detours(arguments[2]) : std::vector<Detour>();
    if (ranks < 2 || ranks > 1L << 30 || period < 1 || detours.empty()) {
        std::fprintf(stderr,
                     "usage: noise_floor RANKS DETOURS PERIOD: from 2 to 2^30, a table start_ns,length_ns, s\n");
        return 2;
    }
    NoiseFloor floor(static_cast<std::uint32_t>(ranks), detours, period * 1'000'000'000'000);
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t messages = floor.run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("{\"messages\": %llu, \"seconds\": %.6f, \"max_finish_ps\": %lld}\n",
                static_cast<unsigned long long>(messages), seconds, static_cast<long long>(floor.last()));
}
