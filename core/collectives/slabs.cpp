#include <algorithm>

#include "collectives/patterns.hpp"
#include "goal/op.hpp"

/// The exchange of a transposed array, slab by slab: every rank computes the slabs that it has, and sends a part of
/// each to every other rank. What is sent as soon as its slab is computed goes on beside the computation of the next
/// one.
namespace idlewave::collectives {
namespace {

std::uint32_t slabs_of(const CollectiveCall& call) {
    return std::max(call.shape->blocks, std::uint32_t{1});
}

/// A message to one of the other ranks, which are numbered from 1 on: first to the next rank, so that no rank gets all
/// messages at once.
Step send_to_other(const CollectiveCall& call, StepNumber number, std::uint32_t other) {
    return steps::send(number, call.ahead(other), call.bytes);
}
Step receive_from_other(const CollectiveCall& call, StepNumber number, std::uint32_t other) {
    return steps::recv(number, call.behind(other), call.bytes);
}

/// The end: everything is waited for.
Step finish(StepNumber number, std::uint64_t beyond) {
    return beyond == 0 ? steps::join(number) : steps::done();
}

}  // namespace

/// All receives are posted before the first slab.
Step slabs_two_sided(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t others = call.size - 1;
    const std::uint64_t receives = std::uint64_t{others} * slabs_of(call);
    if (number < receives) {
        return receive_from_other(call, number, number % others + 1);
    }
    const std::uint64_t n = number - receives;
    if (n >= std::uint64_t{call.size} * slabs_of(call)) {
        return finish(number, n - std::uint64_t{call.size} * slabs_of(call));
    }
    const auto other = static_cast<std::uint32_t>(n % call.size);
    return other == 0 ? steps::calc(number, call.shape->compute_ns) : send_to_other(call, number, other);
}

/// A nonblocking all-to-all begins after each slab.
Step slabs_nonblocking(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t others = call.size - 1;
    const std::uint32_t per_slab = 1 + 2 * others;
    const std::uint64_t all = std::uint64_t{per_slab} * slabs_of(call);
    if (number >= all) {
        return finish(number, number - all);
    }
    const std::uint32_t n = number % per_slab;
    if (n == 0) {
        return steps::calc(number, call.shape->compute_ns);
    }
    return n <= others ? receive_from_other(call, number, n) : send_to_other(call, number, n - others);
}

/// The ranks put their slabs into the memory of the others, and wait until all is there.
Step slabs_put(const CollectiveCall& call, StepNumber number) {
    const std::uint64_t all = std::uint64_t{call.size} * slabs_of(call);
    if (number >= all) {
        return finish(number, number - all);
    }
    const std::uint32_t other = number % call.size;
    return other == 0 ? steps::calc(number, call.shape->compute_ns) : steps::put(number, call.ahead(other), call.bytes);
}

/// The same with one put to each rank, once all slabs are computed.
Step packed_slabs_put(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t slabs = slabs_of(call);
    if (number < slabs) {
        return steps::calc(number, call.shape->compute_ns);
    }
    const std::uint32_t other = number - slabs + 1;
    if (other >= call.size) {
        return finish(number, other - call.size);
    }
    const bool too_large = call.bytes > goal::largest_size / slabs;  // which `put` refuses
    return steps::put(number, call.ahead(other), too_large ? goal::largest_size + 1 : slabs * call.bytes);
}

}  // namespace idlewave::collectives
