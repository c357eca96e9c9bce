#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "trace/rank_converter.hpp"

/// How a traced collective call becomes a call of an algorithm.
namespace idlewave::trace {
namespace {

/// Where the sizes of a collective's record begin: before those of a nonblocking one is its request.
std::size_t first_size(const TraceRecord& r) {
    return is_collective(r.call) ? 2 : 3;
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

/// What the rules are used for. An algorithm is chosen by them where all ranks have equal counts by the definition of
/// the operation, as of a v-variant not every rank may know its counts. What a rank copies to itself it knows.
collectives::UseOfRules use_of_rules(TracedCollective traced) {
    switch (traced) {
        case TracedCollective::allgatherv:
        case TracedCollective::alltoallv:
        case TracedCollective::alltoallw:
            return collectives::UseOfRules::costs;
        case TracedCollective::gatherv:
        case TracedCollective::scatterv:
        case TracedCollective::reduce_scatter:
            return collectives::UseOfRules::none;
        default:
            return collectives::UseOfRules::algorithm_and_costs;
    }
}

/// Whether every rank receives a block from every other: allgather and all-to-all.
bool exchanges_blocks(TracedCollective traced) {
    switch (traced) {
        case TracedCollective::allgather:
        case TracedCollective::allgatherv:
        case TracedCollective::alltoall:
        case TracedCollective::alltoallv:
        case TracedCollective::alltoallw:
            return true;
        default:
            return false;
    }
}

/// What a rank sends to others and receives from them in a call with counts, as far as it knows them.
std::pair<std::uint64_t, std::uint64_t> vectors_with_counts(const TraceRecord& r, TracedCollective traced,
                                                            const collectives::CollectiveSite& site) {
    const auto of_others = [&site](std::int64_t bytes, const std::vector<std::uint64_t>& counts) {
        const auto all = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
        return all - std::min(all, site.rank < counts.size() ? counts[site.rank] : 0);
    };
    const std::int64_t sent = r.number(first_size(r));
    const std::int64_t received = r.number(first_size(r) + 1);
    switch (traced) {
        case TracedCollective::gatherv:  // the root has the list
            return {0, of_others(received, site.recv_counts)};
        case TracedCollective::scatterv:
            return {of_others(sent, site.send_counts), 0};
        case TracedCollective::reduce_scatter:  // the list is that of the vector which is sent
            return {of_others(sent, {}), of_others(received, {})};
        default:
            return {of_others(sent, site.send_counts), of_others(received, site.recv_counts)};
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

/// Persistent collectives match in the order in which they are made (MPI 4.1, 6.13).
void RankConverter::make_persistent(const TraceRecord& r) {
    const auto started = static_cast<Call>(static_cast<std::uint16_t>(Call::nonblocking_collectives) +
                                           static_cast<std::uint16_t>(collective_of(r.call)));
    persistent_collectives_[r.words[2]] = {
        started, r.info, ++persistent_made_[r.words[0]], {r.words.begin(), r.words.end()}};
}

/// `ordinal`: which persistent collective of its communicator this executes, from 1; 0 for a call that is not
/// persistent.
void RankConverter::collective(const TraceRecord& r, std::uint32_t ordinal) {
    if (is_collective_init(r.call)) {
        make_persistent(r);
        return;
    }
    const bool blocking = is_collective(r.call);
    const Communicators::Group& communicator = communicator_of(r, r.words[0]);
    if (collective_of(r.call) == TracedCollective::neighbor) {
        neighborhood(r, communicator, ordinal);
        return;
    }
    const std::size_t sizes_at = first_size(r);
    if (communicator.intercommunicator && r.pair(1).first == proc_null) {  // the root's group, which takes no part
        if (!blocking) {
            pending_[r.words[2]].requests.push_back({.thread = thread_->number});
        }
        return;
    }
    if (communicator.intercommunicator && exchanges_blocks(collective_of(r.call))) {
        exchange_between_groups(r, communicator.members.size(), ordinal);
        return;
    }
    collectives::Instruction instruction{
        .kind = collectives::Instruction::Kind::collective,
        .begin = number_of(communicator.intercommunicator ? site_between_groups(r, sizes_at, ordinal)
                                                          : site_of(r, sizes_at, ordinal))};
    compute_in_cold_caches(thread_->cache_use.call() + use_buffers(r, thread_->program.collectives[instruction.begin]));
    if (!blocking) {
        instruction.slot = new_slot();
        pending_[r.words[2]].requests.push_back({.thread = thread_->number, .slot = instruction.slot});
    }
    thread_->program.instructions.push_back(instruction);
    note_user(instruction.slot);
}

void RankConverter::neighborhood(const TraceRecord& r, const Communicators::Group& communicator,
                                 std::uint32_t ordinal) {
    const Neighborhood* neighbors =
        communicators_.neighborhood(r.words[0], trace_.header().rank, member_of(r, communicator));
    if (neighbors == nullptr) {
        fail(r, "is on a communicator without a topology");
    }
    exchange_blocks(r, *neighbors, ordinal);
}

/// All ranks of the other group, of which there are `size`, are neighbours.
void RankConverter::exchange_between_groups(const TraceRecord& r, std::size_t size, std::uint32_t ordinal) {
    Neighborhood others;
    for (std::size_t i = 0; i < size; ++i) {
        others.sources.push_back({static_cast<std::int32_t>(i), 0});
    }
    others.destinations = others.sources;
    exchange_blocks(r, others, ordinal);
}

/// A receive from each source and a send to each destination, all at once (MPI 4.1, 8.6). Without a list of sizes, the
/// two sizes of a neighbourhood collective are totals of all neighbours, and those of an exchange between groups are of
/// one block.
void RankConverter::exchange_blocks(const TraceRecord& r, const Neighborhood& neighbors, std::uint32_t ordinal) {
    const std::size_t sizes_at = first_size(r);
    const bool totals = collective_of(r.call) == TracedCollective::neighbor;
    const std::size_t sends_listed = (r.info & 2) != 0 ? neighbors.destinations.size() : 0;
    const std::size_t receives_listed = (r.info & 1) != 0 ? neighbors.sources.size() : 0;
    if (r.words.size() < sizes_at + 2 + sends_listed + receives_listed) {
        fail(r, "expected a list of " + std::to_string(sends_listed + receives_listed) + " sizes");
    }
    std::vector<std::uint32_t> slots;
    const auto add = [&](const std::vector<Neighborhood::Neighbor>& with, bool receive, std::size_t listed,
                         std::size_t list_at, std::int64_t size) {
        const auto count = static_cast<std::int64_t>(std::max<std::size_t>(with.size(), 1));
        if (totals && listed == 0 && size % count != 0) {
            fail(r, "has " + std::to_string(size) + " bytes, which are no equal parts for " + std::to_string(count) +
                        " neighbours");
        }
        const std::int64_t block = totals ? size / count : size;
        for (std::size_t i = 0; i < with.size(); ++i) {
            const std::int64_t bytes = listed > 0 ? r.number(list_at + i) : block;
            slots.push_back(message(r, {.receive = receive,
                                        .communicator = r.words[0],
                                        .peer_tag = {with[i].rank, with[i].tag},
                                        .bytes = bytes,
                                        .context = {Tags::Context::Space::blocks, ordinal}}));
        }
    };
    add(neighbors.sources, true, receives_listed, sizes_at + 2 + sends_listed, r.number(sizes_at + 1));
    add(neighbors.destinations, false, sends_listed, sizes_at + 2, r.number(sizes_at));
    if (is_collective(r.call)) {
        wait_for(slots);
    } else {
        pending_[r.words[2]].requests.push_back({.thread = thread_->number, .more_slots = std::move(slots)});
    }
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
    const auto [first, last] = thread_->known_collectives.equal_range(hash);
    const auto found = std::find_if(
        first, last, [&](const auto& known) { return thread_->program.collectives[known.second] == site; });
    if (found != last) {
        return found->second;
    }
    const auto number = static_cast<std::uint32_t>(thread_->program.collectives.size());
    thread_->known_collectives.emplace(hash, number);
    thread_->program.collectives.push_back(std::move(site));
    return number;
}

/// The extra time, in ns, of the rank's vectors of a collective in cold caches, without the block that it has for
/// itself.
std::int64_t RankConverter::use_buffers(const TraceRecord& r, const collectives::CollectiveSite& site) {
    using collectives::Collective;
    const TracedCollective traced = collective_of(r.call);
    const CacheUse::Buffer buffer{CacheUse::Kind::collective, site.communicator, static_cast<std::uint32_t>(traced)};
    if (!site.send_counts.empty() || !site.recv_counts.empty()) {
        const auto [sent, received] = vectors_with_counts(r, traced, site);
        return thread_->cache_use.use(buffer, {sent, received});
    }
    const bool at_root = site.root == site.rank;
    const std::uint64_t own = site.bytes;
    const std::uint64_t of_others = site.bytes * (communicators_.members(site.communicator).size() - 1);
    switch (site.collective) {
        case Collective::barrier:
            return 0;
        case Collective::bcast:
            return thread_->cache_use.use(buffer, {own});
        case Collective::reduce:
            return at_root ? thread_->cache_use.use(buffer, {own, own}) : thread_->cache_use.use(buffer, {own});
        case Collective::gather:
        case Collective::scatter:
            return thread_->cache_use.use(buffer, {at_root ? of_others : own});
        case Collective::allgather:
            return thread_->cache_use.use(buffer, {own, of_others});
        case Collective::reduce_scatter:  // `bytes` is the vector; what the rank keeps of it is small
            return thread_->cache_use.use(buffer, {own});
        case Collective::alltoall:
            return thread_->cache_use.use(buffer, {of_others, of_others});
        case Collective::allreduce:
        case Collective::scan:
        case Collective::exscan:
            return thread_->cache_use.use(buffer, {own, own});
    }
    return 0;
}

/// This rank's rank in a communicator.
std::uint32_t RankConverter::member_of(const TraceRecord& r, const Communicators::Group& communicator) const {
    const auto me = std::ranges::find(communicator.members, trace_.header().rank);
    if (me == communicator.members.end()) {
        fail(r, "is on a communicator of which this rank is no member");
    }
    return static_cast<std::uint32_t>(me - communicator.members.begin());
}

collectives::CollectiveSite RankConverter::site_of(const TraceRecord& r, std::size_t sizes_at, std::uint32_t ordinal) {
    const TracedCollective traced = collective_of(r.call);
    const Communicators::Group& communicator = communicator_of(r, r.words[0]);
    const std::size_t size = communicator.members.size();
    collectives::CollectiveSite site;
    site.communicator = communicators_.use(r.words[0], trace_.header().rank);
    site.rank = member_of(r, communicator);
    const std::int32_t root = root_of(r, size);
    site.root = static_cast<std::uint32_t>(std::max(root, 0));
    const bool at_root = root >= 0 && site.root == site.rank;
    site.bytes = size_of(r, bytes_of(traced, at_root, r.number(sizes_at), r.number(sizes_at + 1)));
    Counts counts = counts_of(r, sizes_at, size);
    site.send_counts = std::move(counts.sent);
    site.recv_counts = std::move(counts.received);
    choose_algorithm(r, traced, ordinal, site);
    return site;
}

/// A collective between the groups of an intercommunicator in which ranks do not exchange blocks. With a root, it is
/// simulated as one of the root and the other group; without, as one of all ranks of both groups.
collectives::CollectiveSite RankConverter::site_between_groups(const TraceRecord& r, std::size_t sizes_at,
                                                               std::uint32_t ordinal) {
    const TracedCollective traced = collective_of(r.call);
    const std::uint32_t rank = trace_.header().rank;
    const std::vector<std::uint32_t>& others = communicator_of(r, r.words[0]).members;
    const Communicators::Group* own = communicators_.find_own(r.words[0], rank);
    if (own == nullptr || others.empty()) {
        fail(r, "is on a communicator of which this rank is no member");
    }
    if (traced == TracedCollective::reduce_scatter) {
        fail(r, "is on an intercommunicator, where a rank knows only its own part");
    }
    const bool at_root = r.pair(1).first == mpi_root;
    const std::int32_t root = at_root ? 0 : root_of(r, others.size());
    const std::int64_t sent = r.number(sizes_at);
    const std::int64_t received = r.number(sizes_at + 1);
    Counts counts = counts_of(r, sizes_at, others.size());
    collectives::CollectiveSite site;
    if (root >= 0) {
        site.communicator =
            at_root ? communicators_.use_root(r.words[0], rank, others)
                    : communicators_.use_root(r.words[0], others[static_cast<std::size_t>(root)], own->members);
        site.bytes = size_of(r, bytes_of(traced, at_root, sent, received));
        for (std::vector<std::uint64_t>* list : {&counts.sent, &counts.received}) {
            list->insert(list->begin(), list->empty() ? 0 : 1, 0);  // the root's own block
        }
    } else {
        site.communicator = communicators_.use_both(r.words[0], rank);
        const bool scattered = traced == TracedCollective::reduce_scatter_block;  // the vector of the own group
        site.bytes = scattered ? size_of(r, received) * own->members.size() : size_of(r, sent);
    }
    const std::vector<std::uint32_t>& members = communicators_.members(site.communicator);
    site.rank = static_cast<std::uint32_t>(std::ranges::find(members, rank) - members.begin());
    site.send_counts = std::move(counts.sent);
    site.recv_counts = std::move(counts.received);
    choose_algorithm(r, traced, ordinal, site);
    return site;
}

/// The root that a call names; negative if it has none.
std::int32_t RankConverter::root_of(const TraceRecord& r, std::size_t size) const {
    const std::int32_t root = r.pair(1).first;
    if (root >= 0 && static_cast<std::size_t>(root) >= size) {
        fail(r, "has root " + std::to_string(root) + " on a communicator of " + std::to_string(size) + " ranks");
    }
    return root;
}

/// A size, after a check.
std::uint64_t RankConverter::size_of(const TraceRecord& r, std::int64_t bytes) const {
    constexpr std::int64_t largest = std::int64_t{1} << 50;
    if (bytes < 0 || bytes > largest) {
        fail(r, "expected sizes from 0 to 2^50 bytes");
    }
    return static_cast<std::uint64_t>(bytes);
}

/// The lists of a call, of `size` counts each; empty if the call has none.
RankConverter::Counts RankConverter::counts_of(const TraceRecord& r, std::size_t sizes_at, std::size_t size) const {
    std::size_t next = sizes_at + 2;
    const auto take = [&](bool present) {
        std::vector<std::uint64_t> counts;
        if (!present) {
            return counts;
        }
        if (r.words.size() < next + size) {
            fail(r, "expected a list of " + std::to_string(size) + " sizes");
        }
        for (; counts.size() < size; ++next) {
            counts.push_back(size_of(r, r.number(next)));
        }
        return counts;
    };
    std::vector<std::uint64_t> sent = take((r.info & 2) != 0);
    return {std::move(sent), take((r.info & 1) != 0)};
}

void RankConverter::choose_algorithm(const TraceRecord& r, TracedCollective traced, std::uint32_t ordinal,
                                     collectives::CollectiveSite& site) {
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
    if (chosen == options_.algorithms.end() && options_.rules.has(operation)) {
        site.rules_used = use_of_rules(traced);
    }
    site.tag = ordinal == 0 ? Tags::of_collectives(site.communicator) : tags_.of_persistent(site.communicator, ordinal);
    const auto next = static_cast<std::uint32_t>(thread_->counters.size());
    if (cut_in_search_ != nullptr) {
        cut_in_search_->begun(trace_.header().rank, call_, site.communicator, ordinal);
    }
    site.by_others = count_collective(site.communicator, ordinal);
    site.counter = thread_->counters.try_emplace({site.communicator, ordinal}, next).first->second;
    thread_->program.counters = static_cast<std::uint32_t>(thread_->counters.size());
}

}  // namespace idlewave::trace
