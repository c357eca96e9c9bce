#include "trace/rank_converter.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace idlewave::trace {
namespace {

/// The text in a record's words, eight characters to a word.
std::string text_of(const TraceRecord& r) {
    std::string text;
    for (const std::uint64_t word : r.words.first(std::min<std::size_t>(r.words.size(), 8))) {
        for (unsigned byte = 0; byte < 8; ++byte) {
            const char c = static_cast<char>(word >> (8 * byte) & 0xff);
            text += c == '_' || (c >= '0' && c <= 'z') ? std::string(1, c) : std::string();
        }
    }
    return text;
}

}  // namespace

collectives::RankProgram RankConverter::convert(std::int64_t offset) {
    compute(offset);
    left_mpi_ = trace_.header().init_end;
    trace_.each([this](const TraceRecord& r) {
        ++call_;
        call(r);
    });
    program_.instructions.fold();
    return std::move(program_);
}

/// Converts a call, and the computation since the one before.
void RankConverter::call(const TraceRecord& r) {
    if (r.call == Call::init) {
        left_mpi_ = std::max(left_mpi_, r.end);
        return;
    }
    if (r.call == Call::polls) {
        if (r.number(1) < 0 || r.number(1) > r.end - r.begin) {
            fail(r, "expected a time inside the calls from 0 to " + std::to_string(r.end - r.begin) + " ns, found " +
                        std::to_string(r.number(1)));
        }
        excluded_ += r.number(1);
        return;
    }
    if (r.call == Call::tracer) {
        excluded_ += r.end - r.begin;
        return;
    }
    if (r.begin < left_mpi_) {
        fail(r, "overlaps the call before it: calls of several threads at a time have no order to simulate");
    }
    const std::int64_t computed = r.begin - left_mpi_ - std::exchange(excluded_, 0);
    compute(computed);
    cache_use_.compute(std::max<std::int64_t>(computed, 0));
    left_mpi_ = r.end;
    record(r);
}

void RankConverter::record(const TraceRecord& r) {
    switch (r.call) {
        case Call::send:
        case Call::bsend:
        case Call::ssend:
        case Call::rsend:
            message(r, {.communicator = r.words[0], .peer_tag = r.pair(1), .bytes = r.number(2)}, true);
            break;
        case Call::isend:
        case Call::ibsend:
        case Call::issend:
        case Call::irsend:
        case Call::irecv:
            nonblocking(r,
                        {.receive = r.call == Call::irecv,
                         .communicator = r.words[0],
                         .peer_tag = r.pair(1),
                         .bytes = r.number(2)},
                        r.words[3]);
            break;
        case Call::recv: {
            const Pair peer_tag = source_and_tag(r.pair(1), r.pair(3));
            const std::int64_t bytes = r.number(4) >= 0 ? r.number(4) : r.number(2);
            receive(r, {.receive = true, .communicator = r.words[0], .peer_tag = peer_tag, .bytes = bytes});
            break;
        }
        case Call::isendrecv:
            isendrecv(r);
            break;
        case Call::sendrecv:
            sendrecv(r);
            break;
        case Call::send_init:
        case Call::recv_init:
        case Call::psend_init:
        case Call::precv_init:
        case Call::mprobe:
            persistent(r);
            break;
        case Call::start:
            start(r);
            break;
        case Call::pready:
            partitions_ready(r);
            break;
        case Call::parrived:
            partition_arrived(r);
            break;
        case Call::mrecv:
        case Call::imrecv:
            matched_receive(r);
            break;
        case Call::cancel:
            cancel(r);
            break;
        case Call::request_free:
            free_request(r);
            break;
        case Call::wait:
        case Call::waitall:
        case Call::waitany:
        case Call::waitsome:
        case Call::test:
        case Call::testall:
        case Call::testany:
        case Call::testsome:
            complete(r);
            break;
        case Call::unmodelled:
            fail(r, "communicates (" + text_of(r) + "), and what it sends is not recorded");
        case Call::tracer:
        case Call::end_of_file:
        case Call::init:
        case Call::finalize:
        case Call::abort:
        case Call::polls:
        case Call::comm_def:
        case Call::comm_free:
        case Call::cart:
        case Call::neighbors:
        case Call::probe:
            break;  // no messages of their own; the wait of a probe becomes the wait of the receive that follows
        default:
            collective(r);
    }
}

void RankConverter::compute(std::int64_t ns) {
    if (ns <= 0) {
        return;
    }
    program_.instructions.push_back(
        {.kind = collectives::Instruction::Kind::calc, .size = static_cast<std::uint64_t>(ns)});
}

/// The extra time, in ns, of a message of `bytes` bytes from or into its buffer, in cold caches.
std::int64_t RankConverter::use_buffer(const collectives::Instruction& message, std::uint64_t bytes) {
    const bool receive = message.kind == collectives::Instruction::Kind::recv;
    return cache_use_.use({receive ? CacheUse::Kind::received : CacheUse::Kind::sent, message.peer, message.tag},
                          {bytes});
}

/// Adds the extra time of cold caches, in ns, to the computation at this place of the program.
void RankConverter::compute_in_cold_caches(std::int64_t ns) {
    if (ns != 0) {
        program_.instructions.extend_calc(static_cast<std::uint64_t>(ns));
    }
}

/// Adds a send or receive. Returns its slot, or no_slot if it is `blocking` or for MPI_PROC_NULL.
std::uint32_t RankConverter::message(const TraceRecord& r, const Message& m, bool blocking) {
    if (m.peer_tag.first == proc_null) {
        return collectives::no_slot;
    }
    communicator_of(r, m.communicator);  // it must be defined, also where the source is not named
    constexpr std::int64_t largest = std::int64_t{1} << 50;
    if (m.bytes < 0 || m.bytes > largest) {
        fail(r, "expected a size from 0 to 2^50 bytes, found " + std::to_string(m.bytes));
    }
    collectives::Instruction instruction{.kind = m.receive ? collectives::Instruction::Kind::recv
                                                           : collectives::Instruction::Kind::send};
    instruction.peer = peer_of(r, m.communicator, m.peer_tag.first);
    if (!m.receive && instruction.peer == goal::any) {
        fail(r, "sends to no rank");
    }
    instruction.tag = tag_of(m.communicator, m.peer_tag.second, m.context);
    instruction.size = static_cast<std::uint64_t>(m.bytes);
    instruction.blocking = blocking;
    instruction.slot = blocking ? collectives::no_slot : new_slot();
    compute_in_cold_caches(cache_use_.call() + (m.receive ? 0 : use_buffer(instruction, instruction.size)));
    program_.instructions.push_back(instruction);
    return instruction.slot;
}

/// A blocking receive. If its buffer may be cold, it is used once it is posted, while the rank may wait for the
/// message.
void RankConverter::receive(const TraceRecord& r, const Message& m) {
    if (options_.cold_caches.buffers.empty()) {
        message(r, m, true);
        return;
    }
    const std::uint32_t slot = message(r, m);
    if (slot != collectives::no_slot) {
        compute_in_cold_caches(use_buffer(program_.instructions.at_word(program_.instructions.last_word()),
                                          static_cast<std::uint64_t>(m.bytes)));
    }
    wait_for(std::array{slot});
}

void RankConverter::nonblocking(const TraceRecord& r, const Message& m, std::uint64_t request) {
    if (m.receive) {
        count_wildcard(m.peer_tag);
    }
    const std::uint32_t slot = message(r, m);
    pending_[request].requests.push_back({.slot = slot,
                                          .instruction = program_.instructions.last_word(),
                                          .communicator = m.communicator,
                                          .receive = m.receive && slot != collectives::no_slot});
}

void RankConverter::sendrecv(const TraceRecord& r) {
    const Pair from = source_and_tag(r.pair(3), r.pair(5));
    const std::int64_t received = r.number(6) >= 0 ? r.number(6) : r.number(4);
    const std::uint32_t receive_slot =
        message(r, {.receive = true, .communicator = r.words[0], .peer_tag = from, .bytes = received});
    const std::uint32_t at = program_.instructions.last_word();
    const std::uint32_t send_slot =
        message(r, {.communicator = r.words[0], .peer_tag = r.pair(1), .bytes = r.number(2)});
    if (receive_slot != collectives::no_slot) {
        compute_in_cold_caches(use_buffer(program_.instructions.at_word(at), static_cast<std::uint64_t>(received)));
    }
    wait_for(std::array{receive_slot, send_slot});
}

void RankConverter::isendrecv(const TraceRecord& r) {
    nonblocking(r, {.receive = true, .communicator = r.words[0], .peer_tag = r.pair(3), .bytes = r.number(4)},
                r.words[5]);
    const std::uint32_t send_slot =
        message(r, {.communicator = r.words[0], .peer_tag = r.pair(1), .bytes = r.number(2)});
    pending_[r.words[5]].requests.back().more_slots.push_back(send_slot);
}

void RankConverter::persistent(const TraceRecord& r) {
    if (r.call == Call::mprobe) {
        probed_[r.words[4]] = {
            .receive = true, .communicator = r.words[0], .peer_tag = r.pair(2), .bytes = r.number(3)};
        return;
    }
    const bool partitioned = r.call == Call::psend_init || r.call == Call::precv_init;
    const bool receive = r.call == Call::recv_init || r.call == Call::precv_init;
    Message made{.receive = receive, .communicator = r.words[0], .peer_tag = r.pair(1), .bytes = r.number(2)};
    if (partitioned) {  // those with the same peer and tag match in the order in which they are made (MPI 4.1, 4.2)
        const std::uint32_t channel = ++partitioned_made_[{r.words[0], r.words[1], receive}];
        made.context = {Tags::Context::Space::partitioned, channel};
        made.partitions = r.number(4);
    }
    persistent_[r.words[3]] = made;
}

void RankConverter::start(const TraceRecord& r) {
    const std::uint64_t request = r.words[0];
    if (const auto made = persistent_collectives_.find(request); made != persistent_collectives_.end()) {
        const CollectiveInit& init = made->second;
        collective({.call = init.call, .info = init.info, .begin = r.begin, .end = r.end, .words = init.words},
                   init.number);
        return;
    }
    const auto found = persistent_.find(request);
    if (found == persistent_.end()) {
        fail(r, "starts a request that was not made before");
    }
    const Message& m = found->second;
    if (m.partitions > 0 && !m.receive) {
        pending_[request].requests.emplace_back();
    } else {
        nonblocking(r, m, request);
    }
    if (m.partitions > 0) {
        partitions_[request] = {.left = m.partitions};
    }
}

/// A partitioned message is sent as a whole when its last partition is ready.
void RankConverter::partitions_ready(const TraceRecord& r) {
    const auto found = pending_.find(r.words[0]);
    const auto made = persistent_.find(r.words[0]);
    if (found == pending_.end() || made == persistent_.end() || found->second.empty()) {
        fail(r, "is for a request that was not started");
    }
    std::int64_t& left = partitions_[r.words[0]].left;
    if (r.number(1) < 0 || r.number(1) > left) {
        fail(r, "makes " + std::to_string(r.number(1)) + " partitions ready, of which " + std::to_string(left) +
                    " are left");
    }
    left -= r.number(1);
    if (left == 0 && r.number(1) > 0) {
        found->second.requests.back().slot = message(r, made->second);
    }
}

/// Once all partitions were seen to have arrived, the rank has waited for the message.
void RankConverter::partition_arrived(const TraceRecord& r) {
    const auto found = pending_.find(r.words[0]);
    if (found == pending_.end() || found->second.empty()) {
        return;  // it is inactive
    }
    Partitions& partitions = partitions_[r.words[0]];
    if (partitions.left == 0 || !partitions.arrived.insert(r.number(1)).second) {
        return;
    }
    --partitions.left;
    if (partitions.left == 0) {
        wait_for(std::array{std::exchange(found->second.requests.back().slot, collectives::no_slot)});
    }
}

void RankConverter::matched_receive(const TraceRecord& r) {
    const auto found = probed_.find(r.words[0]);
    if (found == probed_.end()) {
        fail(r, "receives a message that no MPI_Mprobe found before");
    }
    const Message m = found->second;
    probed_.erase(found);
    if (r.call == Call::imrecv) {
        nonblocking(r, m, r.words[1]);
    } else {
        receive(r, m);
    }
}

void RankConverter::cancel(const TraceRecord& r) {
    if (const auto found = pending_.find(r.words[0]); found != pending_.end()) {
        found->second.requests.back().cancelled = true;
    }
}

/// The op continues, but no call waits for it; its slot stays in use. The handle may be that of another request later.
void RankConverter::free_request(const TraceRecord& r) {
    persistent_.erase(r.words[0]);
    persistent_collectives_.erase(r.words[0]);
    if (const auto found = pending_.find(r.words[0]); found != pending_.end()) {
        found->second.requests.pop_back();
        if (found->second.empty()) {
            pending_.erase(found);
        }
    }
}

/// Converts a wait or a successful test to a wait for the requests that completed.
void RankConverter::complete(const TraceRecord& r) {
    if (r.words.size() % 3 != 0) {
        fail(r, "expected three words for each request that completed");
    }
    completed_.clear();
    for (std::size_t i = 0; i < r.words.size(); i += 3) {
        const auto found = pending_.find(r.words[i]);
        if (found == pending_.end()) {
            continue;  // started by a call that is not recorded
        }
        const Pending pending = found->second.take();
        if (found->second.empty()) {
            pending_.erase(found);
        }
        completed_.insert(completed_.end(), pending.more_slots.begin(), pending.more_slots.end());
        if (pending.slot == collectives::no_slot) {
            continue;
        }
        const Pair received = r.pair(i + 1);
        if (pending.receive && pending.cancelled && received.first == not_known) {
            program_.instructions.replace_word(pending.instruction, {.kind = collectives::Instruction::Kind::wait});
            continue;
        }
        if (pending.receive && received.first >= 0) {
            resolve(r, pending, received);
        }
        if (pending.receive && program_.instructions.at_word(pending.instruction).tag == goal::any) {
            fail(r, "completes a receive that names no tag, and the tag of its message is not known");
        }
        if (pending.receive) {
            const collectives::Instruction& instruction = program_.instructions.at_word(pending.instruction);
            const std::int64_t bytes = r.number(i + 2);
            compute_in_cold_caches(
                use_buffer(instruction, bytes < 0 ? instruction.size : static_cast<std::uint64_t>(bytes)));
        }
        completed_.push_back(pending.slot);
    }
    wait_for(completed_);
}

void RankConverter::count_wildcard(Pair called) {
    wildcards_ += called.first == any_source ? 1 : 0;
}

/// Of the message that a blocking receive takes.
Pair RankConverter::source_and_tag(Pair called, Pair received) {
    count_wildcard(called);
    if (called.first == proc_null) {
        return called;
    }
    return {called.first == any_source && !options_.resolve_wildcards ? any_source : received.first, received.second};
}

/// Replaces the wildcards of a receive by the source and tag of the message that it received.
void RankConverter::resolve(const TraceRecord& r, const Pending& pending, Pair received) {
    collectives::Instruction instruction = program_.instructions.at_word(pending.instruction);
    if (instruction.peer == goal::any && options_.resolve_wildcards) {
        instruction.peer = peer_of(r, pending.communicator, received.first);
    }
    if (instruction.tag == goal::any && received.second >= 0) {
        instruction.tag = tag_of(pending.communicator, received.second, {});
    }
    program_.instructions.replace_word(pending.instruction, instruction);
}

/// A rank that waits for the message that it has just begun, and for nothing else, blocks. Returns whether it does.
bool RankConverter::make_blocking(std::uint32_t slot) {
    collectives::Instructions& instructions = program_.instructions;
    if (slot == collectives::no_slot || instructions.ends_with_calc()) {
        return false;
    }
    collectives::Instruction last = instructions.at_word(instructions.last_word());
    const bool message =
        last.kind == collectives::Instruction::Kind::send || last.kind == collectives::Instruction::Kind::recv;
    if (!message || last.slot != slot) {
        return false;
    }
    last.blocking = true;
    last.slot = collectives::no_slot;
    instructions.replace_word(instructions.last_word(), last);
    unused_slots_.push_back(slot);
    return true;
}

void RankConverter::wait_for(std::span<const std::uint32_t> slots) {
    if (slots.size() == 1 && make_blocking(slots.front())) {
        return;
    }
    awaited_.clear();
    std::ranges::copy_if(slots, std::back_inserter(awaited_),
                         [](std::uint32_t s) { return s != collectives::no_slot; });
    if (awaited_.empty()) {
        return;
    }
    unused_slots_.insert(unused_slots_.end(), awaited_.begin(), awaited_.end());
    program_.instructions.push_back({.kind = collectives::Instruction::Kind::wait,
                                     .begin = begin_of(awaited_),
                                     .count = static_cast<std::uint32_t>(awaited_.size())});
}

/// Where a list of slots begins among the different ones of the rank.
std::uint32_t RankConverter::begin_of(std::span<const std::uint32_t> slots) {
    std::vector<std::uint32_t>& lists = program_.slot_lists;
    std::size_t hash = slots.size();
    for (const std::uint32_t slot : slots) {
        hash = (hash ^ slot) * 0x9e3779b97f4a7c15;  // of Fibonacci hashing
    }
    const auto [first, last] = known_slot_lists_.equal_range(hash);
    const auto found = std::find_if(first, last, [&](const auto& known) {
        const std::span<const std::uint32_t> list = std::span(lists).subspan(known.second);
        return list.size() >= slots.size() && std::ranges::equal(list.first(slots.size()), slots);
    });
    if (found != last) {
        return found->second;
    }
    const auto begin = static_cast<std::uint32_t>(lists.size());
    known_slot_lists_.emplace(hash, begin);
    lists.insert(lists.end(), slots.begin(), slots.end());
    return begin;
}

const Communicators::Group& RankConverter::communicator_of(const TraceRecord& r, std::uint64_t communicator) {
    if (last_group_ == nullptr || last_id_ != communicator) {
        last_group_ = communicators_.find(communicator, trace_.header().rank);
        last_id_ = communicator;
    }
    if (last_group_ == nullptr) {
        fail(r, "is on a communicator that no rank has defined");
    }
    return *last_group_;
}

std::uint32_t RankConverter::peer_of(const TraceRecord& r, std::uint64_t communicator, std::int32_t peer) {
    if (peer == any_source || peer == not_known) {
        return goal::any;
    }
    const auto& members = communicator_of(r, communicator).members;
    if (peer < 0 || static_cast<std::size_t>(peer) >= members.size()) {
        fail(r,
             "has peer " + std::to_string(peer) + " on a communicator of " + std::to_string(members.size()) + " ranks");
    }
    return members[static_cast<std::size_t>(peer)];
}

std::uint32_t RankConverter::tag_of(std::uint64_t communicator, std::int32_t tag, Tags::Context context) {
    if (tag < 0) {
        return goal::any;
    }
    const bool world = communicator == Communicators::world_id;
    const std::uint32_t index = world ? 0 : communicators_.use(communicator, trace_.header().rank);
    return tags_.message(index, static_cast<std::uint32_t>(tag), world, context);
}

std::uint32_t RankConverter::new_slot() {
    if (unused_slots_.empty()) {
        return program_.slots++;
    }
    const std::uint32_t slot = unused_slots_.back();
    unused_slots_.pop_back();
    return slot;
}

void RankConverter::fail(const TraceRecord& r, const std::string& what) const {
    throw InputError(trace_.name() + ": rank " + std::to_string(trace_.header().rank) + ", call " +
                     std::to_string(call_) + " of " + std::to_string(trace_.size()) + " (" + call_name(r.call) + ") " +
                     what);
}

}  // namespace idlewave::trace
