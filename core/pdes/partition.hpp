#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/archive.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
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
#include "pdes/refusals.hpp"
#include "pdes/series.hpp"
#include "pdes/statistics.hpp"
#include "pdes/throttle.hpp"
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
    static constexpr bool packs = requires(typename M::Worker& worker, const State& state, Packer& packer,
                                           std::uint32_t lp) { worker.pack(state, lp, packer); };

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
          told_(manner.pause_if_uneven_after > 0 ? placement.size(self) : 0) {
        calendar_.advance(gvt_.cell());
    }

    /// Makes the LPs, which do what they do in the first cell.
    void begin() {
        const Time end = lookahead_ ? grid_.begin_of(1) : 0;
        Context context{*this, end, 0};
        for (std::uint32_t i = 0; i < lps_.size(); ++i) {
            context.enter(i);
            Lp<State>& lp = lps_.make(i);
            context.record = &lp;
            set_timer(lp, i, worker_.start(lp.state, end, context));
        }
        counted_ = worker_.counted();
        statistics_.committed += counted_;
        outbox_.send_all();
    }

    /// Takes up what was kept of a run up to `Manner::from`: of the pieces' LPs those that are placed here.
    void load(std::span<const Image::Piece> pieces) {
        for (const Image::Piece& piece : pieces) {
            Unpacker unpacker(piece);
            while (!unpacker.done()) {
                load_next(unpacker);
            }
        }
    }
    /// Throws InputError if an LP was missing.
    void check_loaded() const {
        if (loaded_ != lps_.size()) {
            throw InputError("what was kept of a run has " + std::to_string(loaded_) + " of the " +
                             std::to_string(lps_.size()) + " LPs of a partition");
        }
    }

    /// Once all have ended without being at the end: keeps all that the run is for a `next` leg.
    void unload(const Placement& next, Image& image) {
        if constexpr (requires { worker_.begin_packing(); }) {
            worker_.begin_packing();
        }
        for (std::uint32_t i = 0; i < lps_.size(); ++i) {
            unload_lp(i, image.open(next.of(placement_.lp_of(self_, i)).partition));
        }
        unload_events(next, image);
        for (const Emitted& emitted : output_) {
            if constexpr (requires { emitted.lp; }) {
                Packer packer(image.open(next.of(emitted.lp).partition));
                packer(Kept::output);
                packer(emitted);
            }
        }
    }

    /// Goes on a little.
    Step step() {
        receive_mails();
        if (gvt_.poll(port_, [this] { return standing(); })) {
            if (gvt_.cell() >= stop_ && gvt_.told_from() == Gvt::nothing) {
                log_.commit_before(Gvt::nothing, [this](Visit& visit) { commit(visit); });
                return Step::ended;
            }
            know_gvt();
        }
        const std::int64_t cell = first_waiting();
        const bool may_go = cell < calendar_.near_end() && cell <= limit() && has_room(cell);
        if (may_go) {
            go_through(cell);
            handled_since_ += batch_.size();
            handled_ += batch_.size();
        } else {
            ++statistics_.idle;
        }
        if (!gvt_.asking() && (!may_go || handled_since_ >= throttle_.interval())) {
            outbox_.send_all();
            handled_since_ = 0;
            gvt_.begin(port_, standing());
        }
        return may_go ? Step::went_on : Step::waited;
    }

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
    /// When all pause, once it has ended and is not at the end.
    [[nodiscard]] Time paused_at() const { return grid_.begin_of(stop_); }
    /// All are to end soon, at a time before which all is committed and after which nothing was done.
    void ask_to_pause() { wants_pause_ = true; }
    [[nodiscard]] const Series& series() const { return series_; }
    [[nodiscard]] std::uint32_t number() const { return self_; }
    /// How many events its LPs were told, by `group` LPs side by side.
    void add_weights(std::span<std::uint64_t> weights, std::uint32_t group) const {
        for (std::uint32_t i = 0; i < told_.size(); ++i) {
            weights[placement_.lp_of(self_, i) / group] += told_[i];
        }
    }

  private:
    static constexpr std::uint32_t few_lps = 1 << 14;
    static constexpr std::size_t few_bytes = std::size_t{1} << 16;
    static constexpr std::size_t many_bytes = std::size_t{1} << 21;

    /// What a model sees of the scheduler while it runs an LP.
    struct Context {
        Partition& partition;
        Time until;
        std::int64_t cell;
        std::uint32_t lp = 0;     ///< its number
        std::uint32_t local = 0;  ///< its place
        Lp<State>* record = nullptr;
        bool logged = false;                      ///< what it sends may have to be taken back
        Withdrawn<Payload>* withdrawn = nullptr;  ///< what it may send again
        Journal* journal = nullptr;               ///< where a model that journals writes, if this may be undone
        bool dry = false;                         ///< only to see what it would send

        void enter(std::uint32_t place) {
            local = place;
            lp = partition.placement_.lp_of(partition.self_, place);
        }

        [[nodiscard]] std::uint32_t self() const { return lp; }
        [[nodiscard]] std::uint32_t sent() const { return record->sequence; }

        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, std::uint16_t code) {
            const Placement::Place place = check(destination, time);
            const Sent sent{time, destination, code};
            if (dry) [[unlikely]] {
                count(sent);
                return;
            }
            if (withdrawn == nullptr || !sends_again(sent, nullptr)) [[likely]] {
                const Record told{time, place.local, lp, record->sequence, code};
                if (place.partition == partition.self_) [[likely]] {
                    partition.put(told);
                } else {
                    partition.tell_elsewhere(place.partition, told);
                }
            }
            count(sent);
        }

        template <class... Parts>
        [[gnu::always_inline]] void send(std::uint32_t destination, Time time, const Parts&... parts) {
            const Placement::Place place = check(destination, time);
            const Payload payload(parts...);
            const Sent sent{time, destination, Stored::in_parcel};
            if (dry) [[unlikely]] {
                count(sent);
                return;
            }
            if (withdrawn == nullptr || !sends_again(sent, &payload)) [[likely]] {
                Record told{time, place.local, lp, record->sequence, Stored::in_parcel};
                if (place.partition == partition.self_) [[likely]] {
                    told.sequence = partition.parcels_.put(record->sequence, payload);
                    partition.put(told);
                } else {
                    partition.outbox_.tell(place.partition, told, partition.grid_.cell_of(time), payload);
                }
            }
            if (logged && partition.lazy_) {
                partition.sent_payloads_.push_back(payload);
            }
            count(sent);
        }

        [[gnu::noinline]] bool sends_again(const Sent& sent, const Payload* payload) const {
            const auto take_back = [this](const SentBy& old) {
                partition.take_back(old);
                partition.take_back_all();
            };
            const bool again = withdrawn->sends_again(sent, record->sequence, payload, take_back);
            partition.statistics_.sent_again += again ? 1 : 0;
            return again;
        }

        /// To be put out when it is certain.
        void emit(const Emitted& emitted) {
            if (logged) {
                partition.emitted_.push_back(emitted);
            } else {
                partition.output_.push_back(emitted);
            }
        }

        [[gnu::always_inline]] Placement::Place check(std::uint32_t destination, Time time) const {
            const bool too_early = partition.lookahead_ ? time < until : partition.grid_.cell_of(time) < cell;
            if (too_early || destination >= partition.placement_.lps()) [[unlikely]] {
                refuse_event(lp, destination, time, partition.placement_.lps(),
                             partition.lookahead_ ? "that violates the lookahead" : "that is in the past");
            }
            return partition.placement_.of(destination);
        }

        [[gnu::always_inline]] void count(const Sent& sent) const {
            if (logged) {
                partition.sent_.push_back(sent);
            }
            if (++record->sequence == 0) [[unlikely]] {
                refuse_more_events(lp);
            }
        }
    };

    /// The last visit of an LP that can be undone.
    struct Last {
        Visit* visit = nullptr;
        std::int64_t cell_after = 0;  ///< one past its cell: 0 if there was none
    };

    // ---- what waits

    [[nodiscard]] std::int64_t first_waiting() {
        first_ = calendar_.first(first_);
        return first_;
    }

    [[nodiscard]] Gvt::Standing standing() {
        return {.waiting = std::min(first_waiting(), held_.first()),
                .handled = static_cast<std::int64_t>(handled_),
                .wants_pause = wants_pause_};
    }

    /// The last cell that may be gone through.
    [[nodiscard]] std::int64_t limit() const {
        const std::int64_t last =
            advance_ == Advance::conservative ? safe_ : std::max(safe_, gvt_.cell() + throttle_.cells_ahead());
        return std::min(last, stop_ - 1);
    }

    /// Where the log is full, only what is committed next may go on; the log then grows, if it has to.
    [[nodiscard]] bool has_room(std::int64_t cell) const {
        return log_.bytes_in_use() < log_bytes_ || cell <= std::max(safe_, gvt_.cell());
    }

    /// Something that an LP of this partition is told: from now on it waits.
    [[gnu::always_inline]] void put(const Record& told) {
        const std::int64_t cell = grid_.cell_of(told.time);
        if (cell <= frontier_) [[unlikely]] {
            put_back_to(told, cell);
            return;
        }
        push(told, cell);
    }

    [[gnu::always_inline]] void push(const Record& told, std::int64_t cell) {
        first_ = std::min(first_, cell);
        calendar_.push(told.time, told.lp, told.source, told.sequence, told.code);
    }

    /// The same in a cell that was gone through: whoever was visited in it too early has to be again.
    [[gnu::noinline]] void put_back_to(const Record& told, std::int64_t cell) {
        if (visiting_) {
            late_.push_back(told);
            return;
        }
        put_among_visited(told, cell);
        take_back_all();
    }

    /// What was told during a visit for cells that were gone through: now that the worker is free to undo.
    [[gnu::noinline]] void put_late() {
        for (const Record& told : late_) {
            put_among_visited(told, grid_.cell_of(told.time));
        }
        late_.clear();
        take_back_all();
    }

    void take_back_all() {
        while (!cancelled_.empty()) {
            const SentBy cancelled = cancelled_.back();
            cancelled_.pop_back();
            take_back(cancelled);
        }
    }

    void put_among_visited(const Record& told, std::int64_t cell) {
        if (cell == going_through_ && told.lp >> grid_.block_shift == block_) [[unlikely]] {
            meanwhile_.push_back(told);
            return;
        }
        if (last_[told.lp].cell_after > cell) {
            if (told.code == Stored::anti) {
                ++statistics_.secondary_rollbacks;
            } else {
                ++statistics_.primary_rollbacks;
            }
            undo_from(told.lp, cell);
        }
        push(told, cell);
    }

    /// An event that was sent is not to be.
    void take_back(const SentBy& cancelled) {
        const Placement::Place place = placement_.of(cancelled.sent.destination);
        const Record anti{cancelled.sent.time, place.local, cancelled.source, cancelled.sequence, Stored::anti};
        const std::int64_t cell = grid_.cell_of(anti.time);
        ++statistics_.taken_back;
        if (place.partition != self_) {
            outbox_.tell(place.partition, anti, cell);
            return;
        }
        if (cell > frontier_) {
            push(anti, cell);
        } else if (visiting_) {
            late_.push_back(anti);
        } else {
            put_among_visited(anti, cell);
        }
    }

    // ---- what others tell, and are told

    void receive_mails() {
        while (Mail<Payload>* mail = port_.receive()) {
            gvt_.received(mail->epoch);
            auto payload = mail->payloads.begin();
            for (Record& told : mail->records) {
                if (told.code == Stored::in_parcel) {
                    take_in(told, *payload++);
                }
                put(told);
            }
            port_.give_back(mail);
        }
    }

    /// A payload that has come from elsewhere: it has a code here, or lies in a parcel.
    void take_in(Record& told, Payload& payload) {
        if constexpr (adopts) {
            told.code = worker_.adopt(payload);
        }
        if (told.code == Stored::in_parcel) {
            told.sequence = parcels_.put(told.sequence, payload);
        }
    }

    /// Something with a code, which another process may not know.
    void tell_elsewhere(std::uint32_t partition, const Record& told) {
        const std::int64_t cell = grid_.cell_of(told.time);
        if constexpr (adopts) {
            if (!port_.shares_memory_with(partition)) {
                Record whole = told;
                whole.code = Stored::in_parcel;
                outbox_.tell(partition, whole, cell, model_.payload(told.code));
                return;
            }
        }
        outbox_.tell(partition, told, cell);
    }

    // ---- what is kept between legs

    void load_next(Unpacker& unpacker) {
        switch (unpacker.next<Kept>()) {
            case Kept::lp:
                load_lp(unpacker);
                return;
            case Kept::timer:
                load_timer(unpacker);
                return;
            case Kept::event:
                load_event(unpacker);
                return;
            case Kept::output:
                load_output(unpacker);
                return;
        }
        throw InputError("what was kept of a run is damaged");
    }

    [[nodiscard]] bool is_here(std::uint32_t lp) const {
        if (lp >= placement_.lps()) {
            throw InputError("what was kept of a run is about an LP " + std::to_string(lp) + ", of " +
                             std::to_string(placement_.lps()));
        }
        return placement_.of(lp).partition == self_;
    }

    void load_lp(Unpacker& unpacker) {
        const auto number = unpacker.next<std::uint32_t>();
        const auto bytes = unpacker.next<std::uint32_t>();
        Unpacker own = unpacker.part(bytes);
        if (!is_here(number)) {
            return;
        }
        const std::uint32_t local = placement_.of(number).local;
        Lp<State>& lp = lps_.make(local);
        ++loaded_;
        own(lp.sequence);
        if constexpr (packs) {
            worker_.unpack(lp.state, number, own);
        } else {
            own(lp.state);
        }
    }

    void load_timer(Unpacker& unpacker) {
        const auto lp = unpacker.next<std::uint32_t>();
        const auto time = unpacker.next<Time>();
        if (is_here(lp)) {
            const std::uint32_t local = placement_.of(lp).local;
            set_timer(lps_[local], local, time);
        }
    }

    void unload_lp(std::uint32_t local, Image::Piece& piece) {
        const Lp<State>& lp = lps_[local];
        const std::uint32_t number = placement_.lp_of(self_, local);
        Packer packer(piece);
        packer(Kept::lp);
        packer(number);
        packer(std::uint32_t{0});
        const std::size_t begin = piece.size();
        packer(lp.sequence);
        if constexpr (packs) {
            worker_.pack(lp.state, number, packer);
        } else {
            packer(lp.state);
        }
        store(piece.data() + begin - sizeof(std::uint32_t), static_cast<std::uint32_t>(piece.size() - begin));
    }

    void load_event(Unpacker& unpacker) {
        Record told;
        unpacker(told.time);
        const auto lp = unpacker.next<std::uint32_t>();
        unpacker(told.source);
        unpacker(told.sequence);
        Payload payload{};
        if constexpr (!std::is_empty_v<Payload>) {
            unpacker(payload);
            told.code = Stored::in_parcel;
        }
        if (!is_here(lp)) {
            return;
        }
        told.lp = placement_.of(lp).local;
        if (told.code == Stored::in_parcel) {
            take_in(told, payload);
        }
        push(told, grid_.cell_of(told.time));
    }

    void load_output(Unpacker& unpacker) {
        Emitted emitted{};
        unpacker(emitted);
        if constexpr (requires { emitted.lp; }) {
            if (is_here(emitted.lp)) {
                output_.push_back(emitted);
            }
        }
    }

    void unload_events(const Placement& next, Image& image) {
        held_.release_to(Gvt::nothing, [this](const Record& told, std::int64_t cell) { push(told, cell); });
        for (std::int64_t cell = first_waiting(); cell != Calendar::none; cell = first_waiting()) {
            if (!calendar_.is_near(cell)) {
                calendar_.advance(cell);
                continue;
            }
            const std::uint32_t block = calendar_.take_block(cell);
            batch_.gather(calendar_, block, cell);
            each_lp_of_batch([&](std::span<const Stored> told, bool anti) {
                const std::uint32_t lp = placement_.lp_of(self_, (block << grid_.block_shift) + told.front().lp);
                const Time begins = grid_.begin_of(cell);
                for (const Stored& stored : anti ? annihilation_.left_of(told, begins) : told) {
                    Image::Piece& piece = image.open(next.of(lp).partition);
                    if (stored.source == Stored::timer) {
                        Packer packer(piece);
                        packer(Kept::timer);
                        packer(lp);
                        packer(begins + stored.offset);
                    } else {
                        unload_event(opening_.open(stored, begins), lp, piece);
                    }
                }
            });
        }
    }

    static void unload_event(const Item& event, std::uint32_t lp, Image::Piece& piece) {
        Packer packer(piece);
        packer(Kept::event);
        packer(event.time);
        packer(lp);
        packer(event.source);
        packer(event.sequence);
        if constexpr (!std::is_empty_v<Payload>) {
            packer(*event.payload);
        }
    }

    /// Shows what each LP of the batch is told to `use`, and whether something is taken back.
    template <class Use>
    void each_lp_of_batch(Use use) const {
        const std::span<const Stored> events = batch_.events();
        for (std::size_t i = 0; i < events.size();) {
            const std::size_t first = i;
            bool anti = false;
            for (; i < events.size() && events[i].lp == events[first].lp; ++i) {
                anti = anti || events[i].code == Stored::anti;
            }
            use(events.subspan(first, i - first), anti);
        }
    }

    // ---- going through a cell

    /// One block of LPs in `cell`.
    void go_through(std::int64_t cell) {
        frontier_ = std::max(frontier_, cell);
        const std::uint32_t block = calendar_.take_block(cell);
        batch_.gather(calendar_, block, cell);
        if (!lookahead_) {
            let_visited_wait(cell, block << grid_.block_shift);
        }
        going_through_ = cell;
        block_ = block;
        run_block(cell, block << grid_.block_shift);
        going_through_ = none;
        for (const Record& told : std::exchange(meanwhile_, {})) {
            put(told);
        }
        outbox_.send_all();
    }

    void run_block(std::int64_t cell, std::uint32_t first_lp) {
        constexpr std::size_t far_ahead = Batch::margin;
        constexpr std::size_t ahead = 8;
        const bool logged = cell > safe_;
        const Time begins = grid_.begin_of(cell);
        Context context{*this, grid_.begin_of(cell + 1), cell};
        context.logged = logged;
        context.journal = journals<M> && logged ? &journal_ : nullptr;
        const std::span<const Stored> events = batch_.events();
        const Stored* event = events.data();
        const Stored* const end = event + events.size();
        while (event != end) {
            __builtin_prefetch(&lps_[first_lp + event[far_ahead].lp], 1);
            __builtin_prefetch(&last_[first_lp + event[far_ahead].lp], 1);
            if (event[far_ahead].code == Stored::in_parcel) {
                parcels_.prefetch(event[far_ahead].sequence);
            }
            const std::uint32_t soon = first_lp + event[ahead].lp;
            worker_.prefetch(lps_[soon].state, soon);
            const Stored* const first = event++;
            bool anti = first->code == Stored::anti;
            while (event != end && event->lp == first->lp) {
                anti = anti || event->code == Stored::anti;
                ++event;
            }
            context.enter(first_lp + first->lp);
            context.record = &lps_[context.local];
            const std::span<const Stored> told(first, event);
            if constexpr (mixes) {
                if (logged && lookahead_ && is_certain_only(context, told)) {
                    hold(context, told);
                    continue;
                }
            }
            if (!told_.empty()) [[unlikely]] {
                told_[context.local] += static_cast<std::uint32_t>(told.size());
            }
            if (lookahead_ || !waits_again(context.local)) [[likely]] {
                visit(context, anti ? annihilation_.left_of(told, begins) : told);
            }
        }
    }

    /// Whether an LP, as it is and with what it is told, does nothing before that is certain.
    [[nodiscard]] bool is_certain_only(const Context& context, std::span<const Stored> told) const {
        if (held_.has(context.local) || worker_.certain_only(context.record->state, context.lp)) {
            return true;
        }
        return std::any_of(told.begin(), told.end(), [this](const Stored& stored) {
            return stored.code == Stored::in_parcel && worker_.certain_only(parcels_[stored.sequence].payload);
        });
    }

    void hold(const Context& context, std::span<const Stored> told) {
        const Time begins = grid_.begin_of(context.cell);
        for (const Stored& stored : told) {
            held_.add({begins + stored.offset, context.local, stored.source, stored.sequence, stored.code},
                      context.cell);
        }
    }

    /// An LP does what belongs into a cell.
    [[gnu::always_inline]] void visit(Context& context, std::span<const Stored> told) {
        context.withdrawn = withdrawals_.find(context.local);
        if (!told.empty()) [[likely]] {
            make(context, told);
        }
        if (context.withdrawn != nullptr) [[unlikely]] {
            settle(context);
        }
    }

    [[gnu::always_inline]] void make(Context& context, std::span<const Stored> told) {
        const Time begins = grid_.begin_of(context.cell);
        if (check_) [[unlikely]] {
            check_visit(context, told, begins);
        }
        if (!context.logged) {
            run_lp(context, told, begins);
            for (const Stored& stored : told) {
                opening_.close(stored);
            }
            statistics_.committed += worker_.counted() - counted_;
            counted_ = worker_.counted();
        } else {
            clear_scratch();
            Visit* made = remember(context, told);
            run_lp(context, told, begins);
            keep(made, context);
        }
        if (!late_.empty()) [[unlikely]] {
            put_late();
        }
    }

    void clear_scratch() {
        sent_.clear();
        sent_payloads_.clear();
        journal_.clear();
        emitted_.clear();
    }

    /// Makes a visit, undoes it and compares, and makes it a second time: whoever makes it a third time finds all as it
    /// was. Throws LogicError if the model does not undo what it did, or does not do the same twice.
    [[gnu::noinline]] void check_visit(const Context& context, std::span<const Stored> told, Time begins) {
        Context trial = context;
        trial.logged = true;
        trial.dry = true;
        trial.journal = &journal_;
        trial.withdrawn = nullptr;
        Lp<State>& lp = *context.record;
        const auto fail = [&](const std::string& what) {
            throw LogicError("LP " + std::to_string(context.lp) + ", from " + std::to_string(begins) +
                             " ps on: " + what);
        };
        const std::vector<std::byte> before = bytes_of(lp.state, context.lp);
        const std::uint32_t sequence = lp.sequence;
        const std::uint32_t timer = lp.timer;
        std::vector<std::byte> after;
        std::vector<Sent> sent;
        for (int time = 0; time < 2; ++time) {
            clear_scratch();
            const std::uint64_t counted = worker_.counted();
            worker_.run(lp.state, opening_.open_all(lp, told, begins, trial.until, grid_), trial.until, trial);
            worker_.counted() = counted;
            if (time == 0) {
                sent = sent_;
                after = bytes_of(lp.state, context.lp);
            } else if (sent != sent_ || after != bytes_of(lp.state, context.lp)) {
                fail("handling the same events a second time leads to something else");
            }
            restore_state(lp, before.data(), journal_, context.lp);
            lp.sequence = sequence;
            lp.timer = timer;
            if (before != bytes_of(lp.state, context.lp)) {
                fail("undoing its events does not lead back to the state before them");
            }
        }
    }

    /// All that an LP is.
    [[nodiscard]] std::vector<std::byte> bytes_of(const State& state, std::uint32_t number) {
        std::vector<std::byte> bytes;
        if constexpr (packs) {
            if constexpr (requires { worker_.begin_packing(); }) {
                worker_.begin_packing();
            }
            Packer packer(bytes);
            worker_.pack(state, number, packer);
        } else {
            bytes.resize(sizeof state);
            std::memcpy(bytes.data(), &state, sizeof state);  // what lies between the fields, too
        }
        return bytes;
    }

    /// Without a lookahead, before a block goes through a cell: of LPs that have been there already all waits again,
    /// what they had been told and, after that, what they are told now.
    [[gnu::noinline]] void let_visited_wait(std::int64_t cell, std::uint32_t first_lp) {
        ++gathered_;
        const std::span<const Stored> events = batch_.events();
        const Time begins = grid_.begin_of(cell);
        for (const Stored& stored : events) {
            const std::uint32_t local = first_lp + stored.lp;
            if (last_[local].cell_after > cell) {
                ++statistics_.primary_rollbacks;
                undo_from(local, cell);
                waiting_since_[local] = gathered_;
            }
            if (waits_again(local)) {
                push({begins + stored.offset, local, stored.source, stored.sequence, stored.code}, cell);
            }
        }
        take_back_all();
    }

    [[nodiscard]] bool waits_again(std::uint32_t local) const { return waiting_since_[local] == gathered_; }

    /// What an LP has sent up to this cell in visits that were undone, and not again, is taken back.
    [[gnu::noinline]] void settle(const Context& context) {
        context.withdrawn->settle(context.cell, [this](const SentBy& old) {
            take_back(old);
            take_back_all();
        });
        if (context.withdrawn->empty()) {
            withdrawals_.remove(context.local);
        }
    }

    [[gnu::always_inline]] void run_lp(Context& context, std::span<const Stored> told, Time begins) {
        Lp<State>& lp = *context.record;
        Time next = never;
        visiting_ = true;
        if (told.size() == 1 && told.front().source != Stored::timer) [[likely]] {
            next = worker_.run_one(lp.state, opening_.open(told.front(), begins), context.until, context);
        } else {
            const std::span<const Item> events = opening_.open_all(lp, told, begins, context.until, grid_);
            for (std::size_t i = 1; i < events.size(); ++i) {
                statistics_.ties += events[i].time == events[i - 1].time ? 1 : 0;
            }
            next = worker_.run(lp.state, events, context.until, context);
        }
        visiting_ = false;
        set_timer(lp, context.local, next);
    }

    void set_timer(Lp<State>& lp, std::uint32_t local, Time time) {
        const std::int64_t cell = grid_.cell_of(time);
        if (time != never && lp.wants_visit_in(cell)) [[unlikely]] {
            push({time, local, Stored::timer, 0, 0}, cell);
        }
    }

    // ---- there and back

    /// Writes down how the LP is, and what it is told, before it is visited.
    Visit* remember(const Context& context, std::span<const Stored> told) {
        constexpr std::size_t state_bytes = journals<M> ? 0 : Visit::padded(sizeof(State));
        Visit* made = log_.open(sizeof(Visit) + state_bytes + told.size() * sizeof(Stored));
        const Lp<State>& lp = *context.record;
        const Last& last = last_[context.local];
        made->before = last.visit;
        made->cell_before = last.cell_after;
        made->cell = context.cell;
        made->lp = context.local;
        made->events = static_cast<std::uint32_t>(told.size());
        made->sends = 0;
        made->payload_bytes = made->journal_bytes = made->emitted_bytes = 0;
        made->sequence = lp.sequence;
        made->timer = lp.timer;
        made->state_bytes = state_bytes;
        made->undone = false;
        if constexpr (!journals<M>) {
            std::memcpy(made->state(), &lp.state, sizeof(State));
        }
        std::copy(told.begin(), told.end(), made->told().begin());
        return made;
    }

    /// Adds what the visit led to.
    void keep(Visit* made, const Context& context) {
        const std::size_t written = made->bytes();
        const std::size_t payload_bytes = sent_payloads_.size() * sizeof(Payload);
        const std::size_t emitted_bytes = emitted_.size() * sizeof(Emitted);
        const std::size_t more = sent_.size() * sizeof(Sent) + Visit::padded(payload_bytes) +
                                 Visit::padded(journal_.size()) + Visit::padded(emitted_bytes);
        if (more > 0) {
            made = log_.reopen(made, written, written + more);
            made->sends = static_cast<std::uint32_t>(sent_.size());
            made->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
            made->journal_bytes = static_cast<std::uint32_t>(journal_.size());
            made->emitted_bytes = static_cast<std::uint32_t>(emitted_bytes);
            std::copy(sent_.begin(), sent_.end(), made->sent().begin());
            copy_into(made->payloads(), sent_payloads_.data());
            copy_into(made->journal(), journal_.data());
            copy_into(made->emitted(), emitted_.data());
        }
        made->counted = static_cast<std::uint32_t>(worker_.counted() - counted_);
        counted_ = worker_.counted();
        log_.close(made);
        last_[context.local] = {made, context.cell + 1};
    }

    static void copy_into(std::span<std::byte> bytes, const void* values) {
        if (!bytes.empty()) {
            std::memcpy(bytes.data(), values, bytes.size());
        }
    }

    /// The state as it was before a visit: a copy was made of it, or the model undoes what it has written down.
    void restore_state(Lp<State>& lp, const void* copy, std::span<const std::byte> journal, std::uint32_t number) {
        if constexpr (journals<M>) {
            worker_.undo(lp.state, journal, number);
        } else {
            std::memcpy(&lp.state, copy, sizeof(State));
        }
    }

    /// Undoes all that an LP did in `cell` and after.
    void undo_from(std::uint32_t local, std::int64_t cell) {
        Last& last = last_[local];
        while (last.cell_after > cell) {
            undo(*last.visit);
            last = {last.visit->before, last.visit->cell_before};
        }
    }

    void undo(Visit& visit) {
        Lp<State>& lp = lps_[visit.lp];
        restore_state(lp, visit.state(), visit.journal(), placement_.lp_of(self_, visit.lp));
        lp.sequence = visit.sequence;
        lp.timer = visit.timer;
        const Time begins = grid_.begin_of(visit.cell);
        for (const Stored& stored : visit.told()) {
            calendar_.push(begins + stored.offset, visit.lp, stored.source, stored.sequence, stored.code);
        }
        first_ = std::min(first_, visit.cell);
        const std::uint32_t source = placement_.lp_of(self_, visit.lp);
        if (lazy_) {
            withdrawals_.add(visit, source);
        } else {
            cancel(visit, source);
        }
        statistics_.rolled_back += visit.counted;
        worker_.counted() -= visit.counted;
        counted_ -= visit.counted;
        visit.undone = true;
    }

    void cancel(Visit& visit, std::uint32_t source) {
        std::uint32_t sequence = visit.sequence;
        for (const Sent& sent : visit.sent()) {
            cancelled_.push_back({sent, sequence++, source});
        }
    }

    void commit(Visit& visit) {
        for (const Stored& stored : visit.told()) {
            opening_.close(stored);
        }
        for (std::size_t at = 0; at < visit.emitted_bytes; at += sizeof(Emitted)) {
            std::memcpy(&output_.emplace_back(), visit.emitted().data() + at, sizeof(Emitted));
        }
        statistics_.committed += visit.counted;
    }

    /// What follows from a new GVT.
    void know_gvt() {
        const std::int64_t gvt = gvt_.cell();
        if (stop_ == Gvt::nothing && (gvt_.cut().goes_on == 0 || is_uneven(gvt_.cut()))) {
            stop_ = gvt + Throttle::furthest + 1;  // nobody was further
        }
        log_.commit_before(gvt, [this](Visit& visit) { commit(visit); });
        calendar_.advance(gvt);
        if (lookahead_) {
            safe_ = std::min(gvt_.told_from() - 1, gvt);
        }
        held_.release_to(safe_, [this](const Record& told, std::int64_t cell) { push(told, cell); });
        throttle_.adapt(worker_.counted(), statistics_.rolled_back);
        if (series_.is_next()) {
            const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun_;
            series_.add({since.count(), grid_.begin_of(gvt), statistics_.committed, statistics_.rolled_back,
                         log_.bytes_in_use()});
        }
    }

    /// Whether one partition has had so many more events than the others that LPs had better move.
    [[nodiscard]] bool is_uneven(const Cut& cut) const {
        const auto handled = static_cast<std::uint64_t>(cut.handled);
        constexpr double much = 1.2;
        return pause_if_uneven_after_ > 0 && handled >= pause_if_uneven_after_ &&
               static_cast<double>(-cut.busiest) * placement_.partitions() > much * static_cast<double>(handled);
    }

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
    std::uint64_t handled_ = 0;        ///< events, undone ones too
    std::uint64_t handled_since_ = 0;  ///< GVT was asked for
    Held held_;
    std::uint32_t loaded_ = 0;       ///< LPs
    HugeArray<std::uint32_t> told_;  ///< by LP, if they may move: how many events
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
