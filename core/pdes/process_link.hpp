#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "pdes/event.hpp"
#include "pdes/gvt.hpp"
#include "pdes/message_batch.hpp"
#include "pdes/model.hpp"
#include "pdes/outbox.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/window_agreement.hpp"

namespace idlewave::pdes {

/// A thread's link to other processes under the conservative scheduler: the events that it sends there, and its part in
/// the rounds of GVT in which the processes agree on the next window.
template <WindowModel M>
class ProcessLink {
  public:
    using Endpoint = EndpointOf<M>;
    /// `partitions` of the run; `first`: no event lies before this cell.
    ProcessLink(std::uint32_t partitions, Endpoint& endpoint, std::int64_t first)
        : gvt_(first), outbox_(partitions, endpoint, gvt_) {}

    [[nodiscard]] Endpoint& endpoint() { return outbox_.endpoint(); }
    [[nodiscard]] Gvt& gvt() { return gvt_; }

    /// Sends an event to an LP of another process, where it lies in `cell`: with a code, or with a payload.
    [[gnu::noinline]] void send(const M& model, Placement::Position to, PendingEvent event, std::int64_t cell) {
        event.lp = to.local;
        outbox_.send_coded(model, to.partition, event, cell);
    }
    [[gnu::noinline]] void send(Placement::Position to, PendingEvent event, std::int64_t cell,
                                const typename M::Payload& payload) {
        event.lp = to.local;
        outbox_.send(to.partition, event, cell, payload);
    }

    /// Agrees on the next window in a round of GVT, which ends when all events for this process have arrived. `receive`
    /// is called again and again: it receives what has arrived, and returns the cell of the earliest event.
    template <class Receive>
    [[gnu::noinline]] WindowCandidate agree(WindowCandidate own, Receive receive) {
        if (own.cell == WindowCandidate::failed) {
            endpoint().abort();
            return own;
        }
        const auto contribution = [&] {
            return Gvt::Contribution{.first_pending = own.cell,
                                     .executed = static_cast<std::int64_t>(own.executed),
                                     .wants_pause = own.wants_pause};
        };
        outbox_.flush();
        gvt_.begin_round(endpoint(), contribution());
        constexpr std::uint32_t patience = 1 << 10;  // polls, after which the thread yields its processor
        for (std::uint32_t polls = 0; !endpoint().aborted(); ++polls) {
            own.cell = std::min(own.cell, receive());
            if (gvt_.poll(endpoint(), contribution)) {
                const Cut& cut = gvt_.cut();
                return {.cell = gvt_.cell(),
                        .executed = static_cast<std::uint64_t>(cut.executed),
                        .busiest = static_cast<std::uint64_t>(-cut.busiest),
                        .wants_pause = cut.continues == 0};
            }
            if (polls > patience) {
                std::this_thread::yield();
            }
        }
        own.cell = WindowCandidate::failed;
        return own;
    }

    /// Number of events and of batches sent to other processes.
    [[nodiscard]] std::uint64_t events() const { return outbox_.events(); }
    [[nodiscard]] std::uint64_t batches() const { return outbox_.batches(); }

  private:
    Gvt gvt_;
    Outbox<typename M::Payload> outbox_;
};

}  // namespace idlewave::pdes
