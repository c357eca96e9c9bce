// The floor under the kernel: PHOLD in one loop that can run nothing else. Prints the number of events, and the seconds
// without initialisation.
//
//     kernel_floor LPS START_EVENTS END RUNS        END in units of simulated time
//
// Every simulator of PHOLD draws 256 random bits and an exponential time for each event. When there are more pending
// events than a cache holds, it writes each event to memory and reads it once. The floor does this, and little else:
//
// - An event takes 16 bytes. It is appended to a list, and read once, in the order of the list. Nothing is sorted,
//   searched, copied or linked. A list consists of pieces, which are used again at once.
// - A list belongs to one cell and one block of LPs. A cell is as long as the lookahead, so no event causes another one
//   in its cell. The counters of a block's LPs fit into the second-level cache, with the open ends of all lists.
// - The handler counts, draws and pushes.
//
// A kernel has to do more. It brings the events of an LP into an order that does not depend on the run configuration,
// keeps the source of each event, runs any model, and refuses invalid events. The floor does not order the events of an
// LP within a cell, so events have other random draws than in the kernel; their number differs by chance only.

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/huge_memory.hpp"
#include "base/random.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t unit = 1'000'000;  ///< ticks
constexpr std::int64_t lookahead = unit / 10;
constexpr double mean = 0.9 * unit;
constexpr double remote = 0.1;
constexpr std::uint64_t seed = 1;

constexpr std::int64_t row = 64;        ///< cells
constexpr std::int64_t near = 2 * row;  ///< number of cells with lists: the present row and the next
constexpr std::int64_t far_rows = 8;    ///< the smallest random number, 2^-53, leads to a delay of 5 rows
constexpr unsigned block_shift = 14;

struct Event {
    std::int64_t time;
    std::uint32_t lp;
};
static_assert(sizeof(Event) == 16);

/// A piece of a list. It is aligned to its size, so an event's address gives its piece.
struct alignas(4096) Piece {
    Piece* before;
    std::uint64_t unused;
    std::array<Event, 255> events;

    static bool is_boundary(const Event* end) { return reinterpret_cast<std::uintptr_t>(end) % sizeof(Piece) == 0; }
    static Piece* of(Event* event) {
        auto* address = reinterpret_cast<std::byte*>(event);
        return reinterpret_cast<Piece*>(address - reinterpret_cast<std::uintptr_t>(event) % sizeof(Piece));
    }
};
static_assert(sizeof(Piece) == 4096);

class Pieces {
  public:
    Piece* take() {
        if (first_ == nullptr) [[unlikely]] {
            refill();
        }
        return std::exchange(first_, first_->before);
    }
    void give(Piece* piece) { piece->before = std::exchange(first_, piece); }

  private:
    void refill() {
        constexpr std::size_t count = 512;
        slabs_.push_back(idlewave::huge_memory(count * sizeof(Piece)));
        auto* pieces = reinterpret_cast<Piece*>(slabs_.back().get());
        for (std::size_t i = count; i-- > 0;) {
            give(pieces + i);
        }
    }

    Piece* first_ = nullptr;
    std::vector<idlewave::HugeMemory> slabs_;
};

/// The pending events in two levels: lists by cell and block for near cells, and one list for each later row of cells.
class Ladder {
  public:
    explicit Ladder(std::uint32_t lps)
        : blocks_(((lps - 1) >> block_shift) + 1), ends_(static_cast<std::size_t>(near) * blocks_) {}

    [[nodiscard]] std::uint32_t blocks() const { return blocks_; }

    [[gnu::always_inline]] void push(const Event& event) {
        const auto cell = static_cast<std::int64_t>(static_cast<std::uint64_t>(event.time) / lookahead);
        if (cell >= near_end_) [[unlikely]] {
            far_[static_cast<std::size_t>(cell / row % far_rows)].push_back(event);
            return;
        }
        Event*& end = ends_[slot(cell, event.lp >> block_shift)];
        if (Piece::is_boundary(end)) [[unlikely]] {
            open(end);
        }
        *end++ = event;
    }

    /// Moves the present to `cell`, before which no event is left.
    void advance(std::int64_t cell) {
        if ((cell / row + 2) * row > near_end_) {
            near_end_ += row;
            for (const Event& event :
                 std::exchange(far_[static_cast<std::size_t>((near_end_ / row - 1) % far_rows)], {})) {
                push(event);
            }
        }
    }

    /// Empties a list, and passes its events to `handle`.
    template <class Handle>
    [[gnu::always_inline]] void drain(std::int64_t cell, std::uint32_t block, Handle handle) {
        Event* end = std::exchange(ends_[slot(cell, block)], nullptr);
        while (end != nullptr) {
            Piece* piece = Piece::of(end - 1);
            for (const Event* event = piece->events.data(); event != end; ++event) {
                handle(*event);
            }
            end = piece->before == nullptr ? nullptr : piece->before->events.data() + piece->events.size();
            pieces_.give(piece);
        }
    }

  private:
    [[nodiscard]] std::size_t slot(std::int64_t cell, std::uint32_t block) const {
        return static_cast<std::uint64_t>(cell) % near * blocks_ + block;
    }

    [[gnu::noinline]] void open(Event*& end) {
        Piece* piece = pieces_.take();
        piece->before = end == nullptr ? nullptr : Piece::of(end - 1);
        end = piece->events.data();
    }

    std::uint32_t blocks_;
    Pieces pieces_;
    idlewave::HugeArray<Event*> ends_;  ///< one past the last event of each list, by cell and block
    std::array<std::vector<Event>, far_rows> far_;
    std::int64_t near_end_ = near;  ///< the first cell without lists
};

class Floor {
  public:
    Floor(std::uint32_t lps, std::uint32_t start_events, std::int64_t end)
        : lps_(lps), end_(end), drawn_(lps), ladder_(lps) {
        for (std::uint32_t lp = 0; lp < lps; ++lp) {
            for (std::uint32_t i = 0; i < start_events; ++i) {
                send(0, lp, draw(lp)[2]);
            }
        }
    }

    std::uint64_t run() {
        std::uint64_t events = 0;
        for (std::int64_t cell = 0; cell * lookahead < end_; ++cell) {
            ladder_.advance(cell);
            for (std::uint32_t block = 0; block < ladder_.blocks(); ++block) {
                ladder_.drain(cell, block, [&](const Event& event) {
                    ++events;
                    handle(event);
                });
            }
        }
        return events;
    }

  private:
    idlewave::Philox draw(std::uint32_t lp) { return idlewave::draws(seed, idlewave::Stream::model, lp, drawn_[lp]++); }

    [[gnu::always_inline]] void handle(const Event& event) {
        constexpr auto remote_below = static_cast<std::uint64_t>(remote * 0x1p53);
        const idlewave::Philox bits = draw(event.lp);
        const bool goes = bits[0] >> 11 < remote_below;
        send(event.time, goes ? static_cast<std::uint32_t>(idlewave::below(lps_, bits[1])) : event.lp, bits[2]);
    }

    [[gnu::always_inline]] void send(std::int64_t now, std::uint32_t lp, std::uint64_t bits) {
        const double exponential = -std::log(idlewave::between_0_and_1(bits)) * mean;
        const std::int64_t time = now + lookahead + static_cast<std::int64_t>(exponential);
        if (time < end_) {
            ladder_.push({time, lp});
        }
    }

    std::uint32_t lps_;
    std::int64_t end_;
    idlewave::HugeArray<std::uint64_t> drawn_;  ///< draws of each LP: its start events and handled events
    Ladder ladder_;
};

}  // namespace

int main(int count, char** arguments) {
    const long lps = count == 5 ? std::strtol(arguments[1], nullptr, 10) : 0;
    const long start_events = count == 5 ? std::strtol(arguments[2], nullptr, 10) : 0;
    const double end = count == 5 ? std::strtod(arguments[3], nullptr) : 0;
    const long runs = count == 5 ? std::strtol(arguments[4], nullptr, 10) : 0;
    const bool sensible = lps >= 1 && lps <= 1L << 30 && start_events >= 1 && end > 0 && end < 1e9 && runs >= 1;
    if (!sensible) {
        std::fprintf(stderr, "usage: kernel_floor LPS START_EVENTS END RUNS, from 1 to 2^30 LPs\n");
        return 2;
    }
    std::uint64_t events = 0;
    std::string seconds;
    for (long i = 0; i < runs; ++i) {
        Floor floor(static_cast<std::uint32_t>(lps), static_cast<std::uint32_t>(start_events),
                    static_cast<std::int64_t>(end * unit));
        const auto begin = Clock::now();
        events = floor.run();
        const std::chrono::duration<double> taken = Clock::now() - begin;
        seconds += (seconds.empty() ? "" : ", ") + std::to_string(taken.count());
    }
    std::printf("{\"events\": %llu, \"seconds\": [%s]}\n", static_cast<unsigned long long>(events), seconds.c_str());
}
