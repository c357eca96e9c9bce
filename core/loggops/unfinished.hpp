#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "loggops/worker.hpp"

/// What is left when nothing can happen any more: the words of a deadlock.
namespace idlewave {

template <Source S, class Observer>
void RankWorker<S, Observer>::unfinished(std::uint32_t r, const State& rank, std::vector<Waiting>& waiting) const {
    const auto tag_of = [](std::uint32_t tag) { return tag == any ? "any tag" : "tag " + std::to_string(tag); };
    const auto receive = [&](std::uint32_t from, std::uint32_t tag, Place place) {
        const std::string source = from == any ? "any rank" : "rank " + std::to_string(from);
        waiting.push_back({r, model_.source.name(r, place),
                           "waits for a message from " + source + " with " + tag_of(tag) + ", which nobody sends"});
    };
    if (rank.posted.waits) {
        receive(rank.posted_source, rank.posted_tag, rank.posted.place);
    }
    const auto unexpected = [&](std::uint32_t stray) {
        const Stray<Cookie, Moment>& message = strays_[stray];
        if (message.kind == MessageKind::data) {
            waiting.push_back({r, "a message",
                               "from rank " + std::to_string(message.source) + " with " + tag_of(message.tag) +
                                   " has arrived, and is received by no op"});
        }
    };
    for (std::uint32_t stray = rank.first_stray(); stray != 0; stray = strays_[stray].next) {
        unexpected(stray);
    }
    if (rank.has_crowd()) {
        const Crowd<Cookie, Moment>& crowd = crowds_[rank.crowd];
        crowd.posted.each([&](const auto& entry) { receive(entry.source, entry.tag, entry.value.place); });
        crowd.unexpected.each([&](const auto& entry) { unexpected(entry.value); });
    }
    model_.source.unfinished(r, rank.source, waiting);
}

/// The sends of all of this thread's ranks that still wait for their receivers.
template <Source S, class Observer>
void RankWorker<S, Observer>::unfinished_sends(std::vector<Waiting>& waiting) const {
    std::vector<const OpenSend<Cookie>*> open;
    sends_.each([&open](const OpenSend<Cookie>& send) {
        if (send.open) {
            open.push_back(&send);
        }
    });
    std::sort(open.begin(), open.end(), [](const OpenSend<Cookie>* a, const OpenSend<Cookie>* b) {
        return std::pair(a->rank, a->op.place) < std::pair(b->rank, b->op.place);
    });
    for (const OpenSend<Cookie>* send : open) {
        const std::string tag = send->tag == any ? "any tag" : "tag " + std::to_string(send->tag);
        waiting.push_back({send->rank, model_.source.name(send->rank, send->op.place),
                           "waits for rank " + std::to_string(send->peer) + " to receive its " +
                               std::to_string(send->size) + " bytes with " + tag + " (rendezvous)"});
    }
}

}  // namespace idlewave
