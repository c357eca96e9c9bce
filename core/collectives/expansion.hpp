#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/step.hpp"
#include "goal/listing.hpp"

namespace idlewave {

/// Writes a rank's ops out, one after the other, with what each has to wait for.
class Expansion {
  public:
    struct Met {
        Place place;
        Edge edge;
    };
    using Gate = std::vector<Met>;  ///< what must have happened before the next op may start

    [[nodiscard]] Gate& gate() { return gate_; }

    Place add(const Op& op, const Gate& gate) {
        const auto place = static_cast<Place>(listing_.ops.size());
        listing_.ops.push_back(op);
        for (const Met& met : gate) {
            listing_.requirements.push_back({place, met.place, met.edge});
        }
        return place;
    }

    /// Adds a collective's ops, each as `op_of` makes it from a step's, and returns the gate behind it.
    template <class OpOf>
    Gate beside(StepFunction function, const CollectiveCall& call, OpOf op_of) {
        Gate gate = gate_;
        Gate open;
        for_each_step(function, call, [&](const Step& step) {
            if (step.kind == Step::Kind::join) {
                merge(gate, open);
                open.clear();
            } else if (step.kind == Step::Kind::op) {
                const Place place = add(op_of(step.op()), gate);
                if (step.op_kind == OpKind::calc) {
                    gate = {{place, Edge::end}};
                } else {
                    gate = {{place, Edge::start}};
                    open.push_back({place, Edge::end});
                }
            }
            if (step.joins) {
                merge(gate, open);
                open.clear();
            }
        });
        merge(gate, open);
        return gate;
    }

    /// The same, and what follows waits for it.
    template <class OpOf>
    void collective(StepFunction function, const CollectiveCall& call, OpOf op_of) {
        gate_ = beside(function, call, op_of);
    }

    /// Both must have happened. An end says more than a start of the same op.
    static void merge(Gate& gate, const Gate& more) {
        gate.insert(gate.end(), more.begin(), more.end());
        std::ranges::sort(gate, [](const Met& a, const Met& b) {
            return a.place != b.place ? a.place < b.place : a.edge == Edge::end && b.edge == Edge::start;
        });
        const auto same_op = [](const Met& a, const Met& b) { return a.place == b.place; };
        gate.erase(std::unique(gate.begin(), gate.end(), same_op), gate.end());
    }

    [[nodiscard]] Listing take() { return std::move(listing_); }

  private:
    Listing listing_;
    Gate gate_;
};

}  // namespace idlewave
