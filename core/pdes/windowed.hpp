#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pdes/batch.hpp"
#include "pdes/event.hpp"
#include "pdes/lp_record.hpp"
#include "pdes/model.hpp"
#include "pdes/window_queue.hpp"

namespace idlewave::pdes {

/// Handles windows of the lookahead one after the other, and within a window one LP after the other: what an LP does
/// in a window reaches no LP within it, so the order of LPs does not matter (the idea of YAWNS: Nicol, "The cost of
/// conservative synchronization in parallel discrete event simulations", JACM 40(2), 1993).
template <Model M>
class Windowed {
  public:
    using Item = Event<typename M::Payload>;

    Windowed(M& model, std::vector<typename M::State>& states, const std::function<void(Time)>& poll)
        : model_(model),
          states_(states),
          poll_(poll),
          queue_(model.lookahead()),
          batch_(static_cast<std::uint32_t>(states.size())),
          lps_(states.size()) {}

    void run() {
        Context context{*this, 0, 0};
        for (std::uint32_t lp = 0; lp < states_.size(); ++lp) {
            context.lp = lp;
            set_timer(lp, model_.start(states_[lp], context));
        }
        std::int64_t window = 0;
        std::uint64_t handled = 0;
        while (queue_.pop(batch_.items(), window)) {
            context.window_end = queue_.window_end(window);
            handled += batch_.items().size();
            if (poll_ && handled >= poll_interval) {
                handled = 0;
                poll_(batch_.items().front().time);
            }
            fetch_coming();
            batch_.sort();
            while (!batch_.done()) {
                fetch_ahead();
                run_lp(context);
            }
        }
    }

  private:
    static constexpr std::uint64_t poll_interval = 1 << 14;

    struct Context {
        Windowed& scheduler;
        std::uint32_t lp;
        Time window_end;

        [[nodiscard]] std::uint32_t self() const { return lp; }
        void send(std::uint32_t destination, Time time, const typename M::Payload& payload) {
            if (time < window_end) {
                throw LogicError("LP " + std::to_string(lp) + " violates the lookahead: it reaches LP " +
                                 std::to_string(destination) + " at " + std::to_string(time) +
                                 " ps, in its own window");
            }
            scheduler.queue_.push({time, destination, lp, scheduler.lps_[lp].sequence++, payload});
        }
    };

    /// Runs the next LP through the window: its events, and what it does by itself.
    void run_lp(Context& context) {
        const std::uint32_t lp = batch_.lp(0);
        const std::span<const Item> own = batch_.take();
        typename M::State& state = states_[lp];
        context.lp = lp;
        auto event = own.begin();
        Time next = never;
        while (true) {
            const Time now = event == own.end() ? next : std::min(next, event->time);
            if (now >= context.window_end) {
                break;
            }
            for (; event != own.end() && event->time == now; ++event) {
                if (event->source == Item::timer) {
                    lps_[lp].timer = lps_[lp].timer == now ? never : lps_[lp].timer;
                } else {
                    model_.handle(state, *event, context);
                }
            }
            do {
                next = model_.settle(state, now, context);
            } while (next <= now);
        }
        set_timer(lp, next);
    }

    /// A timer beyond the window is an event; within the window none is needed.
    void set_timer(std::uint32_t lp, Time time) {
        if (time < lps_[lp].timer) {
            lps_[lp].timer = time;
            queue_.push({time, lp, Item::timer, 0, {}});
        }
    }

    /// Bring what comes soon into the cache: an LP's event, and an LP's state.
    void fetch_ahead() const {
        constexpr std::size_t event_distance = 12;
        constexpr std::size_t state_distance = 3;
        __builtin_prefetch(&batch_.item(event_distance));
        if (batch_.left() > state_distance) {
            fetch_state(batch_.lp(state_distance));
        }
    }

    /// The same for the first LPs of the next window: where events are sparse, a window has few.
    void fetch_coming() const {
        constexpr std::size_t most = 4;
        const auto coming = queue_.coming();
        for (const Item& item : coming.first(std::min(most, coming.size()))) {
            fetch_state(item.destination);
        }
    }

    void fetch_state(std::uint32_t lp) const {
        constexpr std::size_t line = 64;
        const auto* state = reinterpret_cast<const char*>(&states_[lp]);
        for (std::size_t byte = 0; byte < sizeof(typename M::State); byte += line) {
            __builtin_prefetch(state + byte, 1);
        }
        __builtin_prefetch(&lps_[lp], 1);
    }

    M& model_;
    std::vector<typename M::State>& states_;
    const std::function<void(Time)>& poll_;
    WindowQueue<typename M::Payload> queue_;
    Batch<typename M::Payload> batch_;
    std::vector<LpRecord> lps_;
};

}  // namespace idlewave::pdes
