// The floor under the simulator: dissemination with the CPU's and the NIC's rules alone, without matching, noise,
// dependencies, or any other pattern. Messages of 16 bytes lie in buckets by window of the lookahead and block of 4,096
// ranks; a bucket is ordered by counting; the state of ranks is in huge pages. Prints messages, and when the last rank
// has finished.
//
//     floor RANKS RUNS

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/huge_memory.hpp"
#include "floors.hpp"

namespace {

using floors::block_size;
using floors::g;
using floors::L;
using floors::o;

struct Rank {
    std::int64_t cpu;
    std::int64_t send_side;
    std::int64_t receive_side;
    std::uint32_t round;
};

struct Message {
    std::int64_t arrival;
    std::uint32_t destination;
};
static_assert(sizeof(Message) == 16);

class Floor {
  public:
    explicit Floor(std::uint32_t ranks)
        : size_(ranks), rounds_(static_cast<std::uint32_t>(std::bit_width(ranks - 1))), rank_(ranks), buckets_(ranks) {}

    std::uint64_t run() {
        for (std::uint32_t r = 0; r < size_; ++r) {
            send(r);
        }
        std::uint64_t messages = 0;
        for (std::uint64_t now = 0; !buckets_.empty(); ++now) {
            for (std::uint32_t block = 0; block < buckets_.blocks(); ++block) {
                std::vector<Message> bucket = buckets_.take(now, block);
                if (!bucket.empty()) {
                    messages += bucket.size();
                    handle(bucket);
                    buckets_.give(std::move(bucket));
                }
            }
        }
        return messages;
    }

    /// When the first rank has finished, as all have.
    [[nodiscard]] std::int64_t finish() const { return rank_[0].cpu; }

  private:
    void handle(const std::vector<Message>& bucket) {
        floors::count<Message>(bucket, begins_);
        sorted_.resize(bucket.size());
        for (const Message& message : bucket) {
            sorted_[begins_[message.destination % block_size]++] = message;
        }
        for (const Message& message : sorted_) {
            receive(message);
        }
    }

    void receive(const Message& message) {
        Rank& rank = rank_[message.destination];
        const std::int64_t at = std::max({message.arrival, rank.cpu, rank.receive_side});
        rank.receive_side = at + g;
        rank.cpu = at + o;
        if (rank.round < rounds_) {
            send(message.destination);
        }
    }

    void send(std::uint32_t r) {
        Rank& rank = rank_[r];
        const std::int64_t at = std::max(rank.cpu, rank.send_side);
        const std::uint64_t to = r + (std::uint64_t{1} << rank.round++);
        const auto destination = static_cast<std::uint32_t>(to < size_ ? to : to - size_);
        buckets_.push(at + o + L, {at + o + L, destination});
        rank.send_side = at + g;
        rank.cpu = at + o;
    }

    std::uint32_t size_;
    std::uint32_t rounds_;
    idlewave::HugeArray<Rank> rank_;
    floors::Buckets<Message, 4> buckets_;
    floors::Begins begins_{};
    std::vector<Message> sorted_;
};

std::string run(std::uint32_t ranks) {
    Floor floor(ranks);
    std::string found = "\"messages\": " + std::to_string(floor.run());
    return found + ", \"max_finish_ps\": " + std::to_string(floor.finish());
}

}  // namespace

int main(int count, char** arguments) {
    const long ranks = count == 3 ? std::strtol(arguments[1], nullptr, 10) : 0;
    const long runs = count == 3 ? std::strtol(arguments[2], nullptr, 10) : 0;
    if (ranks < 2 || ranks > 1L << 30 || runs < 1) {
        std::fprintf(stderr, "usage: floor RANKS RUNS, from 2 to 2^30 ranks\n");
        return 2;
    }
    floors::several(static_cast<std::size_t>(runs), [=] { return run(static_cast<std::uint32_t>(ranks)); });
}
