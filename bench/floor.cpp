// The floor under the simulator: dissemination with the CPU's and the NIC's rules alone, without matching, noise,
// dependencies, or any other pattern. Messages of 16 bytes lie in buckets by window of the lookahead and block of 4,096
// ranks; a bucket is ordered by counting; the state of ranks is in huge pages. With `slopes` every time carries its
// derivatives along. Prints messages and seconds, and the derivatives of the last time by L and by o.
//
//     floor RANKS [slopes]

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/huge_memory.hpp"

namespace {

constexpr std::int64_t L = 2'500'000;
constexpr std::int64_t o = 1'500'000;
constexpr std::int64_t g = 1'000'000;
constexpr std::int64_t window = o + L;
constexpr std::uint32_t block_size = 4096;
constexpr std::size_t windows_ahead = 4;

/// What a time is made of: how often each parameter counts.
struct Counts {
    std::uint32_t L = 0;
    std::uint32_t o_s = 0;
    std::uint32_t o_r = 0;
    std::uint32_t o = 0;
    std::uint32_t g = 0;
};

/// A time alone.
struct Plain {
    std::int64_t time = 0;

    [[nodiscard]] Plain after(std::int64_t span, const Counts& /*counts*/) const { return {time + span}; }
};

/// A time and its derivatives, as small as they can be: those that count, then bytes by G and O, and the computation,
/// which this pattern has none of.
struct Sloped {
    using Words = std::uint64_t __attribute__((vector_size(16)));

    std::array<Words, 3> words = {};
    std::int64_t time = 0;

    [[nodiscard]] Sloped after(std::int64_t span, const Counts& more) const {
        Sloped later = *this;
        later.time += span;
        later.words[0] += Words{more.L | std::uint64_t{more.o_s} << 32, more.o_r | std::uint64_t{more.o} << 32};
        later.words[1] += Words{more.g, 0};
        return later;
    }
    [[nodiscard]] Counts counts() const {
        return {.L = static_cast<std::uint32_t>(words[0][0]), .o = static_cast<std::uint32_t>(words[0][1] >> 32)};
    }
};

template <class Moment>
const Moment& latest(const Moment& a, const Moment& b) {
    return a.time < b.time ? b : a;
}

template <class Moment>
struct Rank {
    Moment cpu;
    Moment send_side;
    Moment receive_side;
    std::uint32_t round;
};

template <class Moment>
struct Message {
    Moment arrival;
    std::uint32_t destination;
};
static_assert(sizeof(Message<Plain>) == 16);

template <class Moment>
class Floor {
  public:
    explicit Floor(std::uint32_t ranks)
        : size_(ranks),
          rounds_(static_cast<std::uint32_t>(std::bit_width(ranks - 1))),
          blocks_((ranks + block_size - 1) / block_size),
          rank_(ranks) {
        for (auto& buckets : buckets_) {
            buckets.resize(blocks_);
        }
    }

    std::uint64_t run() {
        for (std::uint32_t r = 0; r < size_; ++r) {
            send(r);
        }
        std::uint64_t messages = 0;
        for (std::int64_t now = 0; under_way_ > 0; ++now) {
            for (std::uint32_t block = 0; block < blocks_; ++block) {
                messages += handle(buckets_[static_cast<std::size_t>(now) % windows_ahead][block], block * block_size);
            }
        }
        return messages;
    }

    /// When the first rank has finished, as all have.
    [[nodiscard]] const Moment& finish() { return rank_[0].cpu; }

  private:
    using Letter = Message<Moment>;
    /// Large messages stay where they are, and their places are put in order.
    static constexpr bool moves = sizeof(Letter) == 16;
    using Sorted = std::conditional_t<moves, Letter, std::uint32_t>;

    std::uint64_t handle(std::vector<Letter>& bucket, std::uint32_t first) {
        if (bucket.empty()) {
            return 0;
        }
        begins_.fill(0);
        for (const Letter& message : bucket) {
            ++begins_[message.destination - first];
        }
        std::uint32_t sum = 0;
        for (std::uint32_t& begin : begins_) {
            sum += std::exchange(begin, sum);
        }
        const std::size_t count = bucket.size();
        sorted_.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            Sorted& place = sorted_[begins_[bucket[i].destination - first]++];
            if constexpr (moves) {
                place = bucket[i];
            } else {
                place = i;
            }
        }
        under_way_ -= count;
        for (const Sorted& sorted : sorted_) {
            if constexpr (moves) {
                receive(sorted);
            } else {
                receive(bucket[sorted]);
            }
        }
        bucket.clear();
        return count;
    }

    void receive(const Letter& message) {
        Rank<Moment>& rank = rank_[message.destination];
        const Moment& at = latest(message.arrival, latest(rank.cpu, rank.receive_side));
        const Moment free = at.after(o, {.o_r = 1, .o = 1});
        rank.receive_side = at.after(g, {.g = 1});
        rank.cpu = free;
        if (rank.round < rounds_) {
            send(message.destination);
        }
    }

    void send(std::uint32_t r) {
        Rank<Moment>& rank = rank_[r];
        const Moment& at = latest(rank.cpu, rank.send_side);
        const std::uint64_t to = r + (std::uint64_t{1} << rank.round++);
        const auto destination = static_cast<std::uint32_t>(to < size_ ? to : to - size_);
        const std::int64_t arrival = at.time + o + L;
        buckets_[static_cast<std::size_t>(arrival / window) % windows_ahead][destination / block_size].push_back(
            {at.after(o + L, {.L = 1, .o_s = 1, .o = 1}), destination});
        const Moment free = at.after(o, {.o_s = 1, .o = 1});
        rank.send_side = at.after(g, {.g = 1});
        rank.cpu = free;
        ++under_way_;
    }

    std::uint32_t size_;
    std::uint32_t rounds_;
    std::uint32_t blocks_;
    idlewave::HugeArray<Rank<Moment>> rank_;
    std::array<std::vector<std::vector<Letter>>, windows_ahead> buckets_;
    std::array<std::uint32_t, block_size> begins_{};
    std::vector<Sorted> sorted_;
    std::uint64_t under_way_ = 0;
};

template <class Moment>
void run(std::uint32_t ranks) {
    Floor<Moment> floor(ranks);
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t messages = floor.run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("{\"messages\": %llu, \"seconds\": %.6f", static_cast<unsigned long long>(messages), seconds);
    if constexpr (std::is_same_v<Moment, Sloped>) {
        const Counts counts = floor.finish().counts();
        std::printf(", \"L\": %u, \"o\": %u", counts.L, counts.o);
    }
    std::printf("}\n");
}

}  // namespace

int main(int count, char** arguments) {
    const bool slopes = count == 3 && std::string_view(arguments[2]) == "slopes";
    const long ranks = count == 2 || slopes ? std::strtol(arguments[1], nullptr, 10) : 0;
    if (ranks < 2 || ranks > 1L << 30) {
        std::fprintf(stderr, "usage: floor RANKS [slopes], from 2 to 2^30 ranks\n");
        return 2;
    }
    (slopes ? run<Sloped> : run<Plain>)(static_cast<std::uint32_t>(ranks));
}
