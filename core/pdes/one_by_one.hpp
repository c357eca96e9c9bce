#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "pdes/event.hpp"
#include "pdes/model.hpp"

namespace idlewave::pdes {

/// The plain scheduler: a heap, and the earliest event first. It needs no lookahead.
template <Model M>
class OneByOne {
  public:
    using Item = Event<typename M::Payload>;

    OneByOne(M& model, std::vector<typename M::State>& states, const std::function<void(Time)>& poll)
        : model_(model), states_(states), poll_(poll), sequences_(states.size(), 0) {}

    void run() {
        Context context{*this, 0};
        for (std::uint32_t lp = 0; lp < states_.size(); ++lp) {
            context.lp = lp;
            model_.start(states_[lp], context);
        }
        std::uint64_t handled = 0;
        while (!pending_.empty()) {
            const Time now = pending_.top().time;
            const std::uint32_t lp = pending_.top().destination;
            if (poll_ && (++handled & 0xfff) == 0) {
                poll_(now);
            }
            context.lp = lp;
            do {
                while (next_is(now, lp)) {
                    const Item item = pending_.top();
                    pending_.pop();
                    model_.handle(states_[lp], item, context);
                }
            } while (model_.settle(states_[lp], now, context));
        }
    }

  private:
    struct Context {
        OneByOne& scheduler;
        std::uint32_t lp;

        [[nodiscard]] std::uint32_t self() const { return lp; }
        void send(std::uint32_t destination, Time time, const typename M::Payload& payload) {
            scheduler.pending_.push({time, destination, lp, scheduler.sequences_[lp]++, payload});
        }
    };

    struct Later {
        bool operator()(const Item& a, const Item& b) const { return a.order() > b.order(); }
    };

    [[nodiscard]] bool next_is(Time time, std::uint32_t lp) const {
        return !pending_.empty() && pending_.top().time == time && pending_.top().destination == lp;
    }

    M& model_;
    std::vector<typename M::State>& states_;
    const std::function<void(Time)>& poll_;
    std::vector<std::uint64_t> sequences_;
    std::priority_queue<Item, std::vector<Item>, Later> pending_;
};

}  // namespace idlewave::pdes
