#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "base/time.hpp"
#include "goal/graph.hpp"
#include "goal/source.hpp"
#include "loggops/recorder.hpp"
#include "machine/machine.hpp"
#include "simulations.hpp"
#include "standstill/standstill.hpp"

namespace idlewave::testing {

/// All that a simulation tells: its times, or why it could not end.
struct Outcome {
    std::vector<Time> finish;
    std::uint64_t messages = 0;
    std::vector<loggops::OpRecord> records;
    std::string standstill;
};

inline auto as_tuple(const loggops::OpRecord& r) {
    return std::tuple(r.rank, r.op_index, r.kind, r.peer, r.tag, r.size, r.ready.time, r.start.time, r.end.time);
}

inline bool operator==(const Outcome& a, const Outcome& b) {
    return a.finish == b.finish && a.messages == b.messages && a.standstill == b.standstill &&
           std::equal(
               a.records.begin(), a.records.end(), b.records.begin(), b.records.end(),
               [](const loggops::OpRecord& x, const loggops::OpRecord& y) { return as_tuple(x) == as_tuple(y); });
}

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    out << outcome.messages << " messages, finish";
    for (const Time t : outcome.finish) {
        out << ' ' << t;
    }
    for (const loggops::OpRecord& r : outcome.records) {
        out << "\n  rank " << r.rank << " op " << r.op_index << ": ready " << r.ready.time << " start " << r.start.time
            << " end " << r.end.time;
    }
    return out << (outcome.standstill.empty() ? "" : "\n") << outcome.standstill;
}

/// The ops of all ranks, in the order (rank, op_index).
inline std::vector<loggops::OpRecord> all_ops(const loggops::SimulationRecord& record) {
    std::vector<loggops::OpRecord> all;
    for (const std::vector<loggops::OpRecord>& own : record.ops) {
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

inline std::vector<Time> times_of(const std::vector<loggops::CausedTime>& moments) {
    std::vector<Time> times;
    for (const loggops::CausedTime& moment : moments) {
        times.push_back(moment.time);
    }
    return times;
}

/// All that a standstill tells.
inline Outcome outcome_of(const Standstill& standstill) {
    Outcome outcome;
    outcome.standstill = standstill.what();
    for (const auto* list : {&standstill.left_over.waiting, &standstill.left_over.cycle}) {
        outcome.standstill += "\n---";
        for (const Waiting& w : *list) {
            outcome.standstill += '\n' + std::to_string(w.rank) + ' ' + w.op + ' ' + w.why;
        }
    }
    return outcome;
}

/// What `simulate` says, a standstill included.
template <goal::Source S>
Outcome outcome_of(const S& source, const machine::Machine& machine, std::uint64_t seed = 0,
                   std::uint32_t threads = 1) {
    Outcome outcome;
    try {
        loggops::Recorder recorder(source.ranks());
        const auto result =
            loggops::simulate(source, machine, {.seed = seed, .threads = threads, .poll = {}}, recorder);
        outcome.finish = times_of(result.finish);
        outcome.messages = result.messages;
        outcome.records = all_ops(recorder.take());
    } catch (const Standstill& standstill) {
        return outcome_of(standstill);
    }
    return outcome;
}

/// The same on the sequential scheduler, event by event. Its definition is in loggops/simulations_recorded.cpp.
Outcome outcome_one_by_one(const goal::Graph& graph, const machine::Machine& machine, std::uint64_t seed);

/// The finish times that `simulate` finds without recording.
template <goal::Source S>
std::vector<Time> finish_of(const S& source, const machine::Machine& machine, std::uint64_t seed = 0,
                            std::uint32_t threads = 1) {
    return loggops::simulate(source, machine, {.seed = seed, .threads = threads, .poll = {}}).finish;
}

/// An eager machine with the same overhead at both ends.
inline machine::Machine simple_machine(Time L, Time o, Time g, double G, double O) {
    machine::Machine machine;
    machine.network.segments[0].parameters = {.L = L, .o_s = o, .o_r = o, .g = g, .G = G, .O_s = O, .O_r = O};
    return machine;
}

}  // namespace idlewave::testing
