#pragma once

#include "loggops/worker.hpp"

/// What is left when nothing can happen any more, from which core/standstill says why.
namespace idlewave {

template <Source S, class Observer>
void RankWorker<S, Observer>::collect_unfinished(std::uint32_t r, const State& rank, Unfinished& unfinished) const {
    const auto receive = [&](std::uint32_t from, std::uint32_t tag, OpIndex op_index) {
        unfinished.add(PendingOp{.rank = r, .op_index = op_index, .peer = from, .tag = tag, .kind = OpKind::recv});
    };
    if (rank.posted.waits) {
        receive(rank.posted_source, rank.posted_tag, rank.posted.op_index);
    }
    std::uint32_t number = 0;
    const auto unexpected = [&](std::uint32_t arrived) {
        const ArrivedMessage<Cookie, Moment>& message = arrived_messages_[arrived];
        if (message.kind == MessageKind::data) {
            unfinished.add(UnexpectedMessage{
                .size = message.size, .receiver = r, .number = number++, .sender = message.source, .tag = message.tag});
        }
    };
    for (std::uint32_t arrived = rank.first_unexpected(); arrived != 0; arrived = arrived_messages_[arrived].next) {
        unexpected(arrived);
    }
    if (rank.has_overflow()) {
        const Overflow<Cookie, Moment>& overflow = overflows_[rank.overflow];
        overflow.posted.each([&](const auto& entry) { receive(entry.source, entry.tag, entry.value.op_index); });
        overflow.unexpected.each([&](const auto& entry) { unexpected(entry.value); });
    }
    if (const auto stand = model_.source.stop_position(r, rank.source)) {
        unfinished.add(UnfinishedRank{r, *stand});
    }
}

/// The sends of all of this thread's ranks that still wait for their receivers.
template <Source S, class Observer>
void RankWorker<S, Observer>::collect_unfinished_sends(Unfinished& unfinished) const {
    sends_.each([&unfinished](const OpenSend<Cookie>& send) {
        if (send.open) {
            unfinished.add(PendingOp{.size = send.size,
                                     .rank = send.rank,
                                     .op_index = send.op.op_index,
                                     .peer = send.peer,
                                     .tag = send.tag,
                                     .kind = OpKind::send});
        }
    });
}

}  // namespace idlewave
