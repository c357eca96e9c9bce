#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/slab.hpp"
#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/match_list.hpp"
#include "loggops/message.hpp"
#include "loggops/started_op.hpp"

namespace idlewave::loggops {

/// A message that has arrived and whose receive has not ended (docs/model.md, R8 to R10): an eager message whose
/// receive was not posted at its arrival, or a request to send. With plain times it is a cache line.
template <class Cookie, class Moment>
struct alignas(64) ArrivedMessage {
    std::uint64_t size = 0;  ///< on the wire
    std::uint32_t source = 0;
    std::uint32_t tag = 0;
    std::uint32_t sequence = 0;       ///< number among the transmissions of its sender; the id of a rendezvous
    std::uint32_t sender_handle = 0;  ///< of a request to send: the sender's OpenSend
    MessageKind kind = MessageKind::data;
    bool matched : 1 = false;
    bool processed : 1 = false;
    std::uint8_t list_length = 0;    ///< of the rank's list of unexpected messages, if it is the last one
    StartedOp<Cookie> receive = {};  ///< of a matched message
    Moment arrived_at = {};
    Moment matched_at = {};  ///< the time of the match: the arrival, or the posting of the receive
    Moment processed_at = {};

    /// The rank's next unexpected message, while these are in a list; behind the last one the first. The word is that
    /// of the receive, which such a message does not have yet: with one more it would not fit into a cache line.
    [[nodiscard]] std::uint32_t& next() { return receive.op_index; }
    [[nodiscard]] std::uint32_t next() const { return receive.op_index; }
};
static_assert(sizeof(ArrivedMessage<goal::NoCookie, Time>) == 64);
static_assert(sizeof(ArrivedMessage<std::uint32_t, Time>) == 64);

/// A posted receive in the rank itself, which was posted while no other was: it is the oldest one. The same memory
/// holds a receive whose end is known and not yet reported to the source of the schedule; its end is the time from
/// which the CPU is free.
template <class Cookie>
struct ReceiveSlot {
    enum class State : std::uint8_t { empty, posted, end_pending };

    // Source and tag lie apart: side by side, a compiler copies both at once from an op, whose fields have just been
    // written one by one, and the copy would stall on store forwarding.
    std::uint32_t source = 0;
    goal::OpIndex op_index = 0;
    std::uint32_t tag = 0;
    [[no_unique_address]] Cookie cookie = {};
    std::uint8_t cpu = 0;
    std::uint8_t nic = 0;
    bool end_has_successors = true;
    State state = State::empty;

    [[nodiscard]] bool posted() const { return state == State::posted; }
    [[nodiscard]] bool end_pending() const { return state == State::end_pending; }
    [[nodiscard]] StartedOp<Cookie> op() const {
        return {
            .op_index = op_index, .cookie = cookie, .cpu = cpu, .nic = nic, .end_has_successors = end_has_successors};
    }

    /// Whether a message from `from` with `with_tag` matches the receive.
    [[nodiscard, gnu::always_inline]] bool matches(std::uint32_t from, std::uint32_t with_tag) const {
        return goal::matches(source, tag, from, with_tag);
    }

    /// Writes field by field: reading the receive as one piece would otherwise stall on store forwarding.
    [[gnu::always_inline]] void post(const StartedOp<Cookie>& receive, std::uint32_t from, std::uint32_t with_tag) {
        op_index = receive.op_index;
        cookie = receive.cookie;
        cpu = receive.cpu;
        nic = receive.nic;
        end_has_successors = receive.end_has_successors;
        state = State::posted;
        source = from;
        tag = with_tag;
    }
    [[gnu::always_inline]] void set_pending_end(const StartedOp<Cookie>& receive) {
        op_index = receive.op_index;
        cookie = receive.cookie;
        state = State::end_pending;
    }
};

/// Where the other entries of a rank's two queues are: nowhere, in a list of its unexpected messages, if these are few
/// and it has no overflow, or in an overflow.
class QueueLocation {
  public:
    [[nodiscard]] bool none() const { return word_ == 0; }
    [[nodiscard]] bool in_overflow() const { return word_ - 1 < list - 1; }  // 0 becomes the largest number
    [[nodiscard]] std::uint32_t overflow() const { return word_; }
    /// The handle of the last unexpected message in the list, or 0.
    [[nodiscard]] std::uint32_t last_unexpected() const { return (word_ & list) != 0 ? word_ - list : 0; }

    void set_none() { word_ = 0; }
    void set_overflow(std::uint32_t handle) { word_ = handle; }
    void set_last_unexpected(std::uint32_t handle) { word_ = list + handle; }

  private:
    static constexpr std::uint32_t list = 0x80000000;
    std::uint32_t word_ = 0;
};

/// The matching state of one rank.
template <class Cookie>
struct MatchState {
    QueueLocation queues;
    ReceiveSlot<Cookie> slot;

    /// Whether a receive that is posted now is the only one, and no message is unexpected.
    [[nodiscard]] bool empty() const { return queues.none() && !slot.posted(); }
};

/// MPI's matching (docs/model.md, R9): the posted receive queue and the unexpected message queue of each rank of a
/// thread. Most ranks have at most one posted receive, which is in their MatchState, and few unexpected messages, which
/// form a list whose last handle is there. A rank with more has an overflow: match lists, which have an index if they
/// are long. In it are all unexpected messages, and all posted receives but that in the rank's slot, which is older
/// than they are.
template <class Cookie, class Moment>
class Matching {
  public:
    using State = MatchState<Cookie>;
    using Receive = StartedOp<Cookie>;
    using Arrived = ArrivedMessage<Cookie, Moment>;

    // ---- the posted receive queue

    /// A message arrives: takes the oldest posted receive that it matches. Returns whether there is one.
    [[gnu::always_inline]] bool take_posted(State& state, std::uint32_t source, std::uint32_t tag, Receive& receive) {
        if (state.slot.posted() && state.slot.matches(source, tag)) [[likely]] {
            receive = state.slot.op();
            state.slot.state = ReceiveSlot<Cookie>::State::empty;
            return true;
        }
        if (!state.queues.in_overflow()) [[likely]] {
            return false;  // no other receive is posted
        }
        Receive found;  // its own variable, so that `receive` can stay in registers
        const bool matched = take_posted_in_overflow(state.queues.overflow(), source, tag, found);
        receive = found;
        return matched;
    }

    /// A receive starts: takes the oldest unexpected message that it matches, or is posted. Returns whether there is
    /// such a message, whose handle is now in `message`.
    [[gnu::always_inline]] bool post(State& state, const Receive& receive, std::uint32_t source, std::uint32_t tag,
                                     std::uint32_t& message) {
        if (!state.empty()) [[unlikely]] {
            if (state.queues.in_overflow() || state.slot.posted()) {
                std::uint32_t found = 0;  // its own variable, so that `message` can stay in a register
                const bool matched = post_among_others(state, receive, source, tag, found);
                message = found;
                return matched;
            }
            if (take_unexpected_from_list(state, source, tag, message)) {
                return true;
            }
        }
        state.slot.post(receive, source, tag);
        return false;
    }

    [[nodiscard]] std::uint32_t posted_receives(const State& state) const {
        return (state.slot.posted() ? 1 : 0) +
               (state.queues.in_overflow() ? overflows_[state.queues.overflow()].posted.size() : 0);
    }

    // ---- the unexpected message queue

    void add_unexpected(State& state, std::uint32_t message) {
        if (state.queues.none()) {
            messages_[message].next() = message;
            messages_[message].list_length = 1;
            state.queues.set_last_unexpected(message);
        } else if (state.queues.in_overflow() || !append_to_list(state, message)) {
            overflow(state).unexpected.add(messages_[message].source, messages_[message].tag, message);
        }
    }

    [[nodiscard]] std::uint32_t unexpected_messages(const State& state) const {
        if (state.queues.in_overflow()) {
            return overflows_[state.queues.overflow()].unexpected.size();
        }
        const std::uint32_t last = state.queues.last_unexpected();
        return last == 0 ? 0 : messages_[last].list_length;
    }

    // ---- arrived messages

    /// Adds a message and returns its handle.
    std::uint32_t add(const Arrived& message) {
        const std::uint32_t handle = messages_.add();
        messages_[handle] = message;
        return handle;
    }
    /// Adds the message of an event, whose first byte has arrived at `arrived_at`. It is written in place: copying a
    /// message that was just written field by field would stall on store forwarding.
    template <class Event>
    [[gnu::always_inline]] std::uint32_t add_arrived(const Event& event, const Moment& arrived_at) {
        const Message& message = *event.payload;
        const std::uint32_t handle = messages_.add();
        messages_[handle] = {.size = message.size,
                             .source = event.source,
                             .tag = message.tag,
                             .sequence = event.sequence,
                             .sender_handle = message.sender_handle,
                             .kind = message.kind,
                             .arrived_at = arrived_at};
        return handle;
    }
    [[nodiscard]] Arrived& operator[](std::uint32_t handle) { return messages_[handle]; }
    [[nodiscard]] const Arrived& operator[](std::uint32_t handle) const { return messages_[handle]; }
    void remove(std::uint32_t handle) { messages_.remove(handle); }
    /// Whether the message is eager, and the CPU and NIC are done with it: a receive that matches it ends.
    [[nodiscard]] bool is_received(std::uint32_t handle) const {
        return messages_[handle].processed && messages_[handle].kind == MessageKind::data;
    }

    // ---- a rank as a whole

    [[nodiscard]] bool has_overflow(const State& state) const { return state.queues.in_overflow(); }

    /// Frees an overflow that is empty; to be called when the worker leaves the rank.
    [[gnu::always_inline]] void leave(State& state) {
        if (state.queues.in_overflow() && overflows_[state.queues.overflow()].empty()) [[unlikely]] {
            overflows_.remove(state.queues.overflow());
            state.queues.set_none();
        }
    }

    /// How many messages have arrived whose receives have not ended, and how many ranks have an overflow.
    [[nodiscard]] std::size_t arrived_messages() const { return messages_.in_use(); }
    [[nodiscard]] std::size_t overflows() const { return overflows_.in_use(); }

    /// Brings a rank's last unexpected message, or its overflow, into the cache.
    [[gnu::always_inline]] void prefetch(const State& state) const {
        messages_.prefetch(state.queues.last_unexpected());
        if (state.queues.in_overflow()) {
            constexpr std::size_t line = 64;
            const auto* queue = reinterpret_cast<const char*>(&overflows_[state.queues.overflow()].posted);
            __builtin_prefetch(queue, 1);
            __builtin_prefetch(queue + line, 1);
            __builtin_prefetch(reinterpret_cast<const char*>(&overflows_[state.queues.overflow()].unexpected), 1);
        }
    }

    /// Brings what leads to the oldest unexpected message of an overflow into the cache, once `prefetch` has brought
    /// the overflow.
    [[gnu::always_inline]] void prefetch_unexpected(const State& state) const {
        if (state.queues.in_overflow()) {
            overflows_[state.queues.overflow()].unexpected.prefetch_oldest();
        }
    }

    /// Brings that message into the cache, once `prefetch_unexpected` has brought what leads to it.
    [[gnu::always_inline]] void prefetch_unexpected_message(const State& state) const {
        if (state.queues.in_overflow()) {
            const auto& unexpected = overflows_[state.queues.overflow()].unexpected;
            if (!unexpected.empty()) {
                messages_.prefetch(unexpected.oldest());
            }
        }
    }

    /// Brings what a message's search in the overflow reads first into the cache, once `prefetch` has brought the
    /// overflow.
    [[gnu::always_inline]] void prefetch_posted(const State& state, std::uint32_t source, std::uint32_t tag) const {
        if (state.queues.in_overflow()) {
            overflows_[state.queues.overflow()].posted.prefetch(source, tag);
        }
    }

    /// Brings the receive in the overflow that a message probably matches into the cache, once `prefetch_posted` has
    /// brought what leads to it.
    [[gnu::always_inline]] void prefetch_match(const State& state, std::uint32_t source, std::uint32_t tag) const {
        if (state.queues.in_overflow()) {
            overflows_[state.queues.overflow()].posted.prefetch_match(source, tag);
        }
    }

    /// Calls `use(source, tag, receive)` for each posted receive, oldest first.
    template <class Use>
    void each_posted(const State& state, Use use) const {
        if (state.slot.posted()) {
            use(state.slot.source, state.slot.tag, state.slot.op());
        }
        if (state.queues.in_overflow()) {
            overflows_[state.queues.overflow()].posted.each(
                [&](const auto& entry) { use(entry.source, entry.tag, entry.value); });
        }
    }

    /// Calls `use(handle)` for each unexpected message, oldest first.
    template <class Use>
    void each_unexpected(const State& state, Use use) const {
        each_in_list(state, use);
        if (state.queues.in_overflow()) {
            overflows_[state.queues.overflow()].unexpected.each([&](const auto& entry) { use(entry.value); });
        }
    }

    /// Adds a posted receive without a search for messages: none matches, or a rank is restored from its serialised
    /// state.
    void add_posted(State& state, std::uint32_t source, std::uint32_t tag, const Receive& receive) {
        if (state.slot.state == ReceiveSlot<Cookie>::State::empty && posted_receives(state) == 0) {
            state.slot.post(receive, source, tag);
            return;
        }
        overflow(state).posted.add(source, tag, receive);
    }

    /// Empties both queues. The messages themselves remain.
    void clear(State& state) {
        if (state.queues.in_overflow()) {
            Overflow& own = overflows_[state.queues.overflow()];
            own.posted.clear();
            own.unexpected.clear();
            overflows_.remove(state.queues.overflow());
        }
        state = {};
    }

  private:
    /// The posted receives of a rank except that in its slot, and its unexpected messages.
    struct alignas(64) Overflow {
        PostedReceiveQueue<Receive> posted;
        UnexpectedMessageQueue<std::uint32_t> unexpected;  ///< handles

        [[nodiscard]] bool empty() const { return posted.empty() && unexpected.empty(); }
    };

    static constexpr std::uint32_t longest_list = 8;  ///< of unexpected messages, without an overflow

    /// Appends a message to the list of the rank, which has some. Returns whether there was room.
    bool append_to_list(State& state, std::uint32_t message) {
        Arrived& last = messages_[state.queues.last_unexpected()];
        if (last.list_length == longest_list) {
            return false;
        }
        messages_[message].next() = std::exchange(last.next(), message);
        messages_[message].list_length = last.list_length + 1;
        state.queues.set_last_unexpected(message);
        return true;
    }

    /// Takes the first message out of the list that a receive from `source` with `tag` matches.
    [[gnu::always_inline]] bool take_unexpected_from_list(State& state, std::uint32_t source, std::uint32_t tag,
                                                          std::uint32_t& message) {
        const std::uint32_t last = state.queues.last_unexpected();
        if (last == 0) {
            return false;
        }
        std::uint32_t before = last;
        std::uint32_t handle = messages_[last].next();
        while (!goal::matches(messages_[handle].source, messages_[handle].tag, source, tag)) {
            if (handle == last) {
                return false;
            }
            before = std::exchange(handle, messages_[handle].next());
        }
        remove_from_list(state, before, handle);
        message = handle;
        return true;
    }

    /// Removes the message behind `before` from the list of the rank.
    [[gnu::always_inline]] void remove_from_list(State& state, std::uint32_t before, std::uint32_t handle) {
        const std::uint32_t last = state.queues.last_unexpected();
        if (before == handle) {
            state.queues.set_none();
            return;
        }
        messages_[before].next() = messages_[handle].next();
        const std::uint8_t length = messages_[last].list_length - 1;
        const std::uint32_t now_last = handle == last ? before : last;
        messages_[now_last].list_length = length;
        state.queues.set_last_unexpected(now_last);
    }

    /// Calls `use(handle)` for each message in the list of the rank, oldest first.
    template <class Use>
    void each_in_list(const State& state, Use use) const {
        const std::uint32_t last = state.queues.last_unexpected();
        if (last == 0) {
            return;
        }
        std::uint32_t handle = last;
        do {
            handle = messages_[handle].next();
            use(handle);
        } while (handle != last);
    }

    /// The rank's overflow. A new one takes over the rank's unexpected messages.
    Overflow& overflow(State& state) {
        if (!state.queues.in_overflow()) {
            const std::uint32_t made = overflows_.add();
            each_in_list(state, [this, made](std::uint32_t handle) {
                overflows_[made].unexpected.add(messages_[handle].source, messages_[handle].tag, handle);
            });
            state.queues.set_overflow(made);
        }
        return overflows_[state.queues.overflow()];
    }

    [[gnu::noinline]] bool take_posted_in_overflow(std::uint32_t overflow, std::uint32_t source, std::uint32_t tag,
                                                   Receive& receive) {
        return overflows_[overflow].posted.take(source, tag, receive);
    }

    [[gnu::noinline]] bool post_among_others(State& state, Receive receive, std::uint32_t source, std::uint32_t tag,
                                             std::uint32_t& message) {
        if (take_unexpected(state, source, tag, message)) {
            return true;
        }
        add_posted(state, source, tag, receive);
        return false;
    }

    bool take_unexpected(State& state, std::uint32_t source, std::uint32_t tag, std::uint32_t& message) {
        if (state.queues.in_overflow()) {
            return overflows_[state.queues.overflow()].unexpected.take(source, tag, message);
        }
        return take_unexpected_from_list(state, source, tag, message);
    }

    Slab<Arrived> messages_;
    Slab<Overflow> overflows_;
};

}  // namespace idlewave::loggops
