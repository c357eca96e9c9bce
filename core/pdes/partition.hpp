#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/archive.hpp"
#include "base/huge_memory.hpp"
#include "pdes/annihilation.hpp"
#include "pdes/batch.hpp"
#include "pdes/calendar.hpp"
#include "pdes/event.hpp"
#include "pdes/gvt.hpp"
#include "pdes/held.hpp"
#include "pdes/image.hpp"
#include "pdes/lps.hpp"
#include "pdes/mail.hpp"
#include "pdes/manner.hpp"
#include "pdes/model.hpp"
#include "pdes/opening.hpp"
#include "pdes/outbox.hpp"
#include "pdes/parcels.hpp"
#include "pdes/placement.hpp"
#include "pdes/series.hpp"
#include "pdes/statistics.hpp"
#include "pdes/throttle.hpp"
#include "pdes/traffic.hpp"
#include "pdes/visit_log.hpp"
#include "pdes/withdrawals.hpp"

namespace idlewave::pdes {

/// What a partition's step did.
enum class Step : std::uint8_t {
    went_on,
    waited,  ///< for others
    ended,   ///< the last one: for all partitions at once
};

/// One partition of a run: LPs that one thread simulates, which tells and is told through a Port.
///
/// Time is cut into cells no longer than the lookahead. An LP is visited once for each cell in which there is something
/// for it, and then does all that belongs there. It may turn out too early: something is told for a cell that the LP
/// has left behind, or what it was told is taken back. Then its visits are undone back to that cell: its state is as it
/// was, what it was told waits again, and what it told is taken back (D. R. Jefferson: Virtual time, TOPLAS 7(3),
/// 1985). What takes an event back (`anti`) lies in the same bucket as the event, and both vanish when the bucket is
/// opened, so that nothing is ever searched for. Visits before GVT are committed: nobody can undo them.
///
/// Without a lookahead cells have some length, and what is told within a cell lets the LP's visit be made again, until
/// nothing changes any more. There cancellation is lazy (A. Gafni: Rollback mechanisms for optimistic distributed
/// simulation systems, 1988): two LPs that tell each other things within a cell would else take them back forever.
///
/// Here is what a partition has. How it goes on step by step is in advancing.hpp, what its LPs are told in telling.hpp,
/// how it goes through a cell in visiting.hpp, what a model sees meanwhile in partition_context.hpp, how visits are
/// undone or committed in undoing.hpp, and made on trial in checking.hpp, what is kept between legs in loading.hpp.
template <Model M, class Port>
class Partition {
  public:
    using Payload = typename M::Payload;
    using State = typename M::State;
    using Item = Event<Payload>;
    using Emitted = typename EmittedBy<M>::Type;
    using Journal = std::vector<std::byte>;
    static_assert((journals<M> || std::is_trivially_copyable_v<State>) && std::is_trivially_copyable_v<Payload> &&
                  std::is_trivially_copyable_v<Emitted>);
    static constexpr bool adopts = requires(typename M::Worker& worker, Payload& payload) { worker.adopt(payload); };
    static constexpr bool mixes =
        requires(const typename M::Worker& worker, const State& state, const Payload& payload, std::uint32_t lp) {
            worker.certain_only(state, lp);
            worker.certain_only(payload);
        };
    static constexpr bool packs = requires(typename M::Worker& worker, const State& state, Serialiser& packer,
                                           std::uint32_t lp) { worker.pack(state, lp, packer); };
    static_assert(!packs || journals<M>, "what a copy of the state is not enough for has to be undone by the model");
    static constexpr bool emits = !std::is_empty_v<Emitted>;
    static_assert(
        !emits || requires(const Emitted& emitted) { emitted.lp; },
        "what is put out says of which LP it is, since it goes along with that");

    Partition(M& model, const Placement& placement, std::uint32_t self, Port& port, const Manner& manner)
        : model_(model),
          placement_(placement),
          self_(self),
          port_(port),
          advance_(manner.advance),
          lookahead_(model.lookahead() > 0),
          lazy_(manner.lazy || !lookahead_),
          check_(manner.check),
          log_bytes_(manner.log_bytes),
          pause_if_uneven_after_(manner.pause_if_uneven_after),
          uneven_(manner.uneven),
          grid_(manner.cell, placement.size(self)),
          calendar_(grid_, chunks_),
          batch_(grid_),
          parcels_(store_),
          opening_(model, parcels_),
          annihilation_(parcels_),
          worker_(model),
          lps_(placement.size(self)),
          last_(placement.size(self)),
          waiting_since_(lookahead_ ? 0 : placement.size(self)),
          log_(placement.size(self) < few_lps ? few_bytes : many_bytes),
          gvt_(grid_.cell_of(manner.from)),
          outbox_(placement.partitions(), port, gvt_),
          first_(gvt_.cell()),
          frontier_(gvt_.cell() - 1),
          safe_(gvt_.cell() - 1),
          traffic_(manner.pause_if_uneven_after > 0 ? placement.size(self) : 0, placement.lps(),
                   manner.counts_who_tells_whom) {
        calendar_.advance(gvt_.cell());
    }

    /// Makes the LPs, which do what they do in the first cell.
    void begin();
    /// Takes up what was kept of a run up to `Manner::from`: of the pieces' LPs those that are placed here.
    void load(std::span<const Image::Piece> pieces);
    /// Throws InputError if an LP was missing.
    void check_loaded() const;
    /// Goes on a little.
    Step step();
    /// Once all have ended without being at the end: keeps all that the run is for a `next` leg.
    void unload(const Placement& next, Image& image);

    /// Shows every LP's number and state to `use`.
    template <class Use>
    void each_lp(Use use) const {
        for (std::uint32_t i = 0; i < lps_.size(); ++i) {
            use(placement_.lp_of(self_, i), lps_[i].state);
        }
    }

    /// All that was put out, of each LP in its order.
    [[nodiscard]] const std::vector<Emitted>& output() const { return output_; }

    [[nodiscard]] const Statistics& statistics() {
        statistics_.gvt_rounds = gvt_.rounds();
        statistics_.log_bytes = log_.bytes();
        statistics_.told_elsewhere = outbox_.told();
        statistics_.mails = outbox_.sent();
        return statistics_;
    }
    [[nodiscard]] typename M::Worker& worker() { return worker_; }
    /// Before this time all is committed.
    [[nodiscard]] Time gvt() const { return grid_.begin_of(gvt_.cell()); }
    /// Nothing is left to do; else, when it has ended, it was to pause.
    [[nodiscard]] bool at_end() const { return gvt_.cell() == Gvt::nothing; }
    /// Whether they paused so that LPs can move.
    [[nodiscard]] bool paused_as_uneven() const { return paused_as_uneven_; }
    /// When all pause, once it has ended and is not at the end.
    [[nodiscard]] Time paused_at() const { return grid_.begin_of(stop_); }
    /// All are to end soon, at a time before which all is committed and after which nothing was done.
    void ask_to_pause() { wants_pause_ = true; }
    [[nodiscard]] const Series& series() const { return series_; }
    [[nodiscard]] const Traffic& traffic() const { return traffic_; }
    [[nodiscard]] std::uint32_t number() const { return self_; }
    /// How many events its LPs were told, by `group` LPs side by side.
    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (std::uint32_t i = 0; i < lps_.size(); ++i) {
            weights[placement_.lp_of(self_, i) / group] += traffic_.told(i);
        }
    }

  private:
    static constexpr std::uint32_t few_lps = 1 << 14;
    static constexpr std::size_t few_bytes = std::size_t{1} << 16;
    static constexpr std::size_t many_bytes = std::size_t{1} << 21;

    /// The last visit of an LP that can be undone.
    struct Last {
        Visit* visit = nullptr;
        std::int64_t cell_after = 0;  ///< one past its cell: 0 if there was none
    };

    /// What a model sees of the scheduler while it runs an LP: partition_context.hpp.
    struct Context;

    // ---- how far to go on: advancing.hpp

    [[nodiscard]] std::int64_t first_waiting() {
        first_ = calendar_.first(first_);
        return first_;
    }
    [[nodiscard]] Gvt::Standing standing();
    [[nodiscard]] std::int64_t limit() const;
    [[nodiscard]] bool has_room(std::int64_t cell) const;
    void know_gvt();
    void release_held(std::int64_t last);
    void append_later_events(std::vector<Record>& held, std::int64_t cell);
    [[nodiscard]] bool is_uneven(const Cut& cut) const;

    // ---- what LPs are told: telling.hpp

    /// What an LP is told, as it lay in a bucket of the cell that `begins` then.
    [[nodiscard]] static Record record_of(const Stored& stored, Time begins, std::uint32_t local) {
        return {begins + stored.offset, local, stored.source, stored.sequence, stored.code};
    }
    void put(const Record& told);
    void push(const Record& told, std::int64_t cell);
    void put_back_to(const Record& told, std::int64_t cell);
    void put_late();
    void put_among_visited(const Record& told, std::int64_t cell);
    void take_back(const SentBy& cancelled);
    void take_back_all();
    void receive_mails();
    void take_in(Record& told, Payload& payload);
    void tell_elsewhere(std::uint32_t partition, const Record& told);

    // ---- going through a cell: visiting.hpp

    void go_through(std::int64_t cell);
    [[nodiscard]] bool is_logged(std::int64_t cell) const;
    void run_block(std::int64_t cell, std::uint32_t first_lp);
    [[nodiscard]] bool is_certain_only(const Context& context, std::span<const Stored> told) const;
    void hold(const Context& context, std::span<const Stored> told);
    void visit(Context& context, std::span<const Stored> told);
    void make(Context& context, std::span<const Stored> told);
    void clear_scratch();
    void run_lp(Context& context, std::span<const Stored> told, Time begins);
    void set_timer(Lp<State>& lp, std::uint32_t local, Time time);
    void let_visited_wait(std::int64_t cell, std::uint32_t first_lp);
    [[nodiscard]] bool waits_again(std::uint32_t local) const { return waiting_since_[local] == gathered_; }
    void settle(const Context& context);

    // ---- there and back: undoing.hpp

    Visit* remember(const Context& context, std::span<const Stored> told);
    void keep(Visit* made, const Context& context);
    static void copy_into(std::span<std::byte> bytes, const void* values);
    void restore_state(Lp<State>& lp, const void* copy, std::span<const std::byte> journal, std::uint32_t number);
    void undo_from(std::uint32_t local, std::int64_t cell);
    void undo(Visit& visit);
    void cancel(Visit& visit, std::uint32_t source);
    void commit(Visit& visit);
    /// What is certain now.
    void put_out(const Emitted& emitted) {
        if constexpr (requires { worker_.commit(emitted); }) {
            worker_.commit(emitted);
        } else {
            output_.push_back(emitted);
        }
    }

    // ---- visits on trial: checking.hpp

    void check_visit(const Context& context, std::span<const Stored> told, Time begins);
    [[nodiscard]] std::vector<std::byte> bytes_of(const State& state, std::uint32_t number);

    // ---- what is kept between legs: loading.hpp

    void load_next(Deserialiser& unpacker);
    [[nodiscard]] bool is_here(std::uint32_t lp) const;
    void load_lp(Deserialiser& unpacker);
    void load_timer(Deserialiser& unpacker);
    void load_event(Deserialiser& unpacker);
    void load_output(Deserialiser& unpacker);
    void unload_lp(std::uint32_t local, Image::Piece& piece);
    void unload_events(const Placement& next, Image& image);
    static void unload_event(const Item& event, std::uint32_t lp, Image::Piece& piece);
    template <class Use>
    void each_lp_of_batch(Use use) const;

    const M& model_;
    const Placement& placement_;
    std::uint32_t self_;
    Port& port_;
    Advance advance_;
    bool lookahead_;
    bool lazy_;
    bool check_;
    std::size_t log_bytes_;
    std::uint64_t pause_if_uneven_after_;
    double uneven_;
    Grid grid_;
    ChunkStore chunks_;
    Calendar calendar_;
    Batch batch_;
    ParcelStore<Payload> store_;
    ParcelPool<Payload> parcels_;
    Opening<M> opening_;
    Annihilation<Payload> annihilation_;
    typename M::Worker worker_;
    std::uint64_t counted_ = 0;  ///< by the worker, when the last visit was done
    Lps<State> lps_;
    HugeArray<Last> last_;                    ///< by LP
    HugeArray<std::uint64_t> waiting_since_;  ///< by LP, without a lookahead: `gathered_` when all waited again
    std::uint64_t gathered_ = 0;              ///< how often a block's events were gathered
    VisitLog log_;
    Gvt gvt_;
    Outbox<Payload, Port> outbox_;
    Throttle throttle_;
    Statistics statistics_;
    std::int64_t first_;                ///< nothing waits in a cell before it
    std::int64_t frontier_;             ///< the last cell in which an LP was visited
    std::int64_t safe_;                 ///< the last cell for which all is told
    std::int64_t stop_ = Gvt::nothing;  ///< the first cell that is not to be gone through in this leg
    bool wants_pause_ = false;
    bool paused_as_uneven_ = false;
    std::uint64_t handled_ = 0;        ///< events, undone ones too
    std::uint64_t handled_since_ = 0;  ///< GVT was asked for
    Held held_;
    std::uint32_t loaded_ = 0;  ///< LPs
    Traffic traffic_;
    Series series_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    Journal journal_;                     ///< of this visit
    std::vector<Emitted> emitted_;        ///< in this visit
    std::vector<Emitted> output_;         ///< that is certain
    std::vector<Sent> sent_;              ///< in this visit
    std::vector<Payload> sent_payloads_;  ///< of those that have one, where cancellation is lazy
    Withdrawals<Payload> withdrawals_;
    static constexpr std::int64_t none = -1;
    std::int64_t going_through_ = none;  ///< the cell, while a block does
    std::uint32_t block_ = 0;
    std::vector<Record> meanwhile_;  ///< what its LPs are told for that very cell: not before all have been visited
    std::vector<SentBy> cancelled_;  ///< to be taken back
    bool visiting_ = false;          ///< a worker is with an LP
    std::vector<Record> late_;       ///< what was told meanwhile for cells that were gone through
};

}  // namespace idlewave::pdes

#include "pdes/advancing.hpp"
#include "pdes/checking.hpp"
#include "pdes/loading.hpp"
#include "pdes/partition_context.hpp"
#include "pdes/telling.hpp"
#include "pdes/undoing.hpp"
#include "pdes/visiting.hpp"
