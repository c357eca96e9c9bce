#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/committed_records.hpp"
#include "pdes/conservative.hpp"
#include "pdes/event.hpp"
#include "pdes/lps.hpp"
#include "pdes/model.hpp"
#include "pdes/model_errors.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/partition_transport.hpp"
#include "pdes/placement.hpp"
#include "pdes/progress_series.hpp"
#include "pdes/scheduler.hpp"
#include "pdes/statistics.hpp"

namespace idlewave::pdes {

/// The sequential scheduler: an event list, of which the earliest event is executed first. It needs no lookahead, has
/// no segments, and counts committed events only.
template <WindowModel M>
class SequentialScheduler {
  public:
    using Transport = TransportOf<M>;
    using Payload = typename M::Payload;
    using State = typename M::State;
    using Item = Event<Payload>;
    using Emitted = typename EmittedOf<M>::Type;

    SequentialScheduler(M& model, const Placement& placement, Transport& /*transport*/,
                        const PartitionOptions& /*options*/)
        : model_(model),
          lps_(std::make_unique<Lps<State>>(placement.lps())),
          worker_(model),
          timers_(placement.lps(), never) {}

    /// Makes all LPs, which start.
    void begin() {
        Context context{*this, 0};
        for (std::uint32_t lp = 0; lp < lps_->size(); ++lp) {
            context.lp = lp;
            set_timer(lp, worker_.start(lps_->make(lp).state, 0, context));
        }
    }

    /// Runs to the end. Throws what the model or the poll throws, which is called a few times a second.
    void run(const std::function<void(Time)>& poll, const std::function<bool()>& /*wants_pause*/ = {}) {
        Context context{*this, 0};
        std::uint64_t handled = 0;
        while (!pending_.empty()) {
            const Time now = pending_.top().time;
            const std::uint32_t depth = pending_.top().depth();
            const std::uint32_t lp = pending_.top().destination;
            if (poll && (++handled & 0xfff) == 0) {
                poll(now);
            }
            context.lp = lp;
            Time next = now;
            do {
                take(now, depth, lp);
                next = worker_.step((*lps_)[lp].state, events_, now, context);
            } while (next <= now && !earlier_lp_is(now, lp));
            set_timer(lp, std::max(next, now));
        }
    }

    template <class Use>
    void each_worker(Use use) {
        use(worker_);
    }
    /// Calls `use` with the worker, the number and the state of each LP.
    template <class Use>
    void each_lp_of_worker(Use use) {
        for (std::uint32_t lp = 0; lp < lps_->size(); ++lp) {
            use(worker_, lp, (*lps_)[lp].state);
        }
    }

    template <class Use>
    void each_lp(Use use) const {
        for (std::uint32_t lp = 0; lp < lps_->size(); ++lp) {
            use(lp, std::as_const(*lps_)[lp].state);
        }
    }
    /// Calls `use` with all emitted records that were kept, in the order of time.
    template <class Use>
    void each_emitted(Use use) const {
        for (const Emitted& emitted : records_.output()) {
            use(emitted);
        }
    }

    /// The LPs, which outlive the scheduler then.
    [[nodiscard]] std::unique_ptr<Lps<State>> take_lps() { return std::move(lps_); }

    [[nodiscard]] Statistics statistics() { return {.committed = worker_.executed()}; }
    [[nodiscard]] static std::vector<ProgressSample> series() { return {}; }

  private:
    struct Pending {
        Time time;
        std::uint32_t destination;
        std::uint32_t source;  ///< QueuedEvent::timer: after all events of that time
        std::uint32_t sequence;
        Payload payload;

        /// The depth of a payload that has one, else 0.
        [[nodiscard]] std::uint32_t depth() const {
            if constexpr (requires { payload.depth; }) {
                return payload.depth;
            } else {
                return 0;
            }
        }

        bool operator<(const Pending& other) const {  // for a heap with the earliest on top
            return std::tuple(time, depth(), destination, source, sequence) >
                   std::tuple(other.time, other.depth(), other.destination, other.source, other.sequence);
        }
    };

    struct Context {
        SequentialScheduler& scheduler;
        std::uint32_t lp;

        [[nodiscard]] std::uint32_t self() const { return lp; }
        [[nodiscard]] std::uint32_t sent() const { return (*scheduler.lps_)[lp].sequence; }
        static constexpr void* undo_data = nullptr;  ///< nothing is ever rolled back
        void emit(const Emitted& record) { scheduler.records_.commit(scheduler.worker_, record); }
        void send(std::uint32_t destination, Time time, std::uint16_t code) {
            send(destination, time, scheduler.model_.payload(code));
        }
        template <class... Arguments>
        void send(std::uint32_t destination, Time time, const Arguments&... payload) {
            if (destination >= scheduler.lps_->size()) {
                throw_invalid_send(lp, destination, time, time_unit<M>, scheduler.lps_->size(), "");
            }
            scheduler.pending_.push({time, destination, lp, (*scheduler.lps_)[lp].sequence++, Payload(payload...)});
        }
    };

    /// Takes all events of `lp` at `now` with this depth off the list.
    void take(Time now, std::uint32_t depth, std::uint32_t lp) {
        payloads_.clear();
        events_.clear();
        while (!pending_.empty() && pending_.top().time == now && pending_.top().depth() == depth &&
               pending_.top().destination == lp) {
            const Pending& top = pending_.top();
            if (top.source == QueuedEvent::timer) {
                timers_[lp] = timers_[lp] == now ? never : timers_[lp];
            } else {
                events_.push_back({now, top.source, top.sequence, nullptr});
                payloads_.push_back(top.payload);
            }
            pending_.pop();
        }
        for (std::size_t i = 0; i < events_.size(); ++i) {
            events_[i].payload = &payloads_[i];
        }
    }

    void set_timer(std::uint32_t lp, Time time) {
        if (time < timers_[lp]) {
            timers_[lp] = time;
            pending_.push({time, lp, QueuedEvent::timer, 0, {}});
        }
    }

    /// Whether an LP with a smaller number has an event at `time`: it goes first. Without a lookahead an LP may send an
    /// event for the present time.
    [[nodiscard]] bool earlier_lp_is(Time time, std::uint32_t lp) const {
        return !pending_.empty() && pending_.top().time == time && pending_.top().destination < lp;
    }

    M& model_;
    std::unique_ptr<Lps<State>> lps_;
    typename M::Worker worker_;
    std::vector<Time> timers_;  ///< the earliest timer of each LP on the list
    std::priority_queue<Pending> pending_;
    std::vector<Item> events_;  ///< of one LP at one time
    std::vector<Payload> payloads_;
    CommittedRecords<M> records_;
};

/// With a lookahead one thread runs window after window, which is faster than an event list.
struct Sequential {
    static constexpr SchedulerTraits traits{.one_thread = true};

    template <WindowModel M>
    using Of = std::conditional_t<may_lack_lookahead<M>, SequentialScheduler<M>, ConservativeScheduler<M>>;
};

}  // namespace idlewave::pdes
