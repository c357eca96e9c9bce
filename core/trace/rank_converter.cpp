#include "trace/rank_converter.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

std::vector<collectives::RankProgram> RankConverter::convert(const RankBegin& begin) {
    compute(begin.offset);
    const std::uint64_t left_out = found_cut_ == nullptr ? 0 : found_cut_->begin(trace_.header().rank);
    const std::uint64_t calls = found_cut_ == nullptr ? trace_.calls() : found_cut_->records(trace_.header().rank);
    trace_.each([&](const TraceRecord& r) {
        if (call_ >= calls) {
            return;
        }
        call_ += r.call == Call::core_wait ? 0 : 1;
        thread_ = &threads_[r.thread];
        call(r);
        if (left_out > 0 && r.call != Call::core_wait && call_ == std::min(left_out, calls)) {
            leave_out_beginning(r, begin);
        }
    });
    leave_out_posted();
    std::vector<collectives::RankProgram> programs;
    for (ThreadConversion& thread : threads_) {
        thread.program.instructions.fold();
        programs.push_back(std::move(thread.program));
    }
    return programs;
}

/// Converts a call, and the computation since the one before.
void RankConverter::call(const TraceRecord& r) {
    const std::optional<std::int64_t> recorded = between_.before(r);
    for (const std::uint32_t number : between_.begun()) {
        begin_thread(number);
    }
    if (r.call == Call::core_wait &&
        !options_.wall_gaps) {  // matters if the time of the call that follows is simulated
        thread_->waited_inside = std::min(thread_->waited_inside + r.number(1), latest);
    }
    if (!recorded) {
        return;
    }
    if (r.call == Call::finalize && threads_.size() > 1) {
        join_threads();
    }
    const bool used = found_cut_ == nullptr || call_ > found_cut_->begin(trace_.header().rank);
    const std::int64_t computed = times_ == nullptr ? *recorded : times_->time(r, *recorded, used);
    compute_between_polls(computed, between_.polls());
    thread_->cache_use.compute(computed);
    thread_->call_begin = r.begin;
    thread_->call_end = r.end;
    record(r);
    thread_->waited_inside = 0;
}

void RankConverter::record(const TraceRecord& r) {
    switch (r.call) {
        case Call::send:
        case Call::bsend:
        case Call::ssend:
        case Call::rsend:
            message(r, sent(r), r.call != Call::bsend);
            break;
        case Call::isend:
        case Call::ibsend:
        case Call::issend:
        case Call::irsend:
            nonblocking(r, sent(r), r.words[3]);
            break;
        case Call::irecv:
            nonblocking(r, {.receive = true, .communicator = r.words[0], .peer_tag = r.pair(1), .bytes = r.number(2)},
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
        default:
            further_call(r);
    }
}

/// The calls of windows and files, those without messages, and collectives.
void RankConverter::further_call(const TraceRecord& r) {
    switch (r.call) {
        case Call::unmodelled: {
            const std::string name = text_of(r);
            const bool dynamic = name.starts_with("MPI_Comm_");
            fail(r, dynamic ? "is " + name +
                                  ": processes that are started or joined while a program runs have no ranks "
                                  "to simulate"
                            : "communicates (" + name + "), and what it sends is not recorded");
        }
        case Call::window:
            make_window(r);
            break;
        case Call::window_free:
            free_window(r);
            break;
        case Call::win_fence: {
            Window& window = window_of(r);
            wait_for_accesses(window, every_rank_of_window);
            synchronise(r, window.communicator, window.ordinal);
            break;
        }
        case Call::one_sided:
        case Call::passive_target:
            one_sided(r);
            break;
        case Call::win_post:
            expose(r);
            break;
        case Call::win_start:
            begin_access(r);
            break;
        case Call::win_complete:
            complete_access(r);
            break;
        case Call::win_wait:
            end_exposure(r);
            break;
        case Call::file_open:
            open_file(r);
            break;
        case Call::file_close:
        case Call::file:
            file_call(r);
            break;
        case Call::tracer:
        case Call::core_wait:
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
        case Call::pcontrol:
            break;  // no messages of their own; the wait of a probe becomes the wait of the receive that follows
        default:
            collective(r);
    }
}

void RankConverter::compute(std::int64_t ns) {
    if (ns <= 0) {
        return;
    }
    thread_->program.instructions.extend_calc(static_cast<std::uint64_t>(ns));
}

/// A poll lets the library answer messages. So a computation with polls becomes several, between which the rank does
/// what its messages need (R14). They are equally long, as a trace has only the number of polls.
void RankConverter::compute_between_polls(std::int64_t ns, std::uint64_t polls) {
    constexpr std::int64_t shortest = 1000;  // ns, about what a message takes: shorter ones would only cost memory
    const auto others = static_cast<std::int64_t>(
        std::min(polls, static_cast<std::uint64_t>(std::max<std::int64_t>(ns / shortest - 1, 0))));
    const std::int64_t each = ns / (others + 1);
    compute(ns - others * each);
    for (std::int64_t i = 0; i < others; ++i) {
        thread_->program.instructions.push_back(
            {.kind = collectives::Instruction::Kind::calc, .size = static_cast<std::uint64_t>(each)});
    }
}

/// The extra time, in ns, of a message of `bytes` bytes from or into its buffer, in cold caches.
std::int64_t RankConverter::use_buffer(const collectives::Instruction& message, std::uint64_t bytes) {
    const bool receive = message.kind == collectives::Instruction::Kind::recv;
    return thread_->cache_use.use(
        {receive ? CacheUse::Kind::received : CacheUse::Kind::sent, message.peer, message.tag}, {bytes});
}

/// Adds the extra time of cold caches, in ns, to the computation at this place of the program.
void RankConverter::compute_in_cold_caches(std::int64_t ns) {
    if (ns != 0) {
        thread_->program.instructions.extend_calc(static_cast<std::uint64_t>(ns));
    }
}

/// Adds a send or receive. Returns the slot to wait for, or no_slot if no call waits for it: it is `blocking` or
/// buffered, is left out, or is for MPI_PROC_NULL.
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
    if (m.mode == SendMode::synchronous) {
        instruction.size |= goal::synchronous_bit;
    }
    use_thread(instruction, m);
    if (left_out(instruction)) {
        return collectives::no_slot;
    }
    instruction.blocking = blocking;
    instruction.slot = blocking ? collectives::no_slot : m.mode == SendMode::buffered ? slot_of_buffered() : new_slot();
    compute_in_cold_caches(thread_->cache_use.call() +
                           (m.receive ? 0 : use_buffer(instruction, static_cast<std::uint64_t>(m.bytes))));
    thread_->program.instructions.push_back(instruction);
    if (m.receive) {
        note_posted(instruction);
    }
    note_thread(instruction, m);
    return m.mode == SendMode::buffered ? collectives::no_slot : instruction.slot;
}

/// The message of a send that is not persistent.
RankConverter::Message RankConverter::sent(const TraceRecord& r) {
    return {.communicator = r.words[0], .peer_tag = r.pair(1), .bytes = r.number(2), .mode = r.send_mode()};
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
        compute_in_cold_caches(
            use_buffer(thread_->program.instructions.at_word(thread_->program.instructions.last_word()),
                       static_cast<std::uint64_t>(m.bytes)));
    }
    wait_for(std::array{slot});
}

void RankConverter::nonblocking(const TraceRecord& r, const Message& m, std::uint64_t request) {
    if (m.receive) {
        count_wildcard(m.peer_tag);
    }
    const std::uint32_t slot = message(r, m);
    pending_[request].requests.push_back({.thread = thread_->number,
                                          .slot = slot,
                                          .instruction = thread_->program.instructions.last_word(),
                                          .communicator = m.communicator,
                                          .receive = m.receive && slot != collectives::no_slot});
}

void RankConverter::sendrecv(const TraceRecord& r) {
    const Pair from = source_and_tag(r.pair(3), r.pair(5));
    const std::int64_t received = r.number(6) >= 0 ? r.number(6) : r.number(4);
    const std::uint32_t receive_slot =
        message(r, {.receive = true, .communicator = r.words[0], .peer_tag = from, .bytes = received});
    const std::uint32_t at = thread_->program.instructions.last_word();
    const std::uint32_t send_slot =
        message(r, {.communicator = r.words[0], .peer_tag = r.pair(1), .bytes = r.number(2)});
    if (receive_slot != collectives::no_slot) {
        compute_in_cold_caches(
            use_buffer(thread_->program.instructions.at_word(at), static_cast<std::uint64_t>(received)));
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

void RankConverter::matched_receive(const TraceRecord& r) {
    const auto [oldest, end] = probed_.equal_range(r.words[0]);
    if (oldest == end) {
        fail(r, "receives a message that no MPI_Mprobe found before");
    }
    const auto own =
        std::find_if(oldest, end, [this](const auto& entry) { return entry.second.thread == thread_->number; });
    const auto found = own == end ? oldest : own;
    const Message m = found->second.message;
    probed_.erase(found);
    if (r.call == Call::imrecv) {
        nonblocking(r, m, r.words[1]);
    } else {
        receive(r, m);
    }
}

void RankConverter::count_wildcard(Pair called) {
    wildcard_receives_ += called.first == any_source ? 1 : 0;
}

/// Of the message that a blocking receive takes.
Pair RankConverter::source_and_tag(Pair called, Pair received) {
    count_wildcard(called);
    unknown_receives_ += called.first == any_source && received.first == not_known ? 1 : 0;
    if (called.first == proc_null) {
        return called;
    }
    return {called.first == any_source && !options_.resolve_wildcards ? any_source : received.first, received.second};
}

const Communicators::Group& RankConverter::communicator_of(const TraceRecord& r, std::uint64_t communicator) {
    if (last_group_ == nullptr || last_id_ != communicator) {
        last_group_ = communicators_.find(communicator, trace_.header().rank);
        last_id_ = communicator;
    }
    if (last_group_ == nullptr) {
        if (cut_in_search_ != nullptr) {  // the rank that was to list its members ended before
            throw CannotBeBeforeCut();
        }
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

std::uint32_t RankConverter::slot_of_buffered() {
    if (!thread_->slot_of_buffered) {
        thread_->slot_of_buffered = new_slot();
    }
    return *thread_->slot_of_buffered;
}

std::uint32_t RankConverter::new_slot() {
    if (thread_->unused_slots.empty()) {
        return thread_->program.slots++;
    }
    const std::uint32_t slot = thread_->unused_slots.back();
    thread_->unused_slots.pop_back();
    return slot;
}

void RankConverter::fail(const TraceRecord& r, const std::string& what) const {
    refuse(trace_, call_, r, what);
}

}  // namespace idlewave::trace
