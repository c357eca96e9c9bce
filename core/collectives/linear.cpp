#include "collectives/algorithms.hpp"

/// Operations in which the root deals with every other rank itself.
namespace idlewave::collectives {
namespace {

/// The root sends to all other ranks, in the order of ranks from the root on.
template <class BytesTo>
Step from_root(const CollectiveCall& call, StepNumber number, std::uint64_t own, BytesTo bytes_to) {
    if (call.rank != call.root) {
        return number == 0 ? steps::and_join(steps::recv(number, call.root, own)) : steps::done();
    }
    const std::uint32_t others = call.size - 1;
    if (number >= others) {
        return steps::done();
    }
    const std::uint32_t peer = call.absolute(number + 1);
    return steps::and_join(steps::send(number, peer, bytes_to(peer)), number + 1 == others);
}

/// The root receives from all other ranks.
template <class BytesFrom>
Step to_root(const CollectiveCall& call, StepNumber number, std::uint64_t own, BytesFrom bytes_from) {
    if (call.rank != call.root) {
        return number == 0 ? steps::and_join(steps::send(number, call.root, own)) : steps::done();
    }
    const std::uint32_t others = call.size - 1;
    if (number >= others) {
        return steps::done();
    }
    const std::uint32_t peer = call.absolute(number + 1);
    return steps::and_join(steps::recv(number, peer, bytes_from(peer)), number + 1 == others);
}

}  // namespace

Step bcast_linear(const CollectiveCall& call, StepNumber number) {
    return from_root(call, number, call.bytes, [&call](std::uint32_t) { return call.bytes; });
}

/// As in MPI_Scatterv, the root has `send_counts`; `bytes` of another rank is the size that it receives.
Step scatter_linear(const CollectiveCall& call, StepNumber number) {
    return from_root(call, number, call.bytes, [&call](std::uint32_t peer) { return call.bytes_to(peer); });
}

/// As in MPI_Gatherv, the root has `recv_counts`; `bytes` of another rank is the size that it sends.
Step gather_linear(const CollectiveCall& call, StepNumber number) {
    return to_root(call, number, call.bytes, [&call](std::uint32_t peer) { return call.bytes_from(peer); });
}

Step reduce_linear(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t others = call.size - 1;
    if (call.rank == call.root && number == others) {
        return steps::reduce(call, number, call.bytes, others);
    }
    return to_root(call, number, call.bytes, [&call](std::uint32_t) { return call.bytes; });
}

/// Rank 0 receives from all other ranks, and then sends to all.
Step barrier_linear(const CollectiveCall& call, StepNumber number) {
    const std::uint32_t others = call.size - 1;
    if (call.rank != 0) {
        switch (number) {
            case 0:
                return steps::send(number, 0, call.bytes);
            case 1:
                return steps::and_join(steps::recv(number, 0, call.bytes));
            default:
                return steps::done();
        }
    }
    if (number >= 2 * std::uint64_t{others}) {
        return steps::done();
    }
    const bool receives = number < others;
    const std::uint32_t peer = receives ? number + 1 : number - others + 1;
    const Step step = receives ? steps::recv(number, peer, call.bytes) : steps::send(number, peer, call.bytes);
    return steps::and_join(step, peer == others);
}

}  // namespace idlewave::collectives
