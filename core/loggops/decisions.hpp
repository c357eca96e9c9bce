#pragma once

#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/rank.hpp"
#include "loggops/tables.hpp"

namespace idlewave::loggops {

/// What a rank does whatever messages arrive later (docs/model.md, R14 and R15).
template <goal::Source S, class Observer>
class Decisions {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Tables::Moment;
    using Current = CurrentRank<S, Moment>;

    explicit Decisions(const Tables& tables)
        : layout_(tables.layout),
          looks_ahead_(!Observer::records && tables.layout.cpus == 1 && tables.layout.nics == 1 &&
                       !has_one_sided(tables.source)) {}

    /// Whether `is_decided` looks beyond `until`. Where a message may take one of several CPUs or NICs, those of its
    /// receive, it matters whether that is posted when the message arrives; and a recording shows which of them waited.
    [[nodiscard, gnu::always_inline]] bool looks_ahead() const { return looks_ahead_; }

    /// When a message that arrives at `arrival` is received, if the rank does nothing else before, by its first CPU and
    /// NIC.
    [[nodiscard, gnu::always_inline]] Time begin_of_reception(const Current& current, Time arrival) const {
        const Moment* const free_times = current.free_times();
        // std::max of a list takes branches, which cannot be predicted.
        return latest(arrival, time_of(free_times[Tables::Layout::cpu(0)]), time_of(free_times[layout_.rx(0)]));
    }

    /// Whether an op or a request that can start at `start`, and has been ready since `ready`, does start then,
    /// whatever arrives at `until` or later. What starts before `until` does.
    [[nodiscard, gnu::always_inline]] bool is_decided(const Current& current, Time start, Time ready,
                                                      Time until) const {
        return looks_ahead_ ? is_decided_ahead(current, start, ready, until) : start < until;
    }

    /// The same for callers that know that it `looks_ahead`. A message that arrives at `until` or later is received
    /// only once the CPU and the NIC's receive side are free. What starts before, or at that time and was ready before
    /// the message, precedes it (R14, R15). Which receive matches the message does not depend on which of them comes
    /// first: a message takes the first receive that it matches, a receive the first such message, and only the order
    /// among messages and that among receives counts (R9). So a rank that waits for its NIC does at once what it does
    /// before it can receive anything.
    [[nodiscard, gnu::always_inline]] bool is_decided_ahead(const Current& current, Time start, Time ready,
                                                            Time until) const {
        // An op that was ready before the message also precedes it if both start at the same time. The result of that
        // comparison is subtracted, as 1 or 0: a branch on times cannot be predicted.
        return start - static_cast<Time>(ready < until) < begin_of_reception(current, until);
    }

  private:
    typename Tables::Layout layout_;
    bool looks_ahead_;
};

}  // namespace idlewave::loggops
