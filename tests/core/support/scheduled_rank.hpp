#pragma once

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
template <template <class, class> class Part>
struct ScheduledRank {
    explicit ScheduledRank(const goal::Graph& graph) : tables(graph, machine, 0, observer), part(tables) {
        parts().current.enter(state, 0, tables.free_times_of(0, state));
        parts().agenda.open(state.requests);
    }

    [[nodiscard]] loggops::RankParts<goal::Graph, loggops::NoObserver>& parts() { return part.parts(); }
    [[nodiscard]] Time cpu_free() { return parts().current.free_times()[0]; }

    machine::Machine machine = small_machine();
    loggops::NoObserver observer;
    loggops::RankTables<goal::Graph, loggops::NoObserver> tables;
    loggops::Rank<goal::Graph, Time> state;
    Part<goal::Graph, loggops::NoObserver> part;
    SentMessages context{tables.classes};
};

}  // namespace idlewave::testing
