#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "goal/op.hpp"

namespace idlewave::collectives {

/// The number of a step; every algorithm stays below 2^32.
using StepNumber = std::uint32_t;

/// One step of a rank inside a collective operation. It has 16 bytes, so that it is returned in registers.
struct Step {
    enum class Kind : std::uint8_t {
        done,  ///< the collective has ended for this rank
        op,    ///< start an op: a send or receive is nonblocking, a calc ends before the next step
        join,  ///< wait until all ops started so far have ended
        skip   ///< no action
    };
    static constexpr unsigned size_bits = 54;
    static constexpr std::uint64_t most_size = (std::uint64_t{1} << size_bits) - 1;

    std::uint64_t size : size_bits;  ///< of an op, in bytes; of a calc in nanoseconds
    Kind kind : 2;
    goal::OpKind op_kind : 4;
    bool reduction : 1;              ///< of a calc: part of a reduction
    bool joins : 1;                  ///< of an op: a join follows
    bool exchange : 1;               ///< of a receive: the next step is a send of the same size with a join
    bool through_shared_buffer : 1;  ///< of a message: it passes through a buffer that the ranks of a node share
    std::uint32_t peer;              ///< a rank of the communicator
    StepNumber next;                 ///< number of the next step; of an exchange the destination of the send

    constexpr Step(Kind kind_, StepNumber next_)
        : size(0),
          kind(kind_),
          op_kind(goal::OpKind::calc),
          reduction(false),
          joins(false),
          exchange(false),
          through_shared_buffer(false),
          peer(0),
          next(next_) {}
    constexpr Step(goal::OpKind op_kind_, std::uint64_t size_, std::uint32_t peer_, StepNumber next_)
        : size(size_ & most_size),
          kind(Kind::op),
          op_kind(op_kind_),
          reduction(false),
          joins(false),
          exchange(false),
          through_shared_buffer(false),
          peer(peer_),
          next(next_) {}

    /// The destination of an exchange's send.
    [[nodiscard]] std::uint32_t send_to() const { return next; }
    /// The number of the next step, where this step has the number `number`.
    [[nodiscard]] StepNumber after(StepNumber number) const { return exchange ? number + 1 : next; }
    /// The same step of an algorithm whose step numbers begin at `first` instead of 0.
    [[nodiscard]] Step from(StepNumber first) const {
        Step step = *this;
        step.next += exchange ? 0 : first;
        return step;
    }

    /// The tag that the step adds to that of its collective. A put does not notify its target.
    [[nodiscard]] std::uint32_t tag() const {
        return op_kind == goal::OpKind::put ? goal::no_notification
               : through_shared_buffer      ? goal::shared_buffer_tag
                                            : 0;
    }
    [[nodiscard]] goal::Op op() const {
        return {.size = size, .peer = peer, .tag = tag(), .kind = op_kind, .reduction = reduction};
    }
};
static_assert(sizeof(Step) == 16);
static_assert(goal::largest_size <= Step::most_size);

/// The parameters of halo exchanges, sweeps and slabs beyond those of a collective.
struct GridShape {
    std::array<std::uint32_t, 3> dims{};        ///< ranks in each dimension; 0: chosen by fitting_dims
    std::array<std::uint64_t, 3> face_bytes{};  ///< bytes of a face across each dimension; all 0: the call's bytes
    std::uint64_t compute_ns = 0;  ///< computation after an exchange, or for each block of a sweep, or slab
    std::uint32_t blocks = 1;      ///< number of blocks into which a sweep cuts its planes, or of slabs; at most 2^26
    std::uint32_t sweeps = 1;      ///< number of sweeps, up to 8, from the corners in turn
    bool periodic = true;          ///< the first and the last rank of a row are neighbours
};

/// The default segment size of pipelined algorithms: the middle one of those among which Open MPI's fixed rules choose
/// (coll_tuned_decision_fixed.c: 8, 64 and 128 KiB).
inline constexpr std::uint64_t default_segment = 65'536;

struct CollectiveCall;

/// An algorithm: a function from a step's number to the step. Numbers begin at 0; Step::after returns the next one.
using StepFunction = Step (*)(const CollectiveCall& call, StepNumber number);

/// The arguments of a collective operation at one rank. Sizes are in bytes.
struct CollectiveCall {
    std::uint32_t rank = 0;  ///< in the communicator
    std::uint32_t size = 1;  ///< of the communicator
    std::uint32_t root = 0;
    std::uint64_t bytes = 0;  ///< size of the vector, or of one rank's block: as the operation defines it
    std::span<const std::uint64_t> send_counts =
        {};  ///< of v-variants: bytes for each rank, repeated if fewer than ranks
    std::span<const std::uint64_t> recv_counts = {};
    double reduction_cost = 0;                ///< ns of computation per byte reduced
    std::uint64_t segment = default_segment;  ///< of pipelined algorithms: bytes of a segment; 0: one segment
    std::uint32_t ways = 2;                   ///< n of an n-way algorithm
    const GridShape* shape = nullptr;         ///< of halo exchanges and sweeps; null: GridShape{}
    StepFunction algorithm = nullptr;         ///< of a call with work of its own before: what follows it
    std::uint64_t own_ns = 0;                 ///< computation before its first message (algorithm_rules.hpp)

    // Ring arithmetic compares and subtracts: a division would dominate the time of a step.

    /// The rank `distance` < size ahead on the ring of ranks.
    [[nodiscard]] std::uint32_t ahead(std::uint32_t distance) const { return ring_forward(rank, distance); }
    /// The rank `distance` < size behind.
    [[nodiscard]] std::uint32_t behind(std::uint32_t distance) const { return ring_backward(rank, distance); }
    /// The rank relative to the root, which is 0.
    [[nodiscard]] std::uint32_t relative() const { return ring_backward(rank, root); }
    /// The rank whose relative rank is `r`.
    [[nodiscard]] std::uint32_t absolute(std::uint32_t r) const { return ring_forward(r, root); }

    [[nodiscard]] std::uint64_t bytes_to(std::uint32_t peer) const { return of(send_counts, peer); }
    [[nodiscard]] std::uint64_t bytes_from(std::uint32_t peer) const { return of(recv_counts, peer); }

    /// `r` + `distance` on the ring; both must be less than the size.
    [[nodiscard]] std::uint32_t ring_forward(std::uint32_t r, std::uint32_t distance) const {
        const std::uint32_t left = size - r;
        return distance < left ? r + distance : distance - left;
    }
    [[nodiscard]] std::uint32_t ring_backward(std::uint32_t r, std::uint32_t distance) const {
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

/// Calls `use` with every step of one rank except `done`.
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

/// Checks the size of a message: sums of counts may exceed the largest size of a schedule.
[[gnu::always_inline]] inline std::uint64_t checked(std::uint64_t bytes) {
    if (bytes > goal::largest_size) [[unlikely]] {
        refuse_size(bytes);
    }
    return bytes;
}

inline Step send(StepNumber number, std::uint32_t peer, std::uint64_t bytes) {
    return {goal::OpKind::send, checked(bytes), peer, number + 1};
}

inline Step recv(StepNumber number, std::uint32_t peer, std::uint64_t bytes) {
    return {goal::OpKind::recv, checked(bytes), peer, number + 1};
}

inline Step put(StepNumber number, std::uint32_t peer, std::uint64_t bytes) {
    return {goal::OpKind::put, checked(bytes), peer, number + 1};
}

/// The same op, followed by a join if it is the `last` one.
inline Step and_join(Step step, bool last = true) {
    step.joins = last;
    return step;
}

/// One of the two messages of an exchange.
struct Transfer {
    std::uint32_t peer;
    std::uint64_t bytes;
};

/// An exchange has two steps: a receive, and a send followed by a join. Returns the first step, or with `second` the
/// second one. If both messages have the same size, the first step contains both. The messages are functions, since the
/// second step needs only one of them.
template <class In, class Out>
[[gnu::always_inline]] inline Step exchange(StepNumber number, bool second, In in, Out out) {
    const Transfer to = out();
    if (second) {
        return and_join(send(number, to.peer, to.bytes));
    }
    const Transfer from = in();
    Step step = recv(number, from.peer, from.bytes);
    if (from.bytes == to.bytes) {
        step.exchange = true;
        step.next = to.peer;
    }
    return step;
}

/// The same message, through the buffer that the ranks of a node share.
inline Step through_shared_buffer(Step step) {
    step.through_shared_buffer = true;
    return step;
}

/// Computation of `ns`, even if it is 0. A time too long for a step exceeds simulated time, which the simulation
/// reports.
inline Step work(StepNumber number, std::uint64_t ns) {
    return {goal::OpKind::calc, std::min(ns, Step::most_size), 0, number + 1};
}

/// Computation of `ns`; a skip if it is 0.
inline Step calc(StepNumber number, std::uint64_t ns) {
    return ns == 0 ? skip(number) : work(number, ns);
}

/// The computation of `times` reductions of `bytes`; a skip if reductions cost nothing.
inline Step reduce(const CollectiveCall& call, StepNumber number, std::uint64_t bytes, std::uint32_t times = 1) {
    if (call.reduction_cost == 0) {
        return skip(number);
    }
    constexpr double longest = 9e18;  // ns; it exceeds simulated time, which the simulation reports
    const double ns = call.reduction_cost * static_cast<double>(bytes) * static_cast<double>(times);
    Step step = calc(number, static_cast<std::uint64_t>(std::llround(std::min(ns, longest))));
    step.reduction = true;
    return step;
}

/// Two algorithms in sequence. The steps of the second one are numbered from `second_begins` on; each may have at most
/// 2^31 steps.
inline constexpr StepNumber second_begins = std::uint32_t{1} << 31;

inline Step in_sequence(StepFunction first, StepFunction second, const CollectiveCall& call, StepNumber number) {
    if (number < second_begins) {
        const Step step = first(call, number);
        return step.kind == Step::Kind::done ? jump(second_begins) : step;
    }
    return second(call, number - second_begins).from(second_begins);
}

}  // namespace steps
}  // namespace idlewave::collectives
