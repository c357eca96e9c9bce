#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pdes/partition.hpp"

/// How a partition goes on, step by step: as far as it may, asking for GVT from time to time, and what follows from a
/// new GVT.
namespace idlewave::pdes {

template <Model M, class Port>
void Partition<M, Port>::begin() {
    const Time end = lookahead_ ? grid_.begin_of(1) : 0;
    Context context{*this, end, 0};
    for (std::uint32_t i = 0; i < lps_.size(); ++i) {
        context.enter(i);
        Lp<State>& lp = lps_.make(i);
        context.record = &lp;
        set_timer(lp, i, worker_.start(lp.state, end, context));
    }
    counted_ = worker_.counted();
    statistics_.committed += counted_;
    outbox_.send_all();
}

template <Model M, class Port>
Step Partition<M, Port>::step() {
    receive_mails();
    if (gvt_.poll(port_, [this] { return standing(); })) {
        if (gvt_.cell() >= stop_ && gvt_.told_from() == Gvt::nothing) {
            log_.commit_before(Gvt::nothing, [this](Visit& visit) { commit(visit); });
            return Step::ended;
        }
        know_gvt();
    }
    const std::int64_t cell = first_waiting();
    const bool may_go = cell < calendar_.near_end() && cell <= limit() && has_room(cell);
    if (may_go) {
        go_through(cell);
        handled_since_ += batch_.size();
        handled_ += batch_.size();
    }
    if (!gvt_.asking() && (!may_go || handled_since_ >= throttle_.interval())) {
        outbox_.send_all();
        handled_since_ = 0;
        gvt_.begin(port_, standing());
    }
    return may_go ? Step::went_on : Step::waited;
}

template <Model M, class Port>
Gvt::Standing Partition<M, Port>::standing() {
    return {.waiting = std::min(first_waiting(), held_.first()),
            .handled = static_cast<std::int64_t>(handled_),
            .wants_pause = wants_pause_};
}

/// The last cell that may be gone through.
template <Model M, class Port>
std::int64_t Partition<M, Port>::limit() const {
    const std::int64_t last =
        advance_ == Advance::conservative ? safe_ : std::max(safe_, gvt_.cell() + throttle_.cells_ahead());
    return std::min(last, stop_ - 1);
}

/// Where the log is full, only what is committed next may go on; the log then grows, if it has to.
template <Model M, class Port>
bool Partition<M, Port>::has_room(std::int64_t cell) const {
    return log_.bytes_in_use() < log_bytes_ || cell <= std::max(safe_, gvt_.cell());
}

/// What follows from a new GVT.
template <Model M, class Port>
void Partition<M, Port>::know_gvt() {
    const std::int64_t gvt = gvt_.cell();
    if (stop_ == Gvt::nothing && (gvt_.cut().goes_on == 0 || is_uneven(gvt_.cut()))) {
        paused_as_uneven_ = is_uneven(gvt_.cut());
        stop_ = gvt + Throttle::furthest + 1;  // nobody was further
    }
    log_.commit_before(gvt, [this](Visit& visit) { commit(visit); });
    calendar_.advance(gvt);
    if (lookahead_) {
        safe_ = std::min(gvt_.told_from() - 1, gvt);
    }
    release_held(safe_);
    throttle_.adapt(worker_.counted(), statistics_.rolled_back);
    if (series_.is_next()) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun_;
        series_.add(
            {since.count(), grid_.begin_of(gvt), statistics_.committed, statistics_.rolled_back, log_.bytes_in_use()});
    }
}

/// The events held for cells up to `last` go back into the calendar queue.
template <Model M, class Port>
void Partition<M, Port>::release_held(std::int64_t last) {
    held_.release_to(last, [this](std::vector<Record> events, std::int64_t cell) {
        if (calendar_.has(cell)) {
            append_later_events(events, cell);
        }
        for (const Record& event : events) {
            push(event, cell);
        }
    });
}

/// Moves the events that wait in the buckets of the `held` ones of `cell` behind them. They were sent later, and may be
/// anti-messages, which have to come after the events that they cancel.
template <Model M, class Port>
void Partition<M, Port>::append_later_events(std::vector<Record>& held, std::int64_t cell) {
    const Time begins = grid_.begin_of(cell);
    const std::size_t count = held.size();
    std::uint32_t moved = grid_.blocks;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t block = held[i].lp >> grid_.block_shift;
        if (block == moved) {
            continue;
        }
        moved = block;
        batch_.gather(calendar_, block, cell);
        for (const Stored& stored : batch_.events()) {
            held.push_back(record_of(stored, begins, (block << grid_.block_shift) + stored.lp));
        }
    }
}

/// Whether one partition has had so many more events than the others that LPs had better move.
template <Model M, class Port>
bool Partition<M, Port>::is_uneven(const Cut& cut) const {
    const auto handled = static_cast<std::uint64_t>(cut.handled);

    return pause_if_uneven_after_ > 0 && handled >= pause_if_uneven_after_ &&
           static_cast<double>(-cut.busiest) * placement_.partitions() > uneven_ * static_cast<double>(handled);
}

}  // namespace idlewave::pdes
