#pragma once

#include <string>

#include "loggops/model.hpp"

/// What is left when nothing can happen any more: the words of a deadlock.
namespace idlewave {

template <Source S, class Log>
void LogGops<S, Log>::unfinished(std::uint32_t r, const State& rank, std::vector<Waiting>& waiting) const {
    const auto tag_of = [](std::uint32_t tag) { return tag == any ? "any tag" : "tag " + std::to_string(tag); };
    for (const Receive& receive : rank.matching.posted()) {
        const Op& op = receive.op;
        const std::string source = op.peer == any ? "any rank" : "rank " + std::to_string(op.peer);
        waiting.push_back({r, source_.name(r, receive.place),
                           "waits for a message from " + source + " with " + tag_of(op.tag) + ", which nobody sends"});
    }
    rank.sends.each([&](const RendezvousSend& send) {
        waiting.push_back({r, source_.name(r, send.place),
                           "waits for rank " + std::to_string(send.op.peer) + " to receive its " +
                               std::to_string(send.op.size) + " bytes with " + tag_of(send.op.tag) + " (rendezvous)"});
    });
    for (const std::uint32_t handle : rank.matching.unexpected()) {
        const Arrived& message = rank.arrived[handle];
        if (message.kind == MessageKind::data) {
            waiting.push_back({r, "a message",
                               "from rank " + std::to_string(message.source) + " with " + tag_of(message.tag) +
                                   " has arrived, and is received by no op"});
        }
    }
    source_.unfinished(r, rank.source, waiting);
}

}  // namespace idlewave
