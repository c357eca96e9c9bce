// The floor under the simulator: dissemination with the CPU's and the NIC's rules alone, without matching, noise,
// dependencies, or any other pattern. Messages of 16 bytes lie in buckets by window of the lookahead and block of 4,096
// ranks; a bucket is ordered by counting; the state of ranks is in huge pages. Prints messages and seconds.
//
//     floor RANKS

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

struct Rank {
    std::int64_t cpu;
    std::int64_t send_side;
    std::int64_t receive_side;
    std::uint32_t round;
};

struct Message {
    std::int64_t time;
    std::uint32_t destination;
};
static_assert(sizeof(Message) == 16);

class Floor {
  public:
    explicit Floor(std::uint32_t ranks)
        : size_(ranks),
          rounds_(std::bit_width(ranks - 1)),
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

  private:
    std::uint64_t handle(std::vector<Message>& bucket, std::uint32_t first) {
        if (bucket.empty()) {
            return 0;
        }
        begins_.fill(0);
        for (const Message& message : bucket) {
            ++begins_[message.destination - first];
        }
        std::uint32_t sum = 0;
        for (std::uint32_t& begin : begins_) {
            sum += std::exchange(begin, sum);
        }
        sorted_.resize(bucket.size());
        for (const Message& message : bucket) {
            sorted_[begins_[message.destination - first]++] = message;
        }
        bucket.clear();
        under_way_ -= sorted_.size();
        for (const Message& message : sorted_) {
            receive(message);
        }
        return sorted_.size();
    }

    void receive(const Message& message) {
        Rank& rank = rank_[message.destination];
        const std::int64_t at = std::max(message.time, std::max(rank.cpu, rank.receive_side));
        rank.cpu = at + o;
        rank.receive_side = at + g;
        if (rank.round < rounds_) {
            send(message.destination);
        }
    }

    void send(std::uint32_t r) {
        Rank& rank = rank_[r];
        const std::int64_t at = std::max(rank.cpu, rank.send_side);
        rank.cpu = at + o;
        rank.send_side = at + g;
        const std::uint64_t to = r + (std::uint64_t{1} << rank.round++);
        const auto destination = static_cast<std::uint32_t>(to < size_ ? to : to - size_);
        const std::int64_t arrival = at + o + L;
        buckets_[static_cast<std::size_t>(arrival / window) % windows_ahead][destination / block_size].push_back(
            {arrival, destination});
        ++under_way_;
    }

    std::uint32_t size_;
    std::uint32_t rounds_;
    std::uint32_t blocks_;
    idlewave::HugeArray<Rank> rank_;
    std::array<std::vector<std::vector<Message>>, windows_ahead> buckets_;
    std::array<std::uint32_t, block_size> begins_{};
    std::vector<Message> sorted_;
    std::uint64_t under_way_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    const long ranks = count == 2 ? std::strtol(arguments[1], nullptr, 10) : 0;
    if (ranks < 2 || ranks > 1L << 30) {
        std::fprintf(stderr, "usage: floor RANKS, from 2 to 2^30\n");
        return 2;
    }
    Floor floor(static_cast<std::uint32_t>(ranks));
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t messages = floor.run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("{\"messages\": %llu, \"seconds\": %.6f}\n", static_cast<unsigned long long>(messages), seconds);
}
