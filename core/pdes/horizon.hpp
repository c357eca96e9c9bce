#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pdes/gvt.hpp"
#include "pdes/partition_options.hpp"
#include "pdes/throttle.hpp"
#include "pdes/timed_choice.hpp"

namespace idlewave::pdes {

/// How far a partition may execute events, what it knows of GVT, and when all partitions pause.
///
/// With a lookahead, events up to `safe` are certain. Where undo records and rollbacks take longer than waiting saves,
/// as with ranks that have many requests, a partition executes these only: it compares the times that a committed event
/// takes (TimedChoice).
class Horizon {
  public:
    using Clock = TimedChoice<Speculation>::Clock;

    /// `first`: the first cell of this segment; `partitions` of the run.
    Horizon(const PartitionOptions& options, bool has_lookahead, std::int64_t first, std::uint32_t partitions)
        : has_lookahead_(has_lookahead),
          given_(!has_lookahead || options.check ? Speculation::ahead : options.speculation),
          log_bytes_(options.log_bytes),
          migrate_after_(options.migrate_after),
          imbalance_(options.imbalance),
          partitions_(partitions),
          gvt_(first),
          frontier_(first - 1),
          safe_(first - 1) {}

    [[nodiscard]] Gvt& gvt() { return gvt_; }
    [[nodiscard]] const Gvt& gvt() const { return gvt_; }
    [[nodiscard]] bool has_lookahead() const { return has_lookahead_; }

    /// No event can come any more for cells up to this one.
    [[nodiscard]] std::int64_t safe() const { return safe_; }
    /// The last cell in which an LP was executed.
    [[nodiscard]] std::int64_t frontier() const { return frontier_; }
    /// The first cell that is not executed in this segment.
    [[nodiscard]] std::int64_t stop() const { return stop_; }

    /// Whether events of `cell` may be executed, while the undo log takes `log_bytes`. Where the log is full, only what
    /// commits next is executed; the log then grows if it must.
    [[nodiscard]] bool allows(std::int64_t cell, std::size_t log_bytes) const {
        return cell <= limit() && (log_bytes < log_bytes_ || cell <= std::max(safe_, gvt_.cell()));
    }

    void enter(std::int64_t cell) { frontier_ = std::max(frontier_, cell); }
    void count_executed(std::size_t events) {
        executed_ += static_cast<std::int64_t>(events);
        executed_since_ += events;
    }
    [[nodiscard]] std::int64_t executed() const { return executed_; }

    /// Whether a round of GVT has to begin: enough events were executed since the last one, or the partition is idle.
    [[nodiscard]] bool needs_round(bool idle) const {
        return !gvt_.in_round() && (idle || executed_since_ >= throttle_.interval());
    }
    void begin_round() { executed_since_ = 0; }

    /// Events of a partition so far.
    struct Progress {
        std::uint64_t committed = 0;
        std::uint64_t not_rolled_back = 0;  ///< executed, committed or not
        std::uint64_t rolled_back = 0;
    };

    /// Takes up a new GVT at `now`.
    void advance(const Progress& progress, Clock::time_point now) {
        const Cut& cut = gvt_.cut();
        if (stop_ == Gvt::nothing && (cut.continues == 0 || is_imbalanced(cut))) {
            paused_for_migration_ = is_imbalanced(cut);
            stop_ = gvt_.cell() + Throttle::furthest + 1;  // no partition has executed a later cell
        }
        if (has_lookahead_) {
            safe_ = std::min(gvt_.first_sent() - 1, gvt_.cell());
        }
        if (!given_) {
            choice_.count(progress.committed, now);  // what was executed may be rolled back later
        }
        if (speculation() == Speculation::ahead) {
            throttle_.adapt(progress.not_rolled_back, progress.rolled_back);
        } else {
            throttle_.count_from(progress.not_rolled_back, progress.rolled_back);
        }
    }

    /// Whether all partitions have ended: nothing lies before the end of the segment.
    [[nodiscard]] bool has_ended() const { return gvt_.cell() >= stop_ && gvt_.first_sent() == Gvt::nothing; }
    /// Whether no event is left at all.
    [[nodiscard]] bool at_end() const { return gvt_.cell() == Gvt::nothing; }

    void ask_to_pause() { wants_pause_ = true; }
    [[nodiscard]] bool wants_pause() const { return wants_pause_; }
    [[nodiscard]] bool paused_for_migration() const { return paused_for_migration_; }

  private:
    [[nodiscard]] Speculation speculation() const { return given_ ? *given_ : choice_.chosen(); }

    [[nodiscard]] std::int64_t limit() const {
        const bool ahead = speculation() == Speculation::ahead;
        return std::min(ahead ? std::max(safe_, gvt_.cell() + throttle_.cells_ahead()) : safe_, stop_ - 1);
    }

    /// Whether one partition executes so many more events than the others that LPs should migrate.
    [[nodiscard]] bool is_imbalanced(const Cut& cut) const {
        const auto executed = static_cast<std::uint64_t>(cut.executed);
        return migrate_after_ > 0 && executed >= migrate_after_ &&
               static_cast<double>(-cut.busiest) * partitions_ > imbalance_ * static_cast<double>(executed);
    }

    bool has_lookahead_;
    std::optional<Speculation> given_;  ///< else it is chosen
    bool wants_pause_ = false;
    bool paused_for_migration_ = false;
    std::size_t log_bytes_;
    std::uint64_t migrate_after_;
    double imbalance_;
    std::uint32_t partitions_;
    Gvt gvt_;
    Throttle throttle_;
    TimedChoice<Speculation> choice_;
    std::int64_t frontier_;
    std::int64_t safe_;
    std::int64_t stop_ = Gvt::nothing;
    std::int64_t executed_ = 0;         ///< events, with those rolled back
    std::uint64_t executed_since_ = 0;  ///< the last round of GVT began
};

}  // namespace idlewave::pdes
