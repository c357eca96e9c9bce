#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trace/rank_converter.hpp"

/// How a traced collective call becomes a call of an algorithm.
namespace idlewave::trace {
namespace {

std::vector<std::uint64_t> counts_at(const TraceRecord& r, std::size_t begin, std::size_t count) {
    const auto words = r.words.subspan(begin, count);
    return {words.begin(), words.end()};
}

/// The `bytes` of CollectiveCall: the block of one rank, or the whole vector. At the root it may be the received size,
/// and elsewhere the sent one.
std::int64_t bytes_of(TracedCollective traced, bool at_root, std::int64_t sent, std::int64_t received) {
    switch (traced) {
        case TracedCollective::gather:
            return at_root ? received : sent;
        case TracedCollective::scatter:
        case TracedCollective::scatterv:
            return at_root ? sent : received;
        case TracedCollective::allgather:
            return received;
        default:
            return sent;
    }
}

/// Whether an algorithm can execute the operation: in a gatherv and a scatterv only the root knows all counts, in the
/// other v-variants every rank does.
bool supports(const collectives::Algorithm& algorithm, TracedCollective traced) {
    switch (traced) {
        case TracedCollective::gatherv:
        case TracedCollective::scatterv:
            return algorithm.vector_counts == collectives::VectorCounts::as_in_mpi;
        case TracedCollective::allgatherv:
        case TracedCollective::alltoallv:
        case TracedCollective::alltoallw:
        case TracedCollective::reduce_scatter:
            return algorithm.vector_counts != collectives::VectorCounts::unsupported;
        default:
            return true;
    }
}

/// Whether all ranks have equal counts by the definition of the operation; of a v-variant not every rank may know its
/// counts.
bool has_equal_counts(TracedCollective traced) {
    switch (traced) {
        case TracedCollective::gatherv:
        case TracedCollective::scatterv:
        case TracedCollective::allgatherv:
        case TracedCollective::alltoallv:
        case TracedCollective::alltoallw:
        case TracedCollective::reduce_scatter:
            return false;
        default:
            return true;
    }
}

}  // namespace

collectives::Collective operation_of(TracedCollective traced) {
    switch (traced) {
        case TracedCollective::bcast:
            return collectives::Collective::bcast;
        case TracedCollective::reduce:
            return collectives::Collective::reduce;
        case TracedCollective::allreduce:
            return collectives::Collective::allreduce;
        case TracedCollective::gather:
        case TracedCollective::gatherv:
            return collectives::Collective::gather;
        case TracedCollective::scatter:
        case TracedCollective::scatterv:
            return collectives::Collective::scatter;
        case TracedCollective::allgather:
        case TracedCollective::allgatherv:
            return collectives::Collective::allgather;
        case TracedCollective::alltoall:
        case TracedCollective::alltoallv:
        case TracedCollective::alltoallw:
            return collectives::Collective::alltoall;
        case TracedCollective::reduce_scatter:
        case TracedCollective::reduce_scatter_block:
            return collectives::Collective::reduce_scatter;
        case TracedCollective::scan:
            return collectives::Collective::scan;
        case TracedCollective::exscan:
            return collectives::Collective::exscan;
        case TracedCollective::barrier:
        case TracedCollective::neighbor:
            break;
    }
    return collectives::Collective::barrier;
}

void RankConverter::collective(const TraceRecord& r) {
    const bool blocking = is_collective(r.call);
    const Communicators::Group& communicator = communicator_of(r, r.words[0]);
    if (collective_of(r.call) == TracedCollective::neighbor) {
        fail(r, "is a neighbourhood collective, for which there is no algorithm yet");
    }
    if (communicator.intercommunicator) {
        fail(r, "is a collective on an intercommunicator, for which there is no algorithm yet");
    }
    const std::size_t sizes_at = blocking ? 2 : 3;
    collectives::Instruction instruction{.kind = collectives::Instruction::Kind::collective,
                                         .begin = number_of(site_of(r, sizes_at))};
    compute_in_cold_caches(cache_use_.call() + use_buffers(program_.collectives[instruction.begin], r.number(sizes_at),
                                                           r.number(sizes_at + 1)));
    if (!blocking) {
        instruction.slot = new_slot();
        pending_[r.words[2]].requests.push_back({.slot = instruction.slot});
    }
    program_.instructions.push_back(instruction);
}

/// The number of a collective among the different ones of the rank.
std::uint32_t RankConverter::number_of(collectives::CollectiveSite site) {
    std::size_t hash = std::hash<std::uint64_t>{}(site.bytes) ^ site.communicator << 8 ^ site.root << 16 ^
                       static_cast<std::size_t>(site.collective);
    for (const auto* counts : {&site.send_counts, &site.recv_counts}) {
        for (const std::uint64_t count : *counts) {
            hash = (hash ^ count) * 0x9e3779b97f4a7c15;  // of Fibonacci hashing
        }
    }
    const auto [first, last] = known_collectives_.equal_range(hash);
    const auto found =
        std::find_if(first, last, [&](const auto& known) { return program_.collectives[known.second] == site; });
    if (found != last) {
        return found->second;
    }
    const auto number = static_cast<std::uint32_t>(program_.collectives.size());
    known_collectives_.emplace(hash, number);
    program_.collectives.push_back(std::move(site));
    return number;
}

/// The extra time, in ns, of the rank's own vectors of a collective in cold caches. Of a v-variant with a list they are
/// `sent` and `received` bytes; 0 where the rank does not know.
std::int64_t RankConverter::use_buffers(const collectives::CollectiveSite& site, std::int64_t sent,
                                        std::int64_t received) {
    using collectives::Collective;
    const CacheUse::Buffer buffer{CacheUse::Kind::collective, site.communicator,
                                  static_cast<std::uint32_t>(site.collective)};
    if (!site.send_counts.empty() || !site.recv_counts.empty()) {
        const auto size = [](std::int64_t bytes) {
            return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
        };
        return cache_use_.use(buffer, {size(sent), size(received)});
    }
    const bool at_root = site.root == site.rank;
    const std::uint64_t own = site.bytes;
    const std::uint64_t all = site.bytes * communicators_.size(site.communicator);
    switch (site.collective) {
        case Collective::barrier:
            return 0;
        case Collective::bcast:
            return cache_use_.use(buffer, {own});
        case Collective::reduce:
            return at_root ? cache_use_.use(buffer, {own, own}) : cache_use_.use(buffer, {own});
        case Collective::gather:
        case Collective::scatter:
            return at_root ? cache_use_.use(buffer, {own, all}) : cache_use_.use(buffer, {own});
        case Collective::allgather:
            return cache_use_.use(buffer, {own, all});
        case Collective::reduce_scatter:  // `bytes` is the vector; what the rank keeps of it is small
            return cache_use_.use(buffer, {own});
        case Collective::alltoall:
            return cache_use_.use(buffer, {all, all});
        case Collective::allreduce:
        case Collective::scan:
        case Collective::exscan:
            return cache_use_.use(buffer, {own, own});
    }
    return 0;
}

collectives::CollectiveSite RankConverter::site_of(const TraceRecord& r, std::size_t sizes_at) {
    const TracedCollective traced = collective_of(r.call);
    const auto& members = communicator_of(r, r.words[0]).members;
    const auto me = std::find(members.begin(), members.end(), trace_.header().rank);
    if (me == members.end()) {
        fail(r, "is on a communicator of which this rank is no member");
    }
    collectives::CollectiveSite site;
    site.communicator = communicators_.use(r.words[0], trace_.header().rank);
    site.rank = static_cast<std::uint32_t>(me - members.begin());
    const std::int32_t root = r.pair(1).first;
    if (root >= static_cast<std::int32_t>(members.size())) {
        fail(r,
             "has root " + std::to_string(root) + " on a communicator of " + std::to_string(members.size()) + " ranks");
    }
    site.root = static_cast<std::uint32_t>(std::max(root, 0));
    const bool at_root = root >= 0 && site.root == site.rank;
    const std::int64_t bytes = bytes_of(traced, at_root, r.number(sizes_at), r.number(sizes_at + 1));
    std::size_t next = sizes_at + 2;
    const auto take = [&](bool present) {
        if (!present) {
            return std::vector<std::uint64_t>{};
        }
        if (r.words.size() < next + members.size()) {
            fail(r, "expected a list of " + std::to_string(members.size()) + " sizes");
        }
        next += members.size();
        return counts_at(r, next - members.size(), members.size());
    };
    site.send_counts = take((r.info & 2) != 0);
    site.recv_counts = take((r.info & 1) != 0);
    constexpr std::uint64_t largest = std::uint64_t{1} << 50;
    const auto too_large = [](std::uint64_t size) { return size > largest; };
    if (bytes < 0 || too_large(static_cast<std::uint64_t>(bytes)) ||
        std::any_of(site.send_counts.begin(), site.send_counts.end(), too_large) ||
        std::any_of(site.recv_counts.begin(), site.recv_counts.end(), too_large)) {
        fail(r, "expected sizes from 0 to 2^50 bytes");
    }
    site.bytes = static_cast<std::uint64_t>(bytes);
    const collectives::Collective operation = operation_of(traced);
    const auto chosen = options_.algorithms.find(operation);
    const collectives::Algorithm& algorithm_used =
        collectives::algorithm(operation, chosen == options_.algorithms.end() ? "" : chosen->second);
    if (!supports(algorithm_used, traced)) {
        fail(r, "has unequal counts, which the algorithm 'linear' supports and '" + std::string(algorithm_used.name) +
                    "' does not");
    }
    site.step = algorithm_used.step;
    site.collective = operation;
    site.by_rules = chosen == options_.algorithms.end() && has_equal_counts(traced) && options_.rules.has(operation);
    site.tag = Tags::of_collectives(site.communicator);
    site.counter = counters_.try_emplace(site.communicator, static_cast<std::uint32_t>(counters_.size())).first->second;
    program_.counters = static_cast<std::uint32_t>(counters_.size());
    return site;
}

}  // namespace idlewave::trace
