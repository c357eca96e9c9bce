#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "goal/op.hpp"

namespace idlewave {

/// What one rank does next inside a collective operation.
struct Step {
    enum class Kind : std::uint8_t {
        op,    ///< start an op; sends and receives go on beside what follows, a calc must end before it
        join,  ///< wait until all ops started so far have ended
        skip,  ///< nothing
        done   ///< the rank has left the collective
    };
    Kind kind = Kind::done;
    std::uint64_t next = 0;  ///< the number of the step after this one
    Op op = {};              ///< `peer` is a rank of the communicator
    bool joins = false;      ///< of an op: a join follows it
};

/// A collective operation as one rank sees it. Sizes in bytes.
struct CollectiveCall {
    std::uint32_t rank = 0;  ///< in the communicator
    std::uint32_t size = 1;  ///< of the communicator
    std::uint32_t root = 0;
    std::uint64_t bytes = 0;                     ///< the vector, or one rank's part of it: as the call means it
    std::span<const std::uint64_t> send_counts = {};  ///< v-variants: bytes for each rank, repeated over the ranks
    std::span<const std::uint64_t> recv_counts = {};
    double reduction_cost = 0;  ///< ns of computation per byte reduced

    /// The rank as seen from the root, which is 0.
    [[nodiscard]] std::uint32_t relative() const { return (rank + size - root) % size; }
    /// The rank that is seen from the root as `r`.
    [[nodiscard]] std::uint32_t absolute(std::uint64_t r) const {
        return static_cast<std::uint32_t>((r + root) % size);
    }
    [[nodiscard]] std::uint64_t bytes_to(std::uint32_t peer) const {
        return send_counts.empty() ? bytes : send_counts[peer % send_counts.size()];
    }
    [[nodiscard]] std::uint64_t bytes_from(std::uint32_t peer) const {
        return recv_counts.empty() ? bytes : recv_counts[peer % recv_counts.size()];
    }
    /// The size of block `i` when the vector is cut into one block a rank.
    [[nodiscard]] std::uint64_t block(std::uint64_t i) const {
        return bytes / size + (i % size < bytes % size ? 1 : 0);
    }
};

/// An algorithm: the step with this number. Numbers begin at 0 and go on with Step::next.
using StepFunction = Step (*)(const CollectiveCall& call, std::uint64_t number);

namespace steps {

inline Step done() {
    return {Step::Kind::done, 0, {}};
}
inline Step skip(std::uint64_t number) {
    return {Step::Kind::skip, number + 1, {}};
}
inline Step join(std::uint64_t number) {
    return {Step::Kind::join, number + 1, {}};
}
inline Step jump(std::uint64_t next) {
    return {Step::Kind::skip, next, {}};
}

inline Step send(std::uint64_t number, std::uint32_t peer, std::uint64_t bytes) {
    return {Step::Kind::op, number + 1, {.size = bytes, .peer = peer, .kind = OpKind::send}};
}

/// A send, and a join behind it.
inline Step send_and_join(std::uint64_t number, std::uint32_t peer, std::uint64_t bytes) {
    return {Step::Kind::op, number + 1, {.size = bytes, .peer = peer, .kind = OpKind::send}, true};
}

inline Step recv(std::uint64_t number, std::uint32_t peer, std::uint64_t bytes) {
    return {Step::Kind::op, number + 1, {.size = bytes, .peer = peer, .kind = OpKind::recv}};
}

/// The computation of reducing `bytes` with what is there already; nothing where that costs nothing.
inline Step reduce(const CollectiveCall& call, std::uint64_t number, std::uint64_t bytes) {
    const auto ns = static_cast<std::uint64_t>(std::llround(call.reduction_cost * static_cast<double>(bytes)));
    if (ns == 0) {
        return skip(number);
    }
    return {Step::Kind::op, number + 1, {.size = ns, .kind = OpKind::calc}};
}

/// Two algorithms one after the other: the second's steps are numbered from `second_begins` on.
inline constexpr std::uint64_t second_begins = std::uint64_t{1} << 40;

inline Step one_after_the_other(StepFunction first, StepFunction second, const CollectiveCall& call,
                                std::uint64_t number) {
    if (number < second_begins) {
        const Step step = first(call, number);
        return step.kind == Step::Kind::done ? jump(second_begins) : step;
    }
    Step step = second(call, number - second_begins);
    step.next += second_begins;
    return step;
}

}  // namespace steps
}  // namespace idlewave
