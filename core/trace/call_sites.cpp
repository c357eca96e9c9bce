#include "trace/call_sites.hpp"

#include <algorithm>
#include <bit>

#include "base/random.hpp"
#include "trace/communicators.hpp"

namespace idlewave::trace {
namespace {

constexpr std::uint32_t world_number = 1;
constexpr std::uint32_t self_number = 2;
constexpr std::uint32_t unknown_number = 0xffff;
constexpr std::uint32_t first_number = 3;

std::uint64_t word_of(const CallKind& kind) {
    return static_cast<std::uint64_t>(kind.call) | std::uint64_t{kind.size_class} << 16 |
           std::uint64_t{kind.communicator} << 32;
}

/// Messages between two ranks, and persistent ones: their first word is the communicator, their third a size.
bool has_message(Call call) {
    return (call >= Call::send && call <= Call::psend_init) || call == Call::recv || call == Call::irecv ||
           call == Call::recv_init || call == Call::precv_init || call == Call::sendrecv || call == Call::isendrecv;
}

bool has_communicator(Call call) {
    return has_message(call) || call == Call::probe || call == Call::mprobe || is_collective(call) ||
           is_nonblocking_collective(call) || is_collective_init(call);
}

/// The word with the handle of a persistent request in the record that makes it; none of other records.
std::optional<std::size_t> made_request(Call call) {
    if (is_collective_init(call)) {
        return 2;
    }
    const bool message =
        call == Call::send_init || call == Call::psend_init || call == Call::recv_init || call == Call::precv_init;
    return message ? std::optional<std::size_t>(3) : std::nullopt;
}

std::int64_t bytes_of(const TraceRecord& r) {
    if (is_nonblocking_collective(r.call) || is_collective_init(r.call)) {
        return r.number(3);
    }
    const bool third =
        has_message(r.call) || is_collective(r.call) || r.call == Call::one_sided || r.call == Call::file;
    return third ? r.number(2) : 0;
}

}  // namespace

std::uint64_t CallSite::id() const {
    const std::uint64_t phase = level ? std::uint64_t{1} << 32 | static_cast<std::uint32_t>(*level) : 0;
    const std::uint64_t sequence = philox({word_of(calls[0]), word_of(calls[1]), word_of(calls[2]), word_of(calls[3])},
                                          {word_of(calls[4]), word_of(calls[5])})[0];
    return philox({sequence, phase, 0, 0}, {})[0] >> 24;
}

bool CallSites::has_site(Call call) {
    switch (call) {
        case Call::init:
        case Call::polls:
        case Call::tracer:
        case Call::core_wait:
        case Call::cart:
        case Call::neighbors:
            return false;
        default:
            return true;
    }
}

const CallSite& CallSites::next(const TraceRecord& r) {
    const Persistent arguments = arguments_of(r);
    bytes_ = arguments.bytes;
    const auto size_class = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes_, 0)));
    if (r.thread >= last_calls_.size()) {
        last_calls_.resize(std::size_t{r.thread} + 1);
    }
    auto& calls = last_calls_[r.thread];
    std::ranges::copy_backward(calls.begin(), calls.end() - 1, calls.end());
    calls.front() = {r.call, arguments.communicator, static_cast<std::uint32_t>(size_class)};
    site_.calls = calls;
    site_.level = level_;
    note(r);
    return site_;
}

CallSites::Persistent CallSites::arguments_of(const TraceRecord& r) const {
    if (r.call == Call::start) {
        const auto found = persistent_.find(r.words[0]);
        return found == persistent_.end() ? Persistent{} : found->second;
    }
    return {has_communicator(r.call) ? number_of(r.words[0]) : 0, bytes_of(r)};
}

/// What a call changes for the calls after it.
void CallSites::note(const TraceRecord& r) {
    if (r.call == Call::pcontrol) {
        level_ = static_cast<std::int32_t>(r.number(0));
    } else if (r.call == Call::comm_def) {
        define(r.words[0]);
    } else if (r.call == Call::comm_free) {
        free(r.words[0]);
    } else if (r.call == Call::request_free) {
        persistent_.erase(r.words[0]);
    } else if (const std::optional<std::size_t> request = made_request(r.call)) {
        persistent_[r.words[*request]] = arguments_of(r);
    }
}

std::uint32_t CallSites::number_of(std::uint64_t communicator) const {
    if (communicator == Communicators::world_id) {
        return world_number;
    }
    if (communicator == Communicators::self_id) {
        return self_number;
    }
    const auto found = numbers_.find(communicator);
    return found == numbers_.end() ? unknown_number : found->second;
}

void CallSites::define(std::uint64_t communicator) {
    if (communicator == 0 || numbers_.contains(communicator)) {  // MPI_COMM_NULL: the rank is no member
        return;
    }
    if (free_numbers_.empty()) {
        free_numbers_.insert(first_number + static_cast<std::uint32_t>(numbers_.size()));
    }
    numbers_[communicator] = *free_numbers_.begin();
    free_numbers_.erase(free_numbers_.begin());
}

void CallSites::free(std::uint64_t communicator) {
    const auto found = numbers_.find(communicator);
    if (found != numbers_.end()) {
        free_numbers_.insert(found->second);
        numbers_.erase(found);
    }
}

}  // namespace idlewave::trace
