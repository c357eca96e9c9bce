#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "loggops/serialised_fields.hpp"
#include "loggops/worker.hpp"

/// A rank as a row of bytes, and back: what a visit changed is undone so, and so a rank goes to another thread, another
/// process, or a file. In the bytes its messages and sends are known by their order.
namespace idlewave {

/// What lies apart from a rank, by handles.
template <Source S, class Observer>
struct RankWorker<S, Observer>::DetachedState {
    std::vector<std::uint32_t> arrived_messages;  ///< first those that are unexpected, the oldest first
    std::uint32_t unexpected = 0;                 ///< so many of them
    std::vector<std::uint32_t> sends;
    std::vector<Request<Cookie, Moment>> requests;
};

/// A handle's place in a list, and back: how a request knows what it is about in the bytes.
class HandlePlaces {
  public:
    explicit HandlePlaces(const std::vector<std::uint32_t>& handles) {
        for (std::uint32_t op_index = 0; op_index < handles.size(); ++op_index) {
            places_.emplace_back(handles[op_index], op_index);
        }
        std::sort(places_.begin(), places_.end());
    }
    [[nodiscard]] std::uint32_t of(std::uint32_t handle) const {
        return std::lower_bound(places_.begin(), places_.end(), std::pair(handle, 0U))->second;
    }

  private:
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;
};

/// What is in the rank itself, and in the model's tables.
template <Source S, class Observer>
template <class Archive>
void RankWorker<S, Observer>::serialise_fixed(State& rank, std::uint32_t r, Archive& archive) {
    archive(rank.free_times);
    if constexpr (requires { model_.source.serialise(r, rank.source, archive); }) {
        model_.source.serialise(r, rank.source, archive);
    } else {
        archive(rank.source);
    }
    archive(rank.posted_source);
    archive(rank.posted_tag);
    serialise(archive, rank.posted);
    archive(model_.processed[r]);
    if (noisy_) {
        archive(model_.noise[r]);
    }
    if (!model_.free_times.empty()) {
        for (std::uint32_t i = 0; i < model_.layout.size(); ++i) {
            archive(model_.free_times_of(r, rank)[i]);
        }
    }
}

template <Source S, class Observer>
auto RankWorker<S, Observer>::detached_state_of(const State& rank, std::uint32_t r) const -> DetachedState {
    DetachedState found;
    const auto add = [&](const Request<Cookie, Moment>& request) { found.requests.push_back(request); };
    agenda_.each(rank.pending, add);
    for (std::uint32_t arrived = rank.first_unexpected(); arrived != 0; arrived = arrived_messages_[arrived].next) {
        found.arrived_messages.push_back(arrived);
    }
    if (rank.has_overflow()) {
        const Overflow<Cookie, Moment>& overflow = overflows_[rank.overflow];
        overflow.requests.each(add);
        overflow.unexpected.each([&](const auto& entry) { found.arrived_messages.push_back(entry.value); });
    }
    found.unexpected = static_cast<std::uint32_t>(found.arrived_messages.size());
    for (std::uint32_t arrived = model_.open[r].arrived; arrived != 0; arrived = arrived_messages_[arrived].next) {
        found.arrived_messages.push_back(arrived);
    }
    for (const Request<Cookie, Moment>& request : found.requests) {
        if (concerns_arrived_message(request.kind) && arrived_messages_[request.handle].matched) {
            found.arrived_messages.push_back(request.handle);
        }
    }
    for (std::uint32_t send = model_.open[r].send; send != 0; send = sends_[send].next) {
        found.sends.push_back(send);
    }
    // In an order that is the same wherever the rank has been.
    std::sort(found.requests.begin(), found.requests.end(), [](const auto& a, const auto& b) { return a.before(b); });
    std::sort(found.arrived_messages.begin() + found.unexpected, found.arrived_messages.end(),
              [this](std::uint32_t a, std::uint32_t b) {
                  return std::pair(arrived_messages_[a].source, arrived_messages_[a].number) <
                         std::pair(arrived_messages_[b].source, arrived_messages_[b].number);
              });
    std::sort(found.sends.begin(), found.sends.end(),
              [this](std::uint32_t a, std::uint32_t b) { return sends_[a].number < sends_[b].number; });
    return found;
}

template <Source S, class Observer>
void RankWorker<S, Observer>::pack(const State& rank, std::uint32_t r, Serialiser& packer) {
    serialise_fixed(const_cast<State&>(rank), r, packer);
    const DetachedState own = detached_state_of(rank, r);
    packer(own.unexpected);
    packer(static_cast<std::uint32_t>(own.arrived_messages.size()));
    for (const std::uint32_t handle : own.arrived_messages) {
        serialise(packer, arrived_messages_[handle]);
    }
    packer(static_cast<std::uint32_t>(own.sends.size()));
    for (const std::uint32_t handle : own.sends) {
        serialise(packer, sends_[handle]);
    }
    const std::uint32_t posted = rank.has_overflow() ? overflows_[rank.overflow].posted.size() : 0;
    packer(posted);
    if (posted > 0) {
        overflows_[rank.overflow].posted.each([&](const auto& entry) {
            packer(entry.source);
            packer(entry.tag);
            Receive<Cookie> receive = entry.value;
            serialise(packer, receive);
        });
    }
    packer(static_cast<std::uint32_t>(own.requests.size()));
    const HandlePlaces arrived_messages(own.arrived_messages);
    const HandlePlaces sends(own.sends);
    std::uint64_t asked = 0;
    for (Request<Cookie, Moment> request : own.requests) {
        if (request.priority == Priority::protocol) {
            request.ready.op.size = asked++;  // their order is what counts, and they are in it
        }
        request.handle = concerns_arrived_message(request.kind) ? arrived_messages.of(request.handle)
                         : concerns_open_send(request.kind)     ? sends.of(request.handle)
                                                                : request.handle;
        serialise(packer, request);
    }
}

template <Source S, class Observer>
void RankWorker<S, Observer>::unpack(State& rank, std::uint32_t r, Deserialiser& unpacker) {
    serialise_fixed(rank, r, unpacker);
    rank.pending = 0;
    rank.overflow = 0;
    model_.open[r] = {};
    enter(rank, r);
    unpack_detached_state(unpacker);
    leave();
}

template <Source S, class Observer>
void RankWorker<S, Observer>::unpack_detached_state(Deserialiser& unpacker) {
    const auto unexpected = unpacker.next<std::uint32_t>();
    std::vector<std::uint32_t> arrived_messages(unpacker.next<std::uint32_t>());
    for (std::uint32_t i = 0; i < arrived_messages.size(); ++i) {
        arrived_messages[i] = unpack_arrived_message(unpacker);
        if (i < unexpected) {
            add_unexpected(arrived_messages[i]);
        }
    }
    std::vector<std::uint32_t> sends(unpacker.next<std::uint32_t>());
    for (std::uint32_t& handle : sends) {
        handle = sends_.add();
        sends_[handle] = {};
        serialise(unpacker, sends_[handle]);
        link(sends_, model_.open[self_].send, handle);
        moved_sends_.add(self_, sends_[handle].number, handle);
    }
    for (auto posted = unpacker.next<std::uint32_t>(); posted > 0; --posted) {
        const auto source = unpacker.next<std::uint32_t>();
        const auto tag = unpacker.next<std::uint32_t>();
        Receive<Cookie> receive;
        serialise(unpacker, receive);
        overflow().posted.add(source, tag, receive);
    }
    for (auto requests = unpacker.next<std::uint32_t>(); requests > 0; --requests) {
        Request<Cookie, Moment>& request = new_request() = {};
        serialise(unpacker, request);
        request.message_class = Message::no_class;  // it costs the same
        request.handle = concerns_arrived_message(request.kind) ? arrived_messages.at(request.handle)
                         : concerns_open_send(request.kind)     ? sends.at(request.handle)
                                                                : request.handle;
        next_request_id_ = request.priority == Priority::protocol
                               ? std::max(next_request_id_, request.ready.op.size + 1)
                               : next_request_id_;
        agenda_.added();
    }
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::unpack_arrived_message(Deserialiser& unpacker) {
    const std::uint32_t handle = arrived_messages_.add();
    ArrivedMessage<Cookie, Moment>& arrived = arrived_messages_[handle];
    arrived = {};
    serialise(unpacker, arrived);
    if (arrived.awaits_data) {
        link(arrived_messages_, model_.open[self_].arrived, handle);
        moved_messages_.add(arrived.source, arrived.number, handle);
    }
    return handle;
}

/// A rank has nothing any more.
template <Source S, class Observer>
void RankWorker<S, Observer>::discard(State& rank, std::uint32_t r) {
    const DetachedState own = detached_state_of(rank, r);
    for (const std::uint32_t handle : own.arrived_messages) {
        arrived_messages_[handle].awaits_data = false;
        arrived_messages_.remove(handle);
    }
    for (const std::uint32_t handle : own.sends) {
        sends_[handle].open = false;
        sends_.remove(handle);
    }
    model_.open[r] = {};
    agenda_.discard(rank.pending);
    if (rank.has_overflow()) {
        Overflow<Cookie, Moment>& overflow = overflows_[rank.overflow];
        overflow.posted.clear();
        overflow.unexpected.clear();
        overflow.requests.clear();
        overflows_.remove(rank.overflow);
    }
}

}  // namespace idlewave
