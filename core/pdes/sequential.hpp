#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "pdes/one_by_one.hpp"
#include "pdes/windowed.hpp"

namespace idlewave::pdes {

/// Runs `model` to its end on this thread. `states` has one entry an LP. `poll` is called now and then with the
/// present simulated time; it may throw to end the run.
///
/// With a lookahead, LPs are handled one after the other within windows of it, each LP's state and events close
/// together in memory; without one, events are handled one by one. Both give the same answer.
template <Model M>
void run_sequential(M& model, std::vector<typename M::State>& states, const std::function<void(Time)>& poll) {
    if (model.lookahead() > 0) {
        Windowed<M>(model, states, poll).run();
    } else {
        OneByOne<M>(model, states, poll).run();
    }
}

}  // namespace idlewave::pdes
