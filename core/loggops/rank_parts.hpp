#pragma once

#include <array>

#include "goal/source.hpp"
#include "loggops/agenda.hpp"
#include "loggops/decisions.hpp"
#include "loggops/dependencies.hpp"
#include "loggops/matching.hpp"
#include "loggops/occupation.hpp"
#include "loggops/one_sided.hpp"
#include "loggops/rank.hpp"
#include "loggops/reception.hpp"
#include "loggops/rendezvous.hpp"
#include "loggops/tables.hpp"
#include "loggops/transmission.hpp"

namespace idlewave::loggops {

/// What simulates the ranks of a thread, each part with its own data, and the rank that it simulates at present.
template <goal::Source S, class Observer>
struct RankParts {
    using Tables = RankTables<S, Observer>;
    using Moment = typename Observer::Moment;
    using Cookie = typename S::Cookie;

    explicit RankParts(Tables& tables_)
        : tables(tables_),
          decisions(tables),
          occupation(tables),
          transmission(tables, occupation),
          rendezvous(tables, agenda, matching, transmission),
          one_sided(tables, agenda, transmission),
          dependencies(tables) {}

    [[gnu::always_inline]] Reception<S, Observer> reception() {
        return {tables, occupation, agenda, matching, transmission};
    }

    Tables& tables;
    CurrentRank<S, Moment> current;
    Decisions<S, Observer> decisions;
    Agenda<Cookie, Moment> agenda;
    Matching<Cookie, Moment> matching;
    Occupation<S, Observer> occupation;
    Transmission<S, Observer> transmission;
    Rendezvous<S, Observer> rendezvous;
    OneSided<S, Observer> one_sided;
    Dependencies<S, Observer> dependencies;
    /// The op that starts next, and room for the op that its end makes ready.
    std::array<goal::ReadyOp<Cookie, Moment>, 2> next;
};

}  // namespace idlewave::loggops
