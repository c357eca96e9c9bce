#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "base/inline_vector.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/rank_schedule.hpp"

namespace idlewave::goal {

/// The position at which a rank has stopped before its end.
struct StopPosition {
    enum class Kind : std::uint8_t {
        ops,          ///< some of its ops have not become ready
        instruction,  ///< at instruction `at` of `of`
        collective,   ///< in a collective operation, which is instruction `at` of `of`
        operation     ///< in operation `at`
    };
    Kind kind = Kind::ops;
    std::uint32_t at = 0;
    std::uint32_t of = 0;
};

/// The cookie of sources that need no more than the op index.
struct NoCookie {};

inline constexpr std::uint32_t no_rank = 0xffffffff;

/// An exchange is a receive and a send as in MPI_Sendrecv: the send is the next op, has the same size, tag, CPU and
/// NIC, and becomes ready when the receive starts. A source that `has_exchanges` hands out both as one ReadyOp: the
/// receive with the destination of the send. `started` is then not called for the receive. Sources with cookies have no
/// exchanges.
template <class Cookie>
struct ExchangeSend {};
template <>
struct ExchangeSend<NoCookie> {
    std::uint32_t send_to = no_rank;
};

/// An op whose requirements are met, and the time at which the last one was met. `cookie` belongs to the source, which
/// gets it back with every notice of the op.
template <class Cookie, class Moment = Time>
struct ReadyOp {
    [[no_unique_address]] Op op = {};
    OpIndex op_index = 0;  ///< in the padding of `op`
    // It stands between op index and cookie. Side by side, these would be read by one load, which stalls on store
    // forwarding: they were just written one by one.
    Moment at = {};
    [[no_unique_address]] Cookie cookie = {};
    [[no_unique_address]] ExchangeSend<Cookie> exchange = {};
};

/// Ops that have just become ready.
template <class Cookie, class Moment = Time>
using ReadyOps = InlineVector<ReadyOp<Cookie, Moment>, 4>;

/// The start or the end of an op.
template <class Cookie, class Moment = Time>
struct Notice {
    const Moment& time;  ///< may lie in the future: an end is reported as soon as it is known
    OpIndex op_index = 0;
    [[no_unique_address]] Cookie cookie = {};
};

/// A source supplies the ops of the simulated ranks. It is shared by all threads and immutable; all that changes during
/// a run is in a `State` for each rank. The simulator reports starts and ends of ops, and the source returns the ops
/// that become ready by them.
///
/// `begin` appends to `ready` the ops that are ready at the beginning. Of those that start one after the other in any
/// case, a source may hand out the first alone, and each other one when the one before it has started, with the time at
/// which it was ready. `started` and `ended` return whether they have written an op to `next`; they append further ops
/// to `ready`. If they return false, the content of `next` is undefined. Each thread has a `Scratch`, in which a source
/// may cache results. `single_cpu_and_nic` says that no rank has more than one CPU and one NIC; `has_exchanges` says
/// that some ReadyOps are exchanges.
///
/// `stop_position` returns the position of a rank, or nothing if all its ops have become ready. `rank_schedule` returns
/// the ops of a rank with their requirements; an op's index in it is the op index that the source uses. `has_one_sided`
/// says whether there may be one-sided ops.
///
/// `call` returns the number of the operation (collectives/call_name.hpp) to which an op that is just starting belongs.
///
/// A source whose State cannot be copied byte by byte has `serialise`, which passes the State to an archive
/// (base/archive.hpp).
///
/// Times may be of any type of moment: a source copies them, compares them by `latest`, and creates none but the first,
/// `Moment{}`.
template <class S>
concept Source =
    requires(const S& source, typename S::template State<Time>& state, const typename S::template State<Time>& view,
             typename S::Scratch& scratch, std::uint32_t rank, const Notice<typename S::Cookie>& notice,
             ReadyOp<typename S::Cookie>& next, ReadyOps<typename S::Cookie>& ready) {
        { source.ranks() } -> std::convertible_to<std::uint32_t>;
        { source.cpus() } -> std::convertible_to<std::uint32_t>;
        { source.nics() } -> std::convertible_to<std::uint32_t>;
        source.begin(rank, state, scratch, ready);
        { source.started(rank, state, scratch, notice, next, ready) } -> std::same_as<bool>;
        { source.ended(rank, state, scratch, notice, next, ready) } -> std::same_as<bool>;
        { S::single_cpu_and_nic } -> std::convertible_to<bool>;
        { S::has_exchanges } -> std::convertible_to<bool>;
        { source.name(rank, OpIndex{}) } -> std::convertible_to<std::string>;
        { source.stop_position(rank, view) } -> std::same_as<std::optional<StopPosition>>;
        { source.rank_schedule(rank) } -> std::same_as<RankSchedule>;
        { source.call(rank, view, notice.cookie) } -> std::same_as<std::uint16_t>;
    };

// ---- sources whose ranks execute a program

/// A message of a rank's program: a send or a receive.
template <class Cookie>
struct ProgramMessage {
    std::uint64_t size = 0;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    [[no_unique_address]] Cookie cookie = {};
    bool blocking = false;  ///< the rank waits for its end
};

/// What a rank does after an attempt to execute its next op.
enum class ProgramStep : std::uint8_t {
    goes_on,  ///< to the next op
    waits,    ///< until an op has ended
    paused,   ///< nothing for now: a message that arrives before may come first
    other     ///< something that is not done in program order
};

/// A source whose ranks have a program: most of their ops are ready one after the other, in program order. Such ops
/// need not be handed out. `execute_next`, which gets the `program_of` the rank and an executor, passes what comes next
/// to the executor, none, one or two ops: for each it calls `compute`, `send` or `receive` with the op and a function
/// `begin`, which moves the rank behind it and returns its op index. Waits it does itself. It returns how the rank goes
/// on. `ready_at` is when the next op is ready. `is_in_order` says whether the op of a cookie belongs to this order;
/// `end_in_order` reports the end of such an op, and returns whether the rank goes on. `hand_out` hands out what the
/// rank does next, as `ended` does. After `await_end` the rank waits for the end of an op, after `pause` for none
/// (`is_paused`): it goes on when the simulator visits it again.
template <class S>
concept ProgramOrderSource =
    Source<S> &&
    requires(const S& source, typename S::template State<Time>& state, typename S::Cookie cookie, OpIndex op_index,
             const Time& time, ReadyOp<typename S::Cookie>& next, ReadyOps<typename S::Cookie>& ready) {
        { S::is_in_order(cookie) } -> std::same_as<bool>;
        { S::end_in_order(state, cookie, time) } -> std::same_as<bool>;
        { S::ready_at(state) } -> std::same_as<Time&>;
        S::await_end(state, op_index);
        S::pause(state);
        { S::is_paused(state) } -> std::same_as<bool>;
        { source.hand_out(state, next, ready) } -> std::same_as<bool>;
        source.program_of(state);
    };

}  // namespace idlewave::goal
