#include "trace/rank_converter.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace idlewave::trace {
namespace {

constexpr std::int32_t any_source = -1;
constexpr std::int32_t proc_null = -2;
constexpr std::int32_t not_known = -3;

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
    std::int64_t left_mpi = trace_.header().init_end;
    std::int64_t excluded = 0;  // time in unsuccessful tests and in the tracer since then, which is no computation
    for (const TraceRecord& r : trace_.records()) {
        if (r.call == Call::init) {
            left_mpi = std::max(left_mpi, r.end);
            continue;
        }
        if (r.call == Call::polls) {
            if (r.number(1) < 0 || r.number(1) > r.end - r.begin) {
                fail(r, "expected a time inside the calls from 0 to " + std::to_string(r.end - r.begin) +
                            " ns, found " + std::to_string(r.number(1)));
            }
            excluded += r.number(1);
            continue;
        }
        if (r.call == Call::tracer) {
            excluded += r.end - r.begin;
            continue;
        }
        if (r.begin < left_mpi) {
            fail(r, "overlaps the call before it: calls of several threads at a time have no order to simulate");
        }
        const std::int64_t computed = r.begin - left_mpi - excluded;
        compute(computed);
        cache_use_.compute(std::max<std::int64_t>(computed, 0));
        excluded = 0;
        left_mpi = r.end;
        record(r);
    }
    return std::move(program_);
}

void RankConverter::record(const TraceRecord& r) {
    switch (r.call) {
        case Call::send:
        case Call::bsend:
        case Call::ssend:
        case Call::rsend:
            wait_for({message(r, false, r.words[0], r.pair(1), r.number(2))});
            break;
        case Call::isend:
        case Call::ibsend:
        case Call::issend:
        case Call::irsend:
            nonblocking(r, false, r.words[0], r.pair(1), r.number(2), r.words[3]);
            break;
        case Call::recv: {
            const Pair peer_tag = r.pair(1).first == proc_null ? r.pair(1) : r.pair(3);
            receive(r, r.words[0], peer_tag, r.number(4) >= 0 ? r.number(4) : r.number(2));
            break;
        }
        case Call::irecv:
            nonblocking(r, true, r.words[0], r.pair(1), r.number(2), r.words[3]);
            break;
        case Call::sendrecv:
            sendrecv(r);
            break;
        case Call::send_init:
        case Call::recv_init:
        case Call::mprobe:
            persistent(r);
            break;
        case Call::start:
            start(r);
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
    using Kind = collectives::Instruction::Kind;
    auto& instructions = program_.instructions;
    if (ns == 0) {
        return;
    }
    if (!instructions.empty() && instructions.back().kind == Kind::calc) {
        instructions.back().size += static_cast<std::uint64_t>(ns);
    } else {
        instructions.push_back({.kind = Kind::calc, .size = static_cast<std::uint64_t>(ns)});
    }
}

/// Adds a send or receive. Returns its slot, or no_slot for MPI_PROC_NULL.
std::uint32_t RankConverter::message(const TraceRecord& r, bool receive, std::uint64_t communicator, Pair peer_tag,
                                     std::int64_t bytes) {
    if (peer_tag.first == proc_null) {
        return collectives::no_slot;
    }
    constexpr std::int64_t largest = std::int64_t{1} << 50;
    if (bytes < 0 || bytes > largest) {
        fail(r, "expected a size from 0 to 2^50 bytes, found " + std::to_string(bytes));
    }
    collectives::Instruction instruction{.kind = receive ? collectives::Instruction::Kind::recv
                                                         : collectives::Instruction::Kind::send};
    instruction.peer = peer_of(r, communicator, peer_tag.first);
    if (!receive && instruction.peer == goal::any) {
        fail(r, "sends to no rank");
    }
    instruction.tag = tag_of(communicator, peer_tag.second);
    instruction.size = static_cast<std::uint64_t>(bytes);
    instruction.slot = new_slot();
    compute_in_cold_caches(cache_use_.call() + (receive ? 0 : use_buffer(instruction, instruction.size)));
    program_.instructions.push_back(instruction);
    return instruction.slot;
}

/// A blocking receive: its buffer is used once it is posted, while the rank may wait for the message.
void RankConverter::receive(const TraceRecord& r, std::uint64_t communicator, Pair peer_tag, std::int64_t bytes) {
    const std::uint32_t slot = message(r, true, communicator, peer_tag, bytes);
    if (slot != collectives::no_slot) {
        compute_in_cold_caches(use_buffer(program_.instructions.back(), static_cast<std::uint64_t>(bytes)));
    }
    wait_for({slot});
}

void RankConverter::nonblocking(const TraceRecord& r, bool receive, std::uint64_t communicator, Pair peer_tag,
                                std::int64_t bytes, std::uint64_t request) {
    const std::uint32_t slot = message(r, receive, communicator, peer_tag, bytes);
    pending_[request].push_back({.slot = slot,
                                 .instruction = static_cast<std::uint32_t>(program_.instructions.size() - 1),
                                 .communicator = communicator,
                                 .receive = receive && slot != collectives::no_slot});
}

void RankConverter::sendrecv(const TraceRecord& r) {
    const Pair from = r.pair(3).first == proc_null ? r.pair(3) : r.pair(5);
    const std::int64_t received = r.number(6) >= 0 ? r.number(6) : r.number(4);
    const std::uint32_t receive_slot = message(r, true, r.words[0], from, received);
    const std::size_t at = program_.instructions.size() - 1;
    const std::uint32_t send_slot = message(r, false, r.words[0], r.pair(1), r.number(2));
    if (receive_slot != collectives::no_slot) {
        compute_in_cold_caches(use_buffer(program_.instructions[at], static_cast<std::uint64_t>(received)));
    }
    wait_for({receive_slot, send_slot});
}

void RankConverter::persistent(const TraceRecord& r) {
    if (r.call == Call::mprobe) {
        probed_[r.words[4]] = {r.words[0], r.pair(2), r.words[3], true};
    } else {
        persistent_[r.words[3]] = {r.words[0], r.pair(1), r.words[2], r.call == Call::recv_init};
    }
}

void RankConverter::start(const TraceRecord& r) {
    const auto found = persistent_.find(r.words[0]);
    if (found == persistent_.end()) {
        fail(r, "starts a request that was not made before");
    }
    const Template& t = found->second;
    nonblocking(r, t.receive, t.communicator, t.peer_tag, static_cast<std::int64_t>(t.bytes), r.words[0]);
}

void RankConverter::matched_receive(const TraceRecord& r) {
    const auto found = probed_.find(r.words[0]);
    if (found == probed_.end()) {
        fail(r, "receives a message that no MPI_Mprobe found before");
    }
    const Template t = found->second;
    probed_.erase(found);
    if (r.call == Call::imrecv) {
        nonblocking(r, true, t.communicator, t.peer_tag, static_cast<std::int64_t>(t.bytes), r.words[1]);
    } else {
        receive(r, t.communicator, t.peer_tag, static_cast<std::int64_t>(t.bytes));
    }
}

void RankConverter::cancel(const TraceRecord& r) {
    if (const auto found = pending_.find(r.words[0]); found != pending_.end()) {
        found->second.back().cancelled = true;
    }
}

/// The op continues, but no call waits for it; its slot stays in use.
void RankConverter::free_request(const TraceRecord& r) {
    if (const auto found = pending_.find(r.words[0]); found != pending_.end()) {
        found->second.pop_back();
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
    std::vector<std::uint32_t> slots;
    for (std::size_t i = 0; i < r.words.size(); i += 3) {
        const auto found = pending_.find(r.words[i]);
        if (found == pending_.end()) {
            continue;  // started by a call that is not recorded
        }
        const Pending pending = found->second.front();
        found->second.pop_front();
        if (found->second.empty()) {
            pending_.erase(found);
        }
        if (pending.slot == collectives::no_slot) {
            continue;
        }
        const Pair received = r.pair(i + 1);
        if (pending.receive && pending.cancelled && received.first == not_known) {
            program_.instructions[pending.instruction] = {.kind = collectives::Instruction::Kind::wait};
            continue;
        }
        if (pending.receive && received.first >= 0) {
            resolve(r, pending, received);
        }
        if (pending.receive) {
            const collectives::Instruction& instruction = program_.instructions[pending.instruction];
            const std::int64_t bytes = r.number(i + 2);
            compute_in_cold_caches(
                use_buffer(instruction, bytes < 0 ? instruction.size : static_cast<std::uint64_t>(bytes)));
        }
        slots.push_back(pending.slot);
    }
    wait_for(slots);
}

/// Replaces the wildcards of a receive by the source and tag of the message that it received.
void RankConverter::resolve(const TraceRecord& r, const Pending& pending, Pair received) {
    collectives::Instruction& instruction = program_.instructions[pending.instruction];
    if (instruction.peer == goal::any) {
        instruction.peer = peer_of(r, pending.communicator, received.first);
    }
    if (instruction.tag == goal::any && received.second >= 0) {
        instruction.tag = tag_of(pending.communicator, received.second);
    }
}

void RankConverter::wait_for(const std::vector<std::uint32_t>& slots) {
    collectives::Instruction instruction{.kind = collectives::Instruction::Kind::wait,
                                         .begin = static_cast<std::uint32_t>(program_.slot_lists.size())};
    for (const std::uint32_t slot : slots) {
        if (slot != collectives::no_slot) {
            program_.slot_lists.push_back(slot);
            unused_slots_.push_back(slot);
        }
    }
    instruction.count = static_cast<std::uint32_t>(program_.slot_lists.size()) - instruction.begin;
    if (instruction.count > 0) {
        program_.instructions.push_back(instruction);
    }
}

const Communicators::Group& RankConverter::communicator_of(const TraceRecord& r, std::uint64_t communicator) const {
    const Communicators::Group* found = communicators_.find(communicator, trace_.header().rank);
    if (found == nullptr) {
        fail(r, "is on a communicator that no rank has defined");
    }
    return *found;
}

std::uint32_t RankConverter::peer_of(const TraceRecord& r, std::uint64_t communicator, std::int32_t peer) const {
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

std::uint32_t RankConverter::tag_of(std::uint64_t communicator, std::int32_t tag) {
    if (tag < 0) {
        return goal::any;
    }
    const bool world = communicator == Communicators::world_id;
    const std::uint32_t index = world ? 0 : communicators_.use(communicator, trace_.header().rank);
    return tags_.message(index, static_cast<std::uint32_t>(tag), world);
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
    const auto& records = trace_.records();
    throw InputError(trace_.name() + ": rank " + std::to_string(trace_.header().rank) + ", call " +
                     std::to_string(&r - records.data() + 1) + " of " + std::to_string(records.size()) + " (" +
                     call_name(r.call) + ") " + what);
}

}  // namespace idlewave::trace
