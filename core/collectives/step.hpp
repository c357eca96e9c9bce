#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "goal/op.hpp"

namespace idlewave {

/// The number of a step; every algorithm stays below 2^32.
using StepNumber = std::uint32_t;

/// What one rank does next inside a collective operation. In 16 bytes, so that it is returned in registers.
struct Step {
    enum class Kind : std::uint8_t {
        done,  ///< the rank has left the collective
        op,    ///< start an op; sends and receives go on beside what follows, a calc must end before it
        join,  ///< wait until all ops started so far have ended
        skip   ///< nothing
    };
    static constexpr unsigned size_bits = 56;
    static constexpr std::uint64_t most_size = (std::uint64_t{1} << size_bits) - 1;

    std::uint64_t size : size_bits;  ///< of an op: bytes; of a calc nanoseconds
    Kind kind : 2;
    OpKind op_kind : 2;
    bool reduction : 1;  ///< of a calc: it is part of a reduction
    bool joins : 1;      ///< of an op: a join follows it
    bool exchanges : 1;  ///< of a receive: the next step, numbered one more, is a send of the same size, and a join
    std::uint32_t peer;  ///< a rank of the communicator
    StepNumber next;     ///< the number of the step after this one; of one that `exchanges`, to whom the send goes

    constexpr Step(Kind kind_, StepNumber next_)
        : size(0),
          kind(kind_),
          op_kind(OpKind::calc),
          reduction(false),
          joins(false),
          exchanges(false),
          peer(0),
          next(next_) {}
    constexpr Step(OpKind op_kind_, std::uint64_t size_, std::uint32_t peer_, StepNumber next_)
        : size(size_ & most_size),
          kind(Kind::op),
          op_kind(op_kind_),
          reduction(false),
          joins(false),
          exchanges(false),
          peer(peer_),
          next(next_) {}

    /// Of one that `exchanges`.
    [[nodiscard]] std::uint32_t send_to() const { return next; }
    /// The number of the step after this one, whose own is `number`.
    [[nodiscard]] StepNumber after(StepNumber number) const { return exchanges ? number + 1 : next; }
    /// The same step of an algorithm whose numbers begin at `first` instead of 0.
    [[nodiscard]] Step from(StepNumber first) const {
        Step step = *this;
        step.next += exchanges ? 0 : first;
        return step;
    }

    [[nodiscard]] Op op() const { return {.size = size, .peer = peer, .kind = op_kind, .reduction = reduction}; }
};
static_assert(sizeof(Step) == 16);
static_assert(largest_size <= Step::most_size);

/// What halo exchanges and sweeps need to know beyond what a collective has.
struct GridShape {
    std::array<std::uint32_t, 3> dims{};        ///< ranks in each dimension; zeros: as near to a cube as can be
    std::array<std::uint64_t, 3> face_bytes{};  ///< bytes through a face across each dimension; zeros: the call's bytes
    std::uint64_t compute_ns = 0;               ///< computation: of an exchange once, of a sweep for each block
    std::uint32_t blocks = 1;                   ///< into how many blocks a sweep cuts its planes; at most 2^26
    std::uint32_t sweeps = 1;                   ///< how many sweeps, up to 8: from the corners in turn
    bool periodic = true;                       ///< whether the last rank of a row is the first one's neighbour
};

/// The size of the pieces of a pipelined message where nothing else is said: the middle one of those that Open MPI's
/// fixed rules choose from (coll_tuned_decision_fixed.c: 8, 64 and 128 KiB).
inline constexpr std::uint64_t default_segment = 65'536;

/// A collective operation as one rank sees it. Sizes in bytes.
struct CollectiveCall {
    std::uint32_t rank = 0;  ///< in the communicator
    std::uint32_t size = 1;  ///< of the communicator
    std::uint32_t root = 0;
    std::uint64_t bytes = 0;                          ///< the vector, or one rank's part of it: as the call means it
    std::span<const std::uint64_t> send_counts = {};  ///< v-variants: bytes for each rank, repeated over the ranks
    std::span<const std::uint64_t> recv_counts = {};
    double reduction_cost = 0;                ///< ns of computation per byte reduced
    std::uint64_t segment = default_segment;  ///< pipelined algorithms: bytes of a piece; 0: all at once
    std::uint32_t ways = 2;                   ///< n of an n-way algorithm
    const GridShape* shape = nullptr;         ///< of halo exchanges and sweeps; none: GridShape{}

    // Rings are walked by comparing and subtracting: a step is too short for a division.

    /// The rank `distance` < size ahead on the ring of ranks.
    [[nodiscard]] std::uint32_t ahead(std::uint32_t distance) const { return turned(rank, distance); }
    /// The rank `distance` < size behind.
    [[nodiscard]] std::uint32_t behind(std::uint32_t distance) const { return turned_back(rank, distance); }
    /// The rank as seen from the root, which is 0.
    [[nodiscard]] std::uint32_t relative() const { return turned_back(rank, root); }
    /// The rank that is seen from the root as `r`.
    [[nodiscard]] std::uint32_t absolute(std::uint32_t r) const { return turned(r, root); }

    [[nodiscard]] std::uint64_t bytes_to(std::uint32_t peer) const { return of(send_counts, peer); }
    [[nodiscard]] std::uint64_t bytes_from(std::uint32_t peer) const { return of(recv_counts, peer); }

    /// `r` + `distance` on the ring; both less than the size.
    [[nodiscard]] std::uint32_t turned(std::uint32_t r, std::uint32_t distance) const {
        const std::uint32_t left = size - r;
        return distance < left ? r + distance : distance - left;
    }
    [[nodiscard]] std::uint32_t turned_back(std::uint32_t r, std::uint32_t distance) const {
        return r >= distance ? r - distance : r + (size - distance);
    }

  private:
    [[nodiscard]] std::uint64_t of(std::span<const std::uint64_t> counts, std::uint32_t peer) const {
        if (counts.empty()) {
            return bytes;
        }
        return peer < counts.size() ? counts[peer] : counts[peer % static_cast<std::uint32_t>(counts.size())];
    }
};

/// An algorithm: the step with this number. Numbers begin at 0 and go on with Step::after.
using StepFunction = Step (*)(const CollectiveCall& call, StepNumber number);

/// Calls `use` with every step of one rank up to its last.
template <class Use>
void for_each_step(StepFunction function, const CollectiveCall& call, Use use) {
    StepNumber number = 0;
    for (Step step = function(call, number); step.kind != Step::Kind::done; step = function(call, number)) {
        use(step);
        number = step.after(number);
    }
}

namespace steps {

inline Step done() {
    return {Step::Kind::done, 0};
}
inline Step skip(StepNumber number) {
    return {Step::Kind::skip, number + 1};
}
inline Step join(StepNumber number) {
    return {Step::Kind::join, number + 1};
}
inline Step jump(StepNumber next) {
    return {Step::Kind::skip, next};
}

/// Throws InputError.
[[noreturn]] void refuse_size(std::uint64_t bytes);

/// The size of a message: what algorithms add up may be more than a schedule may hold.
[[gnu::always_inline]] inline std::uint64_t checked(std::uint64_t bytes) {
    if (bytes > largest_size) [[unlikely]] {
        refuse_size(bytes);
    }
    return bytes;
}

inline Step send(StepNumber number, std::uint32_t peer, std::uint64_t bytes) {
    return {OpKind::send, checked(bytes), peer, number + 1};
}

inline Step recv(StepNumber number, std::uint32_t peer, std::uint64_t bytes) {
    return {OpKind::recv, checked(bytes), peer, number + 1};
}

/// The same op, and a join behind it if it is the `last`.
inline Step and_join(Step step, bool last = true) {
    step.joins = last;
    return step;
}

/// One way of an exchange.
struct Way {
    std::uint32_t peer;
    std::uint64_t bytes;
};

/// The two steps of an exchange, of which `number` is the first or, as said, the `second`: a receive, and a send with
/// a join behind it. Where both have as many bytes, whoever asks for the first knows all of the second. The ways are
/// functions, since the second step needs only one.
template <class In, class Out>
[[gnu::always_inline]] inline Step exchange(StepNumber number, bool second, In in, Out out) {
    const Way to = out();
    if (second) {
        return and_join(send(number, to.peer, to.bytes));
    }
    const Way from = in();
    Step step = recv(number, from.peer, from.bytes);
    if (from.bytes == to.bytes) {
        step.exchanges = true;
        step.next = to.peer;
    }
    return step;
}

/// Computation of `ns`, even of none. What is too long for a step is too long for simulated time, which is then said.
inline Step work(StepNumber number, std::uint64_t ns) {
    return {OpKind::calc, std::min(ns, Step::most_size), 0, number + 1};
}

/// Computation of `ns`; nothing where there is none.
inline Step calc(StepNumber number, std::uint64_t ns) {
    return ns == 0 ? skip(number) : work(number, ns);
}

/// The computation of reducing `bytes`, `times` over, with what is there already; nothing where that costs nothing.
inline Step reduce(const CollectiveCall& call, StepNumber number, std::uint64_t bytes, std::uint32_t times = 1) {
    if (call.reduction_cost == 0) {
        return skip(number);
    }
    constexpr double longest = 9e18;  // ns; far more than time lasts, which the simulation then says
    const double ns = call.reduction_cost * static_cast<double>(bytes) * static_cast<double>(times);
    Step step = calc(number, static_cast<std::uint64_t>(std::llround(std::min(ns, longest))));
    step.reduction = true;
    return step;
}

/// Two algorithms one after the other: the second's steps are numbered from `second_begins` on, so that neither may
/// have more than 2^31.
inline constexpr StepNumber second_begins = std::uint32_t{1} << 31;

inline Step one_after_the_other(StepFunction first, StepFunction second, const CollectiveCall& call,
                                StepNumber number) {
    if (number < second_begins) {
        const Step step = first(call, number);
        return step.kind == Step::Kind::done ? jump(second_begins) : step;
    }
    return second(call, number - second_begins).from(second_begins);
}

}  // namespace steps
}  // namespace idlewave
