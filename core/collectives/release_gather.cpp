#include <algorithm>
#include <cstdint>

#include "collectives/algorithms.hpp"

/// Collectives of the ranks of one node through a buffer that they share, as MPICH has them: a gather goes up a tree of
/// flags to rank 0, and a release down another. Each rank copies its own data into the buffer, which is part of the
/// costs of the call; whoever reads them there needs the flag alone, and copies them out if they are the result. What
/// the root has to do with data, rank 0 does: another root exchanges a message with it.
namespace idlewave::collectives {
namespace {

/// Sizes of messages that are a flag alone.
constexpr std::uint64_t flag = 1;

// The trees' defaults (release_gather.c): MPIR_CVAR_BCAST_INTRANODE_TREE_KVAL, MPIR_CVAR_REDUCE_INTRANODE_TREE_KVAL,
// the same with _LARGE, and MPIR_CVAR_REDUCE_INTRANODE_MSG_SIZE_THRESHOLD.
constexpr std::uint32_t release_ways = 64;
constexpr std::uint32_t reduce_ways = 4;
constexpr std::uint32_t reduce_ways_of_large = 2;
constexpr std::uint64_t most_small_bytes = 2048;

std::uint32_t ways_of_reduction(std::uint64_t bytes) {
    return bytes <= most_small_bytes ? reduce_ways : reduce_ways_of_large;
}

/// A rank in a tree in which each rank has up to `ways` children: those of rank r begin at ways · r + 1.
struct TreeNode {
    std::uint32_t parent;
    std::uint32_t first_child;
    std::uint32_t children;

    TreeNode(const CollectiveCall& call, std::uint32_t ways) : parent(call.rank == 0 ? 0 : (call.rank - 1) / ways) {
        const std::uint64_t first = std::uint64_t{ways} * call.rank + 1;
        children =
            first >= call.size ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(ways, call.size - first));
        first_child = children == 0 ? 0 : static_cast<std::uint32_t>(first);
    }
};

/// Up the tree, 2 steps a child: rank 0 is done when all have come. Each rank reduces what its children have in the
/// buffer, if `reducing`.
Step gather(const CollectiveCall& call, StepNumber number, std::uint32_t ways, bool reducing) {
    const TreeNode node(call, ways);
    if (number < 2 * node.children) {
        if (number % 2 == 1) {
            return reducing ? steps::reduce(call, number, call.bytes) : steps::skip(number);
        }
        return steps::through_shared_buffer(steps::and_join(steps::recv(number, node.first_child + number / 2, flag)));
    }
    return call.rank == 0 || number > 2 * node.children
               ? steps::done()
               : steps::through_shared_buffer(steps::and_join(steps::send(number, node.parent, flag)));
}

/// Down the tree: all others go on when rank 0 has come.
Step release(const CollectiveCall& call, StepNumber number, std::uint32_t ways, std::uint64_t bytes) {
    const TreeNode node(call, ways);
    if (number == 0) {
        return call.rank == 0 ? steps::skip(number)
                              : steps::through_shared_buffer(steps::and_join(steps::recv(number, node.parent, bytes)));
    }
    const std::uint32_t i = number - 1;
    if (i >= node.children) {
        return steps::done();
    }
    return steps::through_shared_buffer(
        steps::and_join(steps::send(number, node.first_child + i, bytes), i + 1 == node.children));
}

/// A message of the data between rank 0 and a root that is another rank.
Step between(const CollectiveCall& call, StepNumber number, std::uint32_t from, std::uint32_t to) {
    if (number > 0 || from == to || (call.rank != from && call.rank != to)) {
        return steps::done();
    }
    return steps::and_join(call.rank == from ? steps::send(number, to, call.bytes)
                                             : steps::recv(number, from, call.bytes));
}

Step gather_flags(const CollectiveCall& call, StepNumber number) {
    return gather(call, number, release_ways, false);
}

Step gather_data(const CollectiveCall& call, StepNumber number) {
    return gather(call, number, ways_of_reduction(call.bytes), true);
}

Step release_data(const CollectiveCall& call, StepNumber number) {
    return release(call, number, release_ways, call.bytes);
}

Step release_flags(const CollectiveCall& call, StepNumber number) {
    return release(call, number, release_ways, flag);
}

Step release_flags_of_reduction(const CollectiveCall& call, StepNumber number) {
    return release(call, number, ways_of_reduction(call.bytes), flag);
}

Step root_to_first(const CollectiveCall& call, StepNumber number) {
    return between(call, number, call.root, 0);
}

/// Rank 0 has all data in the end, and gives them to the root.
Step gather_data_for_root(const CollectiveCall& call, StepNumber number) {
    const Step step = gather_data(call, number);
    if (step.kind != Step::Kind::done) {
        return step;
    }
    const TreeNode node(call, ways_of_reduction(call.bytes));
    const StepNumber after_gather = 2 * node.children + (call.rank == 0 ? 0 : 1);
    return between(call, number - after_gather, 0, call.root).from(after_gather);
}

}  // namespace

Step barrier_release_gather(const CollectiveCall& call, StepNumber number) {
    return steps::in_sequence(gather_flags, release_flags, call, number);
}

Step bcast_release_gather(const CollectiveCall& call, StepNumber number) {
    return steps::in_sequence(root_to_first, release_data, call, number);
}

Step allreduce_release_gather(const CollectiveCall& call, StepNumber number) {
    return steps::in_sequence(gather_data, release_data, call, number);
}

/// The release says that the buffer is free again: rank 0 has come.
Step reduce_release_gather(const CollectiveCall& call, StepNumber number) {
    return steps::in_sequence(release_flags_of_reduction, gather_data_for_root, call, number);
}

}  // namespace idlewave::collectives
