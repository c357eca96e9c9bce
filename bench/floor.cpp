// The floor under the simulator: dissemination with the CPU's and the NIC's rules alone, without matching, noise,
// dependencies, or any other pattern. Messages of 16 bytes lie in buckets by window of the lookahead and block of 4,096
// ranks; a bucket is ordered by counting; the state of ranks is in huge pages. With `slopes` every time carries its
// derivatives along. Prints messages, when the last rank has finished, and the derivatives of that by L and by o.
//
//     floor RANKS RUNS [slopes]

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/huge_memory.hpp"
#include "dissemination.hpp"
#include "loggops/slopes.hpp"

namespace {

using dissemination::block_size;
using dissemination::g;
using dissemination::L;
using dissemination::o;
using idlewave::LevelSlopes;
using idlewave::Slopes;

/// A time alone.
struct Plain {
    std::int64_t time = 0;
};
Plain after(const Plain& moment, std::int64_t span, const LevelSlopes& /*counts*/) {
    return {moment.time + span};
}

/// A time and its derivatives, as the simulator has them.
using Sloped = Slopes<1>;
Sloped after(const Sloped& moment, std::int64_t span, const LevelSlopes& counts) {
    Sloped later = moment;
    later.time += span;
    later.add(0, counts);
    return later;
}

/// In this pattern nothing comes at one time.
template <class Moment>
const Moment& later_of(const Moment& a, const Moment& b) {
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
        : size_(ranks), rounds_(static_cast<std::uint32_t>(std::bit_width(ranks - 1))), rank_(ranks), buckets_(ranks) {}

    std::uint64_t run() {
        for (std::uint32_t r = 0; r < size_; ++r) {
            send(r);
        }
        std::uint64_t messages = 0;
        for (std::uint64_t now = 0; !buckets_.empty(); ++now) {
            for (std::uint32_t block = 0; block < buckets_.blocks(); ++block) {
                std::vector<Letter> bucket = buckets_.take(now, block);
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
    [[nodiscard]] const Moment& finish() const { return rank_[0].cpu; }

  private:
    using Letter = Message<Moment>;
    /// Large messages stay where they are, and their places are put in order.
    static constexpr bool moves = sizeof(Letter) == 16;
    using Sorted = std::conditional_t<moves, Letter, std::uint32_t>;

    void handle(const std::vector<Letter>& bucket) {
        dissemination::count<Letter>(bucket, begins_);
        sorted_.resize(bucket.size());
        for (std::uint32_t i = 0; i < bucket.size(); ++i) {
            Sorted& place = sorted_[begins_[bucket[i].destination % block_size]++];
            if constexpr (moves) {
                place = bucket[i];
            } else {
                place = i;
            }
        }
        for (const Sorted& sorted : sorted_) {
            if constexpr (moves) {
                receive(sorted);
            } else {
                receive(bucket[sorted]);
            }
        }
    }

    void receive(const Letter& message) {
        Rank<Moment>& rank = rank_[message.destination];
        const Moment& at = later_of(message.arrival, later_of(rank.cpu, rank.receive_side));
        const Moment free = after(at, o, {.o_r = 1, .o = 1});
        rank.receive_side = after(at, g, {.g = 1});
        rank.cpu = free;
        if (rank.round < rounds_) {
            send(message.destination);
        }
    }

    void send(std::uint32_t r) {
        Rank<Moment>& rank = rank_[r];
        const Moment& at = later_of(rank.cpu, rank.send_side);
        const std::uint64_t to = r + (std::uint64_t{1} << rank.round++);
        const auto destination = static_cast<std::uint32_t>(to < size_ ? to : to - size_);
        buckets_.push(at.time + o + L, {after(at, o + L, {.L = 1, .o_s = 1, .o = 1}), destination});
        const Moment free = after(at, o, {.o_s = 1, .o = 1});
        rank.send_side = after(at, g, {.g = 1});
        rank.cpu = free;
    }

    std::uint32_t size_;
    std::uint32_t rounds_;
    idlewave::HugeArray<Rank<Moment>> rank_;
    dissemination::Buckets<Letter, 4> buckets_;
    dissemination::Begins begins_{};
    std::vector<Sorted> sorted_;
};

template <class Moment>
std::string run(std::uint32_t ranks) {
    Floor<Moment> floor(ranks);
    std::string found = "\"messages\": " + std::to_string(floor.run());
    found += ", \"max_finish_ps\": " + std::to_string(floor.finish().time);
    if constexpr (std::is_same_v<Moment, Sloped>) {
        const LevelSlopes counts = floor.finish().level(0);
        found += ", \"L\": " + std::to_string(counts.L) + ", \"o\": " + std::to_string(counts.o);
    }
    return found;
}

}  // namespace

int main(int count, char** arguments) {
    const bool slopes = count == 4 && std::string_view(arguments[3]) == "slopes";
    const bool fits = count == 3 || slopes;
    const long ranks = fits ? std::strtol(arguments[1], nullptr, 10) : 0;
    const long runs = fits ? std::strtol(arguments[2], nullptr, 10) : 0;
    if (ranks < 2 || ranks > 1L << 30 || runs < 1) {
        std::fprintf(stderr, "usage: floor RANKS RUNS [slopes], from 2 to 2^30 ranks\n");
        return 2;
    }
    dissemination::several(static_cast<std::size_t>(runs),
                           [=] { return (slopes ? run<Sloped> : run<Plain>)(static_cast<std::uint32_t>(ranks)); });
}
