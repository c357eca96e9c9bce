#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "goal/source.hpp"
#include "loggops/observer.hpp"
#include "loggops/rank.hpp"
#include "loggops/tables.hpp"
#include "loggops/worker.hpp"
#include "machine/machine.hpp"

namespace idlewave::loggops {

/// The simulated rank (docs/model.md) as a model of the kernel (pdes::WindowModel): an LP is a rank, and an event is
/// the arrival of a message's first byte.
template <goal::Source S, class Observer>
class LogGops : private RankTables<S, Observer> {
  public:
    using Tables = RankTables<S, Observer>;
    using Moment = typename Observer::Moment;
    using State = Rank<S, Moment>;
    using Payload = typename Observer::Payload;
    static constexpr bool writes_undo = true;
    static constexpr std::string_view time_unit = "ps";
    static constexpr bool needs_lookahead = requires { requires Observer::needs_lookahead; };

    /// What a thread of the kernel simulates ranks with.
    class Worker : public RankWorker<S, Observer> {
      public:
        explicit Worker(LogGops& model) : RankWorker<S, Observer>(model) {}
    };

    LogGops(const S& source_, const machine::Machine& machine_, std::uint64_t seed_, Observer& observer_)
        : Tables(source_, machine_, seed_, observer_) {}

    [[nodiscard]] std::uint32_t lps() const { return Tables::source.ranks(); }
    /// R19.
    [[nodiscard]] Time lookahead() const { return Tables::machine.lookahead(has_one_sided(Tables::source)); }

    /// The message that travels as a code.
    [[nodiscard]] const Payload& payload(std::uint16_t code) const {
        if constexpr (!Observer::observes) {
            return Tables::classes[code].message;
        } else if constexpr (requires { Tables::observer.payload(code); }) {
            return Tables::observer.payload(code);
        } else {
            return no_payload_;
        }
    }

    /// The time at which rank `r` has finished (R18).
    [[nodiscard]] Moment finish(std::uint32_t r, const State& rank) const {
        Moment finish = Tables::processed[r];
        for (std::uint16_t i = 0; i < Tables::layout.cpus; ++i) {
            finish = latest(finish, Tables::free_times_of(r, rank)[i]);
        }
        return finish;
    }

  private:
    Payload no_payload_{};
};

}  // namespace idlewave::loggops
