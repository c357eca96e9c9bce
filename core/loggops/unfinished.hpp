#pragma once

#include "loggops/worker.hpp"

/// What is left when nothing can happen any more, from which core/standstill says why.
namespace idlewave {

template <Source S, class Observer>
void RankWorker<S, Observer>::unfinished(std::uint32_t r, const State& rank, Left& left) const {
    const auto receive = [&](std::uint32_t from, std::uint32_t tag, OpIndex op_index) {
        left.add(PendingOp{.rank = r, .op_index = op_index, .peer = from, .tag = tag, .kind = OpKind::recv});
    };
    if (rank.posted.waits) {
        receive(rank.posted_source, rank.posted_tag, rank.posted.op_index);
    }
    std::uint32_t number = 0;
    const auto unexpected = [&](std::uint32_t stray) {
        const Stray<Cookie, Moment>& message = strays_[stray];
        if (message.kind == MessageKind::data) {
            left.add(UnexpectedMessage{
                .size = message.size, .receiver = r, .number = number++, .sender = message.source, .tag = message.tag});
        }
    };
    for (std::uint32_t stray = rank.first_stray(); stray != 0; stray = strays_[stray].next) {
        unexpected(stray);
    }
    if (rank.has_crowd()) {
        const Crowd<Cookie, Moment>& crowd = crowds_[rank.crowd];
        crowd.posted.each([&](const auto& entry) { receive(entry.source, entry.tag, entry.value.op_index); });
        crowd.unexpected.each([&](const auto& entry) { unexpected(entry.value); });
    }
    if (const auto stand = model_.source.stop_position(r, rank.source)) {
        left.add(StuckRank{r, *stand});
    }
}

/// The sends of all of this thread's ranks that still wait for their receivers.
template <Source S, class Observer>
void RankWorker<S, Observer>::unfinished_sends(Left& left) const {
    sends_.each([&left](const OpenSend<Cookie>& send) {
        if (send.open) {
            left.add(PendingOp{.size = send.size,
                               .rank = send.rank,
                               .op_index = send.op.op_index,
                               .peer = send.peer,
                               .tag = send.tag,
                               .kind = OpKind::send});
        }
    });
}

}  // namespace idlewave
