#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/quote.hpp"
#include "pdes/check.hpp"
#include "pdes/conservative.hpp"
#include "pdes/model.hpp"
#include "pdes/optimistic.hpp"
#include "pdes/run_configuration.hpp"
#include "pdes/scheduler.hpp"
#include "pdes/sequential.hpp"

namespace idlewave::pdes {

/// A line of the table: a scheduler's name in a run configuration, and what it is, for a list of them.
template <class S>
struct RegisteredScheduler {
    std::string_view name;
    std::string_view description;
    static constexpr SchedulerTraits traits = S::traits;

    /// Whether it runs a model, as far as the lookahead is concerned.
    template <WindowModel M>
    static constexpr bool runs = !(traits.needs_lookahead && may_lack_lookahead<M>);
    /// The scheduler itself, for a model that it runs.
    template <WindowModel M>
        requires runs<M>
    using Of = typename S::template Of<M>;
};

/// All schedulers. Names, help, refusals and the choice of a run come from here.
inline constexpr std::tuple schedulers{
    RegisteredScheduler<Sequential>{"sequential", "on one thread"},
    RegisteredScheduler<Yawns>{"yawns", "conservative in windows of the lookahead"},
    RegisteredScheduler<TimeWarp>{"timewarp", "optimistic"},
    RegisteredScheduler<Check>{"check", "which executes, rolls back and compares each execution of an LP"},
};

/// Calls `use` with each line of the table.
template <class Use>
void each_scheduler(Use use) {
    std::apply([&](const auto&... line) { (use(line), ...); }, schedulers);
}

/// The names of the schedulers for which `predicate(line)` is true, as text.
template <class Predicate>
std::string scheduler_names(Predicate predicate) {
    std::vector<std::string> names;
    each_scheduler([&](const auto& line) {
        if (predicate(line)) {
            names.emplace_back(line.name);
        }
    });
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    }
    return text;
}

/// Calls `use` with the line of the scheduler `name`. Throws InputError if there is none.
template <class Use>
void with_scheduler(std::string_view name, Use use) {
    bool found = false;
    each_scheduler([&](const auto& line) {
        if (line.name == name) {
            found = true;
            use(line);
        }
    });
    if (!found) {
        throw InputError("there is no scheduler " + quote(name) + "; there are " +
                         scheduler_names([](const auto& /*line*/) { return true; }));
    }
}

/// Throws InputError if the scheduler of the configuration does not exist, or cannot make this run of a model.
template <WindowModel M>
void check_scheduler(const RunConfiguration& configuration) {
    constexpr auto has_segments = []<class Line>(const Line& /*line*/) {
        if constexpr (Line::template runs<M>) {
            return SegmentedScheduler<typename Line::template Of<M>, M>;
        }
        return false;
    };
    with_scheduler(configuration.scheduler, [&]<class Line>(const Line& line) {
        const std::string name(line.name);
        if (!Line::template runs<M>) {
            throw InputError(name + " needs a lookahead, and the model has none: " +
                             scheduler_names([]<class L>(const L&) { return L::template runs<M>; }) + " do without");
        }
        if (may_lack_lookahead<M> && has_conservative_lps<M> && Line::traits.rolls_back) {
            throw InputError("conservative LPs need a lookahead, and the model has none");
        }
        if (Line::traits.one_thread && configuration.partitions() > 1) {
            throw InputError(name + " runs on one thread of one process");
        }
        if (!has_segments(line) && !configuration.checkpoint.directory.empty()) {
            throw InputError("without a lookahead " + name +
                             " writes no checkpoints: " + scheduler_names(has_segments) + " do");
        }
    });
}

}  // namespace idlewave::pdes
