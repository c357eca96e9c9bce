#pragma once

#include <utility>

#include "goal/graph.hpp"
#include "goal/graph_run.hpp"
#include "loggops/observer.hpp"
#include "loggops/rank.hpp"
#include "loggops/rank_parts.hpp"
#include "loggops/tables.hpp"
#include "machine/machine.hpp"
#include "rank_fixture.hpp"

namespace idlewave::testing {

/// Rank 0 of a schedule, which the worker has entered. `Part` is a template with `parts()`: Dispatcher or OpExecution.
template <template <class, class> class Part, class Source = goal::Graph>
struct ScheduledRank {
    explicit ScheduledRank(const Source& source, machine::Machine of = small_machine())
        : machine(std::move(of)), tables(source, machine, 0, observer), part(tables) {
        parts().current.enter(state, 0, tables.free_times_of(0, state));
        parts().agenda.open(state.requests);
    }

    [[nodiscard]] loggops::RankParts<Source, loggops::NoObserver>& parts() { return part.parts(); }
    [[nodiscard]] Time cpu_free() { return parts().current.free_times()[0]; }

    machine::Machine machine;
    loggops::NoObserver observer;
    loggops::RankTables<Source, loggops::NoObserver> tables;
    loggops::Rank<Source, Time> state;
    Part<Source, loggops::NoObserver> part;
    SentMessages context{tables.classes};
};

}  // namespace idlewave::testing
