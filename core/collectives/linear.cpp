#include "collectives/algorithms.hpp"

/// Operations in which the root deals with every other rank itself.
namespace idlewave {
namespace {

/// The root sends to all others, in the order of ranks from the root on.
template <class BytesTo>
Step from_root(const CollectiveCall& call, StepNumber number, std::uint64_t own, BytesTo bytes_to) {
    if (call.rank != call.root) {
        return number == 0 ? steps::recv(number, call.root, own) : number == 1 ? steps::join(number) : steps::done();
    }
    const std::uint32_t others = call.size - 1;
    if (number < others) {
        const std::uint32_t peer = call.absolute(static_cast<std::uint32_t>(number) + 1);
        return steps::send(number, peer, bytes_to(peer));
    }
    return number == others ? steps::join(number) : steps::done();
}

/// The root receives from all others.
template <class BytesFrom>
Step to_root(const CollectiveCall& call, StepNumber number, std::uint64_t own, BytesFrom bytes_from) {
    if (call.rank != call.root) {
        return number == 0 ? steps::send(number, call.root, own) : number == 1 ? steps::join(number) : steps::done();
    }
    const std::uint32_t others = call.size - 1;
    if (number < others) {
        const std::uint32_t peer = call.absolute(static_cast<std::uint32_t>(number) + 1);
        return steps::recv(number, peer, bytes_from(peer));
    }
    return number == others ? steps::join(number) : steps::done();
}

}  // namespace

Step bcast_linear(const CollectiveCall& call, StepNumber number) {
    return from_root(call, number, call.bytes, [&call](std::uint32_t) { return call.bytes; });
}

/// As in MPI_Scatterv `send_counts` are the root's; another rank's `bytes` are what it gets.
Step scatter_linear(const CollectiveCall& call, StepNumber number) {
    return from_root(call, number, call.bytes, [&call](std::uint32_t peer) { return call.bytes_to(peer); });
}

/// As in MPI_Gatherv `recv_counts` are the root's; another rank's `bytes` are what it gives.
Step gather_linear(const CollectiveCall& call, StepNumber number) {
    return to_root(call, number, call.bytes, [&call](std::uint32_t peer) { return call.bytes_from(peer); });
}

Step reduce_linear(const CollectiveCall& call, StepNumber number) {
    if (call.rank != call.root || number < call.size) {
        return to_root(call, number, call.bytes, [&call](std::uint32_t) { return call.bytes; });
    }
    return number == call.size ? steps::reduce(call, number, call.bytes, call.size - 1) : steps::done();
}

/// Rank 0 hears from all, then tells all.
Step barrier_linear(const CollectiveCall& call, StepNumber number) {
    if (call.rank != 0) {
        switch (number) {
            case 0:
                return steps::send(number, 0, call.bytes);
            case 1:
                return steps::recv(number, 0, call.bytes);
            case 2:
                return steps::join(number);
            default:
                return steps::done();
        }
    }
    const std::uint32_t others = call.size - 1;
    const auto n = static_cast<std::uint32_t>(number);
    if (n < others) {
        return steps::recv(number, n + 1, call.bytes);
    }
    if (n == others || n == 2 * others + 1) {
        return steps::join(number);
    }
    return n > 2 * others + 1 ? steps::done() : steps::send(number, n - others, call.bytes);
}

}  // namespace idlewave
