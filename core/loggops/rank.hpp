#pragma once

#include <array>
#include <cstdint>

#include "base/time.hpp"
#include "goal/op.hpp"
#include "goal/source.hpp"
#include "loggops/agenda.hpp"
#include "loggops/matching.hpp"

namespace idlewave::loggops {

/// The state of a simulated rank. It is small, as there are many millions. What a rank has more of than fits in here is
/// kept by the parts of its worker, in tables of the thread; the state holds their handles.
template <class Source, class Moment>
struct Rank {
    using Cookie = typename Source::Cookie;

    std::array<Moment, 3> free_times{};  ///< by resource, for a rank with one CPU and one NIC
    typename Source::template State<Moment> source;
    PendingRequests requests;
    MatchState<Cookie> match;
};

/// The rank that a worker is simulating: its state, its number, and the times from which its resources are free.
template <class Source, class Moment>
class CurrentRank {
  public:
    using State = Rank<Source, Moment>;

    /// `free_times` are those of a rank with several CPUs or NICs.
    [[gnu::always_inline]] void enter(State& state, std::uint32_t number, Moment* free_times) {
        state_ = &state;
        number_ = number;
        if constexpr (!Source::single_cpu_and_nic) {
            free_times_ = free_times;
        }
    }

    [[nodiscard]] State& state() const { return *state_; }
    [[nodiscard]] std::uint32_t number() const { return number_; }

    /// By resource (ResourceLayout).
    [[nodiscard, gnu::always_inline]] Moment* free_times() const {
        if constexpr (Source::single_cpu_and_nic) {
            return state_->free_times.data();
        } else {
            return free_times_;
        }
    }

  private:
    State* state_ = nullptr;
    std::uint32_t number_ = 0;
    Moment* free_times_ = nullptr;
};

}  // namespace idlewave::loggops
