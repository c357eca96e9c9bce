#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pdes/event.hpp"
#include "pdes/model.hpp"
#include "pdes/window_queue.hpp"

namespace idlewave::pdes {

/// Handles windows of the lookahead one after the other, and within a window one LP after the other: what an LP does
/// in a window reaches no other LP within it, so the order of LPs does not matter (the idea of YAWNS: Nicol, "The cost
/// of conservative synchronization in parallel discrete event simulations", JACM 40(2), 1993).
template <Model M>
class Windowed {
  public:
    using Item = Event<typename M::Payload>;

    Windowed(M& model, std::vector<typename M::State>& states, const std::function<void(Time)>& poll)
        : model_(model), states_(states), poll_(poll), queue_(model.lookahead()), sequences_(states.size(), 0) {}

    void run() {
        Context context{*this, 0, 0};
        for (std::uint32_t lp = 0; lp < states_.size(); ++lp) {
            context.lp = lp;
            model_.start(states_[lp], context);
        }
        std::vector<Item> items;
        std::int64_t window = 0;
        std::uint64_t handled = 0;
        while (queue_.pop(items, window)) {
            context.window_end = queue_.window_end(window);
            handled += items.size();
            if (poll_ && handled >= poll_interval) {
                handled = 0;
                poll_(items.front().time);
            }
            std::sort(items.begin(), items.end(), Earlier{});
            for (std::size_t i = 0; i < items.size();) {
                i = run_lp(items, i, context);
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
            const Item item{time, destination, lp, scheduler.sequences_[lp]++, payload};
            if (time >= window_end) {
                scheduler.queue_.push(item);
            } else if (destination == lp) {
                scheduler.keep(item);
            } else {
                throw LogicError("LP " + std::to_string(lp) + " violates the lookahead: it reaches LP " +
                                 std::to_string(destination) + " at " + std::to_string(time) + " ps, in its own window");
            }
        }
    };

    /// By LP, then in the total order.
    struct Earlier {
        bool operator()(const Item& a, const Item& b) const {
            if (a.destination != b.destination) {
                return a.destination < b.destination;
            }
            if (a.time != b.time) {
                return a.time < b.time;
            }
            return a.source != b.source ? a.source < b.source : a.sequence < b.sequence;
        }
    };

    /// Runs the LP whose events begin at `i` through the window; returns where the next LP's begin.
    std::size_t run_lp(const std::vector<Item>& items, std::size_t i, Context& context) {
        const std::uint32_t lp = items[i].destination;
        typename M::State& state = states_[lp];
        context.lp = lp;
        while (true) {
            const bool given = i < items.size() && items[i].destination == lp;
            if (!given && own_.empty()) {
                return i;
            }
            Item item;
            if (own_.empty() || (given && items[i].order() < own_.back().order())) {
                item = items[i++];
            } else {
                item = own_.back();
                own_.pop_back();
            }
            model_.handle(state, item, context);
            if (!more_at(item.time, items, i, lp)) {
                while (model_.settle(state, item.time, context)) {
                    if (more_at(item.time, items, i, lp)) {
                        break;
                    }
                }
            }
        }
    }

    [[nodiscard]] bool more_at(Time time, const std::vector<Item>& items, std::size_t i, std::uint32_t lp) const {
        return (i < items.size() && items[i].destination == lp && items[i].time == time) ||
               (!own_.empty() && own_.back().time == time);
    }

    /// Keep what an LP sent to itself within the window: few, latest first.
    void keep(const Item& item) {
        const auto place = std::find_if(own_.rbegin(), own_.rend(),
                                        [&item](const Item& other) { return item.order() < other.order(); });
        own_.insert(place.base(), item);
    }

    M& model_;
    std::vector<typename M::State>& states_;
    const std::function<void(Time)>& poll_;
    WindowQueue<typename M::Payload> queue_;
    std::vector<std::uint64_t> sequences_;
    std::vector<Item> own_;
};

}  // namespace idlewave::pdes
