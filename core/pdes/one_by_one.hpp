#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/lp_record.hpp"
#include "pdes/model.hpp"

namespace idlewave::pdes {

/// The plain scheduler: a heap, and the earliest event first. It needs no lookahead.
template <Model M>
class OneByOne {
  public:
    using Item = Event<typename M::Payload>;

    OneByOne(M& model, std::vector<typename M::State>& states, const std::function<void(Time)>& poll)
        : model_(model), states_(states), poll_(poll), lps_(states.size()) {}

    void run() {
        Context context{*this, 0};
        for (std::uint32_t lp = 0; lp < states_.size(); ++lp) {
            context.lp = lp;
            set_timer(lp, model_.start(states_[lp], context));
        }
        std::uint64_t handled = 0;
        while (!pending_.empty()) {
            const Time now = pending_.top().time;
            const std::uint32_t lp = pending_.top().destination;
            if (poll_ && (++handled & 0xfff) == 0) {
                poll_(now);
            }
            context.lp = lp;
            Time next = now;
            do {
                while (next_is(now, lp)) {
                    const Item item = pending_.top();
                    pending_.pop();
                    if (item.source == Item::timer) {
                        lps_[lp].timer = lps_[lp].timer == now ? never : lps_[lp].timer;
                    } else {
                        model_.handle(states_[lp], item, context);
                    }
                }
                next = model_.settle(states_[lp], now, context);
            } while (next <= now && !earlier_lp_is(now, lp));
            set_timer(lp, std::max(next, now));
        }
    }

  private:
    struct Context {
        OneByOne& scheduler;
        std::uint32_t lp;

        [[nodiscard]] std::uint32_t self() const { return lp; }
        void send(std::uint32_t destination, Time time, const typename M::Payload& payload) {
            scheduler.pending_.push({time, destination, lp, scheduler.lps_[lp].sequence++, payload});
        }
    };

    struct Later {
        bool operator()(const Item& a, const Item& b) const { return a.order() > b.order(); }
    };

    void set_timer(std::uint32_t lp, Time time) {
        if (time < lps_[lp].timer) {
            lps_[lp].timer = time;
            pending_.push({time, lp, Item::timer, 0, {}});
        }
    }

    [[nodiscard]] bool next_is(Time time, std::uint32_t lp) const {
        return !pending_.empty() && pending_.top().time == time && pending_.top().destination == lp;
    }

    /// Without a lookahead an LP may be told something at the very time at which a later one goes on: it comes first.
    [[nodiscard]] bool earlier_lp_is(Time time, std::uint32_t lp) const {
        return !pending_.empty() && pending_.top().time == time && pending_.top().destination < lp;
    }

    M& model_;
    std::vector<typename M::State>& states_;
    const std::function<void(Time)>& poll_;
    std::vector<LpRecord> lps_;
    std::priority_queue<Item, std::vector<Item>, Later> pending_;
};

}  // namespace idlewave::pdes
