#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/archive.hpp"
#include "loggops/agenda.hpp"
#include "loggops/dependencies.hpp"
#include "loggops/matching.hpp"
#include "loggops/occupation.hpp"
#include "loggops/one_sided.hpp"
#include "loggops/rank.hpp"
#include "loggops/rank_parts.hpp"
#include "loggops/rendezvous.hpp"
#include "loggops/serialised_fields.hpp"
#include "loggops/tables.hpp"

namespace idlewave::loggops {

/// The positions of handles in a list. In a serialised rank a request refers to a record by its position.
class HandlePositions {
  public:
    explicit HandlePositions(const std::vector<std::uint32_t>& handles) {
        for (std::uint32_t position = 0; position < handles.size(); ++position) {
            positions_.emplace_back(handles[position], position);
        }
        std::sort(positions_.begin(), positions_.end());
    }
    [[nodiscard]] std::uint32_t of(std::uint32_t handle) const {
        return std::lower_bound(positions_.begin(), positions_.end(), std::pair(handle, 0U))->second;
    }

  private:
    std::vector<std::pair<std::uint32_t, std::uint32_t>> positions_;
};

/// Serialises a rank: for the undo log, for migration to another thread or process, and for checkpoints. The bytes are
/// the same wherever the rank has been: handles become positions, and what has no order of its own is sorted.
template <goal::Source S, class Observer>
class RankSerialiser {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Cookie = typename S::Cookie;
    using State = Rank<S, Moment>;

    explicit RankSerialiser(RankParts<S, Observer>& parts)
        : tables_(parts.tables),
          agenda_(parts.agenda),
          occupation_(parts.occupation),
          matching_(parts.matching),
          rendezvous_(parts.rendezvous),
          one_sided_(parts.one_sided),
          dependencies_(parts.dependencies) {}

    void pack(const State& rank, std::uint32_t r, Serialiser& serialiser) {
        serialise_state(const_cast<State&>(rank), r, serialiser);
        const Records records = records_of(rank, r);
        pack_posted_receives(matching_, rank.match, serialiser);
        serialiser(records.unexpected);
        pack_all(records.messages, serialiser, [this](std::uint32_t handle) { return matching_[handle]; });
        pack_all(records.receives, serialiser, [this](std::uint32_t handle) { return rendezvous_.receive(handle); });
        pack_all(records.sends, serialiser, [this](std::uint32_t handle) { return rendezvous_.send(handle); });
        pack_requests(records, serialiser);
        pack_one_sided(r, serialiser);
    }

    /// Overwrites a rank that has no records.
    void unpack(State& rank, std::uint32_t r, Deserialiser& deserialiser) {
        rank.match = {};
        rank.requests = {};
        tables_.open[r] = {};
        serialise_state(rank, r, deserialiser);
        unpack_posted_receives(matching_, rank.match, deserialiser);
        Records records;
        deserialiser(records.unexpected);
        records.messages = unpack_all<ArrivedMessage<Cookie, Moment>>(
            deserialiser, [this](const auto& message) { return matching_.add(message); });
        for (std::uint32_t i = 0; i < records.unexpected; ++i) {
            matching_.add_unexpected(rank.match, records.messages[i]);
        }
        records.receives = unpack_all<OpenReceive<Cookie, Moment>>(
            deserialiser, [this, r](const auto& receive) { return rendezvous_.restore(r, receive); });
        records.sends = unpack_all<OpenSend<Cookie>>(
            deserialiser, [this, r](const auto& send) { return rendezvous_.restore(r, send); });
        unpack_requests(rank, records, deserialiser);
        unpack_one_sided(r, deserialiser);
    }

    /// Removes all records of a rank.
    void discard(State& rank, std::uint32_t r) {
        for (const std::uint32_t handle : records_of(rank, r).messages) {
            matching_.remove(handle);
        }
        matching_.clear(rank.match);
        rendezvous_.discard(r);
        if (has_one_sided()) {
            one_sided_.discard(r);
        }
        agenda_.discard(rank.requests);
        rank.requests = {};
    }

  private:
    using Entry = Request<Cookie, Moment>;

    /// The records of a rank, by handle.
    struct Records {
        std::vector<std::uint32_t> messages;  ///< the unexpected ones, oldest first; then the matched ones
        std::uint32_t unexpected = 0;         ///< the number of unexpected ones
        std::vector<std::uint32_t> receives;
        std::vector<std::uint32_t> sends;
        std::vector<Entry> requests;  ///< in order of precedence
    };

    static bool is_about_message(RequestKind kind) {
        return kind == RequestKind::receive_unexpected || kind == RequestKind::receive_request_to_send;
    }
    static bool is_about_receive(RequestKind kind) {
        return kind == RequestKind::send_clear_to_send || kind == RequestKind::receive_data;
    }
    static bool is_about_send(RequestKind kind) {
        return kind == RequestKind::receive_clear_to_send || kind == RequestKind::send_data;
    }

    [[nodiscard]] Records records_of(const State& rank, std::uint32_t r) const {
        Records records;
        agenda_.each(rank.requests, [&](const Entry& request) { records.requests.push_back(request); });
        std::sort(records.requests.begin(), records.requests.end(),
                  [](const Entry& a, const Entry& b) { return a.before(b); });
        matching_.each_unexpected(rank.match, [&](std::uint32_t handle) { records.messages.push_back(handle); });
        records.unexpected = static_cast<std::uint32_t>(records.messages.size());
        for (const Entry& request : records.requests) {  // a matched message that is not processed has a request
            if (is_about_message(request.kind) && matching_[request.handle].matched) {
                records.messages.push_back(request.handle);
            }
        }
        std::sort(records.messages.begin() + records.unexpected, records.messages.end(),
                  [this](std::uint32_t a, std::uint32_t b) {
                      return std::pair(matching_[a].source, matching_[a].sequence) <
                             std::pair(matching_[b].source, matching_[b].sequence);
                  });
        records.receives = rendezvous_.receives_of(r);
        records.sends = rendezvous_.sends_of(r);
        return records;
    }

    template <class Archive>
    void serialise_state(State& rank, std::uint32_t r, Archive& archive) {
        occupation_.serialise(r, rank, archive);
        dependencies_.serialise(r, rank, archive);
        // A deserialiser writes to both variables.
        bool end_pending = rank.match.slot.end_pending();  // NOLINT(misc-const-correctness)
        archive(end_pending);
        if (end_pending) {
            StartedOp<Cookie> receive = rank.match.slot.op();  // NOLINT(misc-const-correctness)
            archive(receive.op_index);
            archive(receive.cookie);
            rank.match.slot.set_pending_end(receive);
        }
    }

    static void pack_posted_receives(const Matching<Cookie, Moment>& matching, const MatchState<Cookie>& match,
                                     Serialiser& serialiser) {
        serialiser(matching.posted_receives(match));
        matching.each_posted(match, [&](std::uint32_t source, std::uint32_t tag, StartedOp<Cookie> receive) {
            serialiser(source);
            serialiser(tag);
            serialise(serialiser, receive);
        });
    }
    static void unpack_posted_receives(Matching<Cookie, Moment>& matching, MatchState<Cookie>& match,
                                       Deserialiser& deserialiser) {
        for (auto count = deserialiser.next<std::uint32_t>(); count > 0; --count) {
            const auto source = deserialiser.next<std::uint32_t>();
            const auto tag = deserialiser.next<std::uint32_t>();
            StartedOp<Cookie> receive;
            serialise(deserialiser, receive);
            matching.add_posted(match, source, tag, receive);
        }
    }

    // ---- notifications, awaits and locks

    [[nodiscard]] bool has_one_sided() const { return !tables_.one_sided.empty(); }

    void pack_one_sided(std::uint32_t r, Serialiser& serialiser) {
        if (!has_one_sided()) {
            return;
        }
        const Matching<Cookie, Moment>& notifications = one_sided_.notifications();
        const MatchState<Cookie>& own = tables_.one_sided[r].notifications;
        pack_posted_receives(notifications, own, serialiser);
        std::vector<std::uint32_t> handles;
        notifications.each_unexpected(own, [&handles](std::uint32_t handle) { handles.push_back(handle); });
        pack_all(handles, serialiser, [&notifications](std::uint32_t handle) { return notifications[handle]; });
        std::vector<LockRequest<Cookie, Moment>> locks;
        one_sided_.each_lock(r, [&locks](const auto& lock) { locks.push_back(lock); });
        serialiser(static_cast<std::uint32_t>(locks.size()));
        for (auto& lock : locks) {
            serialise(serialiser, lock);
        }
    }
    void unpack_one_sided(std::uint32_t r, Deserialiser& deserialiser) {
        if (!has_one_sided()) {
            return;
        }
        Matching<Cookie, Moment>& notifications = one_sided_.notifications();
        tables_.one_sided[r] = {};
        unpack_posted_receives(notifications, tables_.one_sided[r].notifications, deserialiser);
        const std::vector<std::uint32_t> handles = unpack_all<ArrivedMessage<Cookie, Moment>>(
            deserialiser, [&notifications](const auto& message) { return notifications.add(message); });
        for (const std::uint32_t handle : handles) {
            notifications.add_unexpected(tables_.one_sided[r].notifications, handle);
        }
        for (auto count = deserialiser.next<std::uint32_t>(); count > 0; --count) {
            LockRequest<Cookie, Moment> lock;
            serialise(deserialiser, lock);
            one_sided_.add_lock(r, lock);
        }
    }

    template <class Get>
    static void pack_all(const std::vector<std::uint32_t>& handles, Serialiser& serialiser, Get get) {
        serialiser(static_cast<std::uint32_t>(handles.size()));
        for (const std::uint32_t handle : handles) {
            auto record = get(handle);
            serialise(serialiser, record);
        }
    }
    template <class Record, class Add>
    static std::vector<std::uint32_t> unpack_all(Deserialiser& deserialiser, Add add) {
        std::vector<std::uint32_t> handles(deserialiser.next<std::uint32_t>());
        for (std::uint32_t& handle : handles) {
            Record record;
            serialise(deserialiser, record);
            handle = add(record);
        }
        return handles;
    }

    void pack_requests(const Records& records, Serialiser& serialiser) {
        const HandlePositions messages(records.messages);
        const HandlePositions receives(records.receives);
        const HandlePositions sends(records.sends);
        serialiser(static_cast<std::uint32_t>(records.requests.size()));
        for (Entry request : records.requests) {
            request.handle = is_about_message(request.kind)   ? messages.of(request.handle)
                             : is_about_receive(request.kind) ? receives.of(request.handle)
                             : is_about_send(request.kind)    ? sends.of(request.handle)
                             : is_one_sided(request.kind)     ? request.handle
                                                              : 0;
            serialise(serialiser, request);
        }
    }
    void unpack_requests(State& rank, const Records& records, Deserialiser& deserialiser) {
        agenda_.open({});
        for (auto count = deserialiser.next<std::uint32_t>(); count > 0; --count) {
            Entry& request = agenda_.make() = {};
            serialise(deserialiser, request);
            if (!is_one_sided(request.kind)) {
                request.message_class = Message::no_class;  // costs without a class are the same
            }
            request.request_id = agenda_.next_request_id();
            request.handle = is_about_message(request.kind)   ? records.messages.at(request.handle)
                             : is_about_receive(request.kind) ? records.receives.at(request.handle)
                             : is_about_send(request.kind)    ? records.sends.at(request.handle)
                             : is_one_sided(request.kind)     ? request.handle
                                                              : 0;
            agenda_.added();
        }
        rank.requests = agenda_.close();
    }

    Tables& tables_;
    Agenda<Cookie, Moment>& agenda_;
    Occupation<S, Observer>& occupation_;
    Matching<Cookie, Moment>& matching_;
    Rendezvous<S, Observer>& rendezvous_;
    OneSided<S, Observer>& one_sided_;
    const Dependencies<S, Observer>& dependencies_;
};

}  // namespace idlewave::loggops
