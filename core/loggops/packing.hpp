#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "loggops/kept_parts.hpp"
#include "loggops/worker.hpp"

/// A rank as a row of bytes, and back: what a visit changed is undone so, and so a rank goes to another thread, another
/// process, or a file. In the bytes its messages and sends are known by their order.
namespace idlewave {

/// What lies apart from a rank, by handles.
template <Source S, class Observer>
struct RankWorker<S, Observer>::Belongings {
    std::vector<std::uint32_t> strays;  ///< first those that are unexpected, the oldest first
    std::uint32_t unexpected = 0;       ///< so many of them
    std::vector<std::uint32_t> sends;
    std::vector<Request<Cookie, Moment>> requests;
};

/// A handle's place in a list, and back: how a request knows what it is about in the bytes.
class HandlePlaces {
  public:
    explicit HandlePlaces(const std::vector<std::uint32_t>& handles) {
        for (std::uint32_t place = 0; place < handles.size(); ++place) {
            places_.emplace_back(handles[place], place);
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
void RankWorker<S, Observer>::keep_plain(State& rank, std::uint32_t r, Archive& archive) {
    archive(rank.clocks);
    if constexpr (requires { model_.source.serialise(r, rank.source, archive); }) {
        model_.source.serialise(r, rank.source, archive);
    } else {
        archive(rank.source);
    }
    archive(rank.posted_source);
    archive(rank.posted_tag);
    keep_in(archive, rank.posted);
    archive(model_.processed[r]);
    if (noisy_) {
        archive(model_.noise[r]);
    }
    if (!model_.clocks.empty()) {
        for (std::uint32_t i = 0; i < model_.layout.size(); ++i) {
            archive(model_.clocks_of(r, rank)[i]);
        }
    }
}

template <Source S, class Observer>
auto RankWorker<S, Observer>::belongings_of(const State& rank, std::uint32_t r) const -> Belongings {
    Belongings found;
    const auto add = [&](const Request<Cookie, Moment>& request) { found.requests.push_back(request); };
    agenda_.each(rank.pending, add);
    for (std::uint32_t stray = rank.first_stray(); stray != 0; stray = strays_[stray].next) {
        found.strays.push_back(stray);
    }
    if (rank.has_crowd()) {
        const Crowd<Cookie, Moment>& crowd = crowds_[rank.crowd];
        crowd.requests.each(add);
        crowd.unexpected.each([&](const auto& entry) { found.strays.push_back(entry.value); });
    }
    found.unexpected = static_cast<std::uint32_t>(found.strays.size());
    for (std::uint32_t stray = model_.open[r].stray; stray != 0; stray = strays_[stray].next) {
        found.strays.push_back(stray);
    }
    for (const Request<Cookie, Moment>& request : found.requests) {
        if (is_about_stray(request.work) && strays_[request.handle].matched) {
            found.strays.push_back(request.handle);
        }
    }
    for (std::uint32_t send = model_.open[r].send; send != 0; send = sends_[send].next) {
        found.sends.push_back(send);
    }
    // In an order that is the same wherever the rank has been.
    std::sort(found.requests.begin(), found.requests.end(), [](const auto& a, const auto& b) { return a.before(b); });
    std::sort(found.strays.begin() + found.unexpected, found.strays.end(), [this](std::uint32_t a, std::uint32_t b) {
        return std::pair(strays_[a].source, strays_[a].number) < std::pair(strays_[b].source, strays_[b].number);
    });
    std::sort(found.sends.begin(), found.sends.end(),
              [this](std::uint32_t a, std::uint32_t b) { return sends_[a].number < sends_[b].number; });
    return found;
}

template <Source S, class Observer>
void RankWorker<S, Observer>::pack(const State& rank, std::uint32_t r, Serialiser& packer) {
    keep_plain(const_cast<State&>(rank), r, packer);
    const Belongings own = belongings_of(rank, r);
    packer(own.unexpected);
    packer(static_cast<std::uint32_t>(own.strays.size()));
    for (const std::uint32_t handle : own.strays) {
        keep_in(packer, strays_[handle]);
    }
    packer(static_cast<std::uint32_t>(own.sends.size()));
    for (const std::uint32_t handle : own.sends) {
        keep_in(packer, sends_[handle]);
    }
    const std::uint32_t posted = rank.has_crowd() ? crowds_[rank.crowd].posted.size() : 0;
    packer(posted);
    if (posted > 0) {
        crowds_[rank.crowd].posted.each([&](const auto& entry) {
            packer(entry.source);
            packer(entry.tag);
            Receive<Cookie> receive = entry.value;
            keep_in(packer, receive);
        });
    }
    packer(static_cast<std::uint32_t>(own.requests.size()));
    const HandlePlaces strays(own.strays);
    const HandlePlaces sends(own.sends);
    std::uint64_t asked = 0;
    for (Request<Cookie, Moment> request : own.requests) {
        if (request.turn == Turn::protocol) {
            request.ready.op.size = asked++;  // their order is what counts, and they are in it
        }
        request.handle = is_about_stray(request.work)  ? strays.of(request.handle)
                         : is_about_send(request.work) ? sends.of(request.handle)
                                                       : request.handle;
        keep_in(packer, request);
    }
}

template <Source S, class Observer>
void RankWorker<S, Observer>::unpack(State& rank, std::uint32_t r, Deserialiser& unpacker) {
    keep_plain(rank, r, unpacker);
    rank.pending = 0;
    rank.crowd = 0;
    model_.open[r] = {};
    enter(rank, r);
    unpack_belongings(unpacker);
    leave();
}

template <Source S, class Observer>
void RankWorker<S, Observer>::unpack_belongings(Deserialiser& unpacker) {
    const auto unexpected = unpacker.next<std::uint32_t>();
    std::vector<std::uint32_t> strays(unpacker.next<std::uint32_t>());
    for (std::uint32_t i = 0; i < strays.size(); ++i) {
        strays[i] = unpack_stray(unpacker);
        if (i < unexpected) {
            add_unexpected(strays[i]);
        }
    }
    std::vector<std::uint32_t> sends(unpacker.next<std::uint32_t>());
    for (std::uint32_t& handle : sends) {
        handle = sends_.add();
        sends_[handle] = {};
        keep_in(unpacker, sends_[handle]);
        link(sends_, model_.open[self_].send, handle);
        moved_sends_.add(self_, sends_[handle].number, handle);
    }
    for (auto posted = unpacker.next<std::uint32_t>(); posted > 0; --posted) {
        const auto source = unpacker.next<std::uint32_t>();
        const auto tag = unpacker.next<std::uint32_t>();
        Receive<Cookie> receive;
        keep_in(unpacker, receive);
        crowd().posted.add(source, tag, receive);
    }
    for (auto requests = unpacker.next<std::uint32_t>(); requests > 0; --requests) {
        Request<Cookie, Moment>& request = new_request() = {};
        keep_in(unpacker, request);
        request.message_class = Message::no_class;  // it costs the same
        request.handle = is_about_stray(request.work)  ? strays.at(request.handle)
                         : is_about_send(request.work) ? sends.at(request.handle)
                                                       : request.handle;
        asked_ = request.turn == Turn::protocol ? std::max(asked_, request.ready.op.size + 1) : asked_;
        agenda_.added();
    }
}

template <Source S, class Observer>
std::uint32_t RankWorker<S, Observer>::unpack_stray(Deserialiser& unpacker) {
    const std::uint32_t handle = strays_.add();
    Stray<Cookie, Moment>& stray = strays_[handle];
    stray = {};
    keep_in(unpacker, stray);
    if (stray.awaits_data) {
        link(strays_, model_.open[self_].stray, handle);
        moved_strays_.add(stray.source, stray.number, handle);
    }
    return handle;
}

/// A rank has nothing any more.
template <Source S, class Observer>
void RankWorker<S, Observer>::discard(State& rank, std::uint32_t r) {
    const Belongings own = belongings_of(rank, r);
    for (const std::uint32_t handle : own.strays) {
        strays_[handle].awaits_data = false;
        strays_.remove(handle);
    }
    for (const std::uint32_t handle : own.sends) {
        sends_[handle].open = false;
        sends_.remove(handle);
    }
    model_.open[r] = {};
    agenda_.discard(rank.pending);
    if (rank.has_crowd()) {
        Crowd<Cookie, Moment>& crowd = crowds_[rank.crowd];
        crowd.posted.clear();
        crowd.unexpected.clear();
        crowd.requests.clear();
        crowds_.remove(rank.crowd);
    }
}

}  // namespace idlewave
