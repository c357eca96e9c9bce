#pragma once

#include "loggops/worker.hpp"

/// A computation, and a send of any size, from start to end (docs/model.md: "calc", "send"); a receive is posted in
/// meeting.hpp.
namespace idlewave {

template <Source S, class Observer>
void RankWorker<S, Observer>::calc(const Ready& ready, const Moment& now) {
    const Moment end = begin_calc(ready, now);
    op_started(ready, now);
    op_ended(ready.op_index, ready.cookie, end);
}
/// Returns when it ends.
template <Source S, class Observer>
auto RankWorker<S, Observer>::begin_calc(const Ready& ready, const Moment& now) -> Moment {
    record_start(ready, now);
    Time work = 0;
    if (__builtin_mul_overflow(ready.op.size, picoseconds_per_nanosecond, &work)) {
        throw TimeOverflow();
    }
    const NoiseReach& reach = model_.machine.noise_reach;
    const bool reached = noisy_ && (ready.op.reduction ? reach.reduction : reach.calc);
    const Time begin = time_of(now);
    const Activity activity{.kind = ActivityKind::computation,
                            .amount = static_cast<std::uint64_t>(work),
                            .op_index = ready.op_index,
                            .in_detour = Observer::observes && reached && is_in_detour(begin)};
    const auto ref = model_.observer.begin(self_, now, activity, messages_);
    const Time done = reached ? model_.machine.noise.finish(model_.noise[self_], begin, work) : later(begin, work);
    const Moment end = model_.observer.at(ref, Point::computed, done);
    free_times()[Layout::cpu(ready.op.cpu)] = end;
    return end;
}

template <Source S, class Observer>
template <class Context>
void RankWorker<S, Observer>::send(const Ready& ready, const Moment& now, Context& context) {
    if (is_eager(ready.op)) {
        const Moment end = begin_send(ready, now, context);
        op_started(ready, now);
        op_ended(ready.op_index, ready.cookie, end);
    } else {
        record_start(ready, now);
        op_started(ready, now);
        request_to_send(ready, now, context);
    }
}
/// Returns when it ends.
template <Source S, class Observer>
template <class Context>
[[gnu::always_inline]] inline auto RankWorker<S, Observer>::begin_send(const Ready& ready, const Moment& now,
                                                                       Context& context) -> Moment {
    record_start(ready, now);
    return send_eagerly(ready, now, context);
}

}  // namespace idlewave
