#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "pdes/partition.hpp"

/// Going through a cell: each LP of a block for which there is something is visited once, and does all that belongs
/// there.
namespace idlewave::pdes {

/// One block of LPs in `cell`.
template <Model M, class Port>
void Partition<M, Port>::go_through(std::int64_t cell) {
    frontier_ = std::max(frontier_, cell);
    const std::uint32_t block = calendar_.take_block(cell);
    batch_.gather(calendar_, block, cell);
    if (!lookahead_) {
        let_visited_wait(cell, block << grid_.block_shift);
    }
    going_through_ = cell;
    block_ = block;
    run_block(cell, block << grid_.block_shift);
    going_through_ = none;
    for (const Record& told : std::exchange(meanwhile_, {})) {
        put(told);
    }
    outbox_.send_all();
}

/// Whether visits in `cell` are written down: where they may be undone, and where what an LP puts out has to wait for
/// what it has put out before, which lies in the log yet though that is certain, too.
template <Model M, class Port>
bool Partition<M, Port>::is_logged(std::int64_t cell) const {
    return cell > safe_ || (emits && !log_.empty());
}

template <Model M, class Port>
void Partition<M, Port>::run_block(std::int64_t cell, std::uint32_t first_lp) {
    constexpr std::size_t far_ahead = Batch::margin;
    constexpr std::size_t ahead = 8;
    const bool logged = is_logged(cell);
    const Time begins = grid_.begin_of(cell);
    Context context{*this, grid_.begin_of(cell + 1), cell};
    context.logged = logged;
    context.journal = journals<M> && logged ? &journal_ : nullptr;
    const std::span<const Stored> events = batch_.events();
    const Stored* event = events.data();
    const Stored* const end = event + events.size();
    while (event != end) {
        __builtin_prefetch(&lps_[first_lp + event[far_ahead].lp], 1);
        __builtin_prefetch(&last_[first_lp + event[far_ahead].lp], 1);
        if (event[far_ahead].code == Stored::in_parcel) {
            parcels_.prefetch(event[far_ahead].sequence);
        }
        const std::uint32_t soon = first_lp + event[ahead].lp;
        worker_.prefetch(lps_[soon].state, soon);
        const Stored* const first = event++;
        bool anti = first->code == Stored::anti;
        while (event != end && event->lp == first->lp) {
            anti = anti || event->code == Stored::anti;
            ++event;
        }
        context.enter(first_lp + first->lp);
        context.record = &lps_[context.local];
        const std::span<const Stored> told(first, event);
        if constexpr (mixes) {
            if (cell > safe_ && lookahead_ && is_certain_only(context, told)) {
                hold(context, told);
                continue;
            }
        }
        if (traffic_.counts()) [[unlikely]] {
            traffic_.count(context.local, context.lp, told);
        }
        if (lookahead_ || !waits_again(context.local)) [[likely]] {
            visit(context, anti ? annihilation_.left_of(told, begins) : told);
        }
    }
}

/// Whether an LP, as it is and with what it is told, does nothing before that is certain.
template <Model M, class Port>
bool Partition<M, Port>::is_certain_only(const Context& context, std::span<const Stored> told) const {
    if (held_.has(context.local) || worker_.certain_only(context.record->state, context.lp)) {
        return true;
    }
    return std::any_of(told.begin(), told.end(), [this](const Stored& stored) {
        return stored.code == Stored::in_parcel && worker_.certain_only(parcels_[stored.sequence].payload);
    });
}

template <Model M, class Port>
void Partition<M, Port>::hold(const Context& context, std::span<const Stored> told) {
    const Time begins = grid_.begin_of(context.cell);
    for (const Stored& stored : told) {
        held_.add(record_of(stored, begins, context.local), context.cell);
    }
}

/// An LP does what belongs into a cell.
template <Model M, class Port>
[[gnu::always_inline]] inline void Partition<M, Port>::visit(Context& context, std::span<const Stored> told) {
    context.withdrawn = withdrawals_.find(context.local);
    if (!told.empty()) [[likely]] {
        make(context, told);
    }
    if (context.withdrawn != nullptr) [[unlikely]] {
        settle(context);
    }
}

template <Model M, class Port>
[[gnu::always_inline]] inline void Partition<M, Port>::make(Context& context, std::span<const Stored> told) {
    const Time begins = grid_.begin_of(context.cell);
    if (check_) [[unlikely]] {
        check_visit(context, told, begins);
    }
    if (!context.logged) {
        run_lp(context, told, begins);
        for (const Stored& stored : told) {
            opening_.close(stored);
        }
        statistics_.committed += worker_.counted() - counted_;
        counted_ = worker_.counted();
    } else {
        clear_scratch();
        Visit* made = remember(context, told);
        run_lp(context, told, begins);
        keep(made, context);
    }
    if (!late_.empty()) [[unlikely]] {
        put_late();
    }
}

template <Model M, class Port>
inline void Partition<M, Port>::clear_scratch() {
    sent_.clear();
    sent_payloads_.clear();
    journal_.clear();
    emitted_.clear();
}

template <Model M, class Port>
[[gnu::always_inline]] inline void Partition<M, Port>::run_lp(Context& context, std::span<const Stored> told,
                                                              Time begins) {
    Lp<State>& lp = *context.record;
    Time next = never;
    visiting_ = true;
    if (told.size() == 1 && told.front().source != Stored::timer) [[likely]] {
        next = worker_.run_one(lp.state, opening_.open(told.front(), begins), context.until, context);
    } else {
        const std::span<const Item> events = opening_.open_all(lp, told, begins, context.until, grid_);
        for (std::size_t i = 1; i < events.size(); ++i) {
            statistics_.ties += events[i].time == events[i - 1].time ? 1 : 0;
        }
        next = worker_.run(lp.state, events, context.until, context);
    }
    visiting_ = false;
    set_timer(lp, context.local, next);
}

template <Model M, class Port>
inline void Partition<M, Port>::set_timer(Lp<State>& lp, std::uint32_t local, Time time) {
    const std::int64_t cell = grid_.cell_of(time);
    if (time != never && lp.wants_visit_in(cell)) [[unlikely]] {
        push({time, local, Stored::timer, 0, 0}, cell);
    }
}

/// Without a lookahead, before a block goes through a cell: of LPs that have been there already all waits again,
/// what they had been told and, after that, what they are told now.
template <Model M, class Port>
[[gnu::noinline]] void Partition<M, Port>::let_visited_wait(std::int64_t cell, std::uint32_t first_lp) {
    ++gathered_;
    const std::span<const Stored> events = batch_.events();
    const Time begins = grid_.begin_of(cell);
    for (const Stored& stored : events) {
        const std::uint32_t local = first_lp + stored.lp;
        if (last_[local].cell_after > cell) {
            ++statistics_.primary_rollbacks;
            undo_from(local, cell);
            waiting_since_[local] = gathered_;
        }
        if (waits_again(local)) {
            push(record_of(stored, begins, local), cell);
        }
    }
    take_back_all();
}

/// What an LP has sent up to this cell in visits that were undone, and not again, is taken back.
template <Model M, class Port>
[[gnu::noinline]] void Partition<M, Port>::settle(const Context& context) {
    context.withdrawn->settle(context.cell, [this](const SentBy& old) {
        take_back(old);
        take_back_all();
    });
    if (context.withdrawn->empty()) {
        withdrawals_.remove(context.local);
    }
}

}  // namespace idlewave::pdes
