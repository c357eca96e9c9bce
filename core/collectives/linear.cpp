#include "collectives/algorithms.hpp"

/// Operations in which the root deals with every other rank itself.
namespace idlewave {
namespace {

/// The root sends to all others, in the order of ranks from the root on.
template <class BytesTo>
Step from_root(const CollectiveCall& call, std::uint64_t number, std::uint64_t own, BytesTo bytes_to) {
    if (call.rank != call.root) {
        return number == 0 ? steps::recv(number, call.root, own) : number == 1 ? steps::join(number) : steps::done();
    }
    const std::uint64_t others = call.size - 1;
    if (number < others) {
        const std::uint32_t peer = call.absolute(number + 1);
        return steps::send(number, peer, bytes_to(peer));
    }
    return number == others ? steps::join(number) : steps::done();
}

/// The root receives from all others.
template <class BytesFrom>
Step to_root(const CollectiveCall& call, std::uint64_t number, std::uint64_t own, BytesFrom bytes_from) {
    if (call.rank != call.root) {
        return number == 0 ? steps::send(number, call.root, own) : number == 1 ? steps::join(number) : steps::done();
    }
    const std::uint64_t others = call.size - 1;
    if (number < others) {
        const std::uint32_t peer = call.absolute(number + 1);
        return steps::recv(number, peer, bytes_from(peer));
    }
    return number == others ? steps::join(number) : steps::done();
}

}  // namespace

Step bcast_linear(const CollectiveCall& call, std::uint64_t number) {
    return from_root(call, number, call.bytes, [&call](std::uint32_t) { return call.bytes; });
}

Step scatter_linear(const CollectiveCall& call, std::uint64_t number) {
    return from_root(call, number, call.bytes, [&call](std::uint32_t peer) { return call.bytes_to(peer); });
}

Step gather_linear(const CollectiveCall& call, std::uint64_t number) {
    return to_root(call, number, call.bytes, [&call](std::uint32_t peer) { return call.bytes_from(peer); });
}

Step reduce_linear(const CollectiveCall& call, std::uint64_t number) {
    const std::uint64_t gathered = std::uint64_t{call.size};
    if (call.rank != call.root || number < gathered) {
        return to_root(call, number, call.bytes, [&call](std::uint32_t) { return call.bytes; });
    }
    return number == gathered ? steps::reduce(call, number, call.bytes * (call.size - 1)) : steps::done();
}

/// Each rank adds to what its predecessor tells it and tells its successor.
Step scan_linear(const CollectiveCall& call, std::uint64_t number) {
    switch (number) {
        case 0:
            return call.rank > 0 ? steps::recv(number, call.rank - 1, call.bytes) : steps::skip(number);
        case 1:
            return call.rank > 0 ? steps::join(number) : steps::skip(number);
        case 2:
            return call.rank > 0 ? steps::reduce(call, number, call.bytes) : steps::skip(number);
        case 3:
            return call.rank + 1 < call.size ? steps::send(number, call.rank + 1, call.bytes) : steps::skip(number);
        case 4:
            return steps::join(number);
        default:
            return steps::done();
    }
}

}  // namespace idlewave
