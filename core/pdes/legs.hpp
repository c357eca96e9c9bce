#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "pdes/balance.hpp"
#include "pdes/checkpoint.hpp"
#include "pdes/counted.hpp"
#include "pdes/exchange.hpp"
#include "pdes/image.hpp"
#include "pdes/mailboxes.hpp"
#include "pdes/manner.hpp"
#include "pdes/model.hpp"
#include "pdes/partitions.hpp"
#include "pdes/placement.hpp"
#include "pdes/processes.hpp"
#include "pdes/statistics.hpp"
#include "pdes/traffic.hpp"
#include "pdes/wire.h"

namespace idlewave::pdes {

/// Where a run is kept while it goes on.
struct Keeping {
    std::string directory = {};  ///< empty: it is not
    std::string run = {};        ///< in a line, which model runs, and with what
    double every = 600;          ///< seconds between two checkpoints
    bool restart = false;        ///< begin with the last checkpoint that is there
};

/// Who takes part in a run, and how it is kept.
struct Crew {
    std::uint32_t threads = 1;
    const idlewave_wire* wire = nullptr;  ///< to the other processes of the run, each of which has so many threads
    bool pin = false;                     ///< each thread to a processor of its own
    /// After so many events a partition LPs move to others that had far fewer; 0: never.
    std::uint64_t migrate_after = 0;
    /// Where LPs move to after so many events, whether these were uneven or not, instead of side by side: from who told
    /// whom (as Traffic has it, by groups) the partition of each group. The same in all processes.
    std::function<std::vector<std::uint32_t>(const std::vector<std::uint64_t>& between, std::uint32_t partitions)>
        place = {};
    Keeping keeping = {};
    std::function<void(Time)> poll = {};  ///< called now and then with the time before which all is certain; may throw

    [[nodiscard]] std::uint32_t processes() const {
        return wire == nullptr ? 1 : static_cast<std::uint32_t>(wire->processes);
    }
    [[nodiscard]] std::uint32_t partitions() const { return threads * processes(); }
};

/// A run of partitions from its beginning, or a checkpoint, to its end, in legs: between two of them all is kept in an
/// image, LPs may move to other partitions, and the image may be written to files. The answer is the same however many
/// legs there are.
template <Model M>
class Legs {
  public:
    using Clock = std::chrono::steady_clock;

    /// `placement`: of the first leg.
    Legs(M& model, Placement placement, const Manner& manner, const Crew& crew)
        : model_(model),
          placement_(std::move(placement)),
          manner_(manner),
          crew_(crew),
          folder_(crew.keeping.directory, crew.keeping.run),
          image_(crew.partitions()),
          kept_at_(Clock::now()) {
        if (crew.partitions() > 1) {
            manner_.pause_if_uneven_after = crew.migrate_after * crew.partitions();
            manner_.counts_who_tells_whom = static_cast<bool>(crew.place);
            manner_.uneven = crew.place ? 0 : manner.uneven;
        }
    }

    /// Shows the partitions to `use` when they are at the end.
    template <class Use>
    Counted run(Use use) {
        const auto begin = Clock::now();
        restart();
        while (!run_leg(begin, use)) {
            ++counted_.legs;
            keep(begin);
        }
        counted_.seconds = seconds_since(begin) - counted_.init_seconds + seconds_before_;
        return std::move(counted_);
    }

  private:
    static double seconds_since(Clock::time_point begin) {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    }

    /// All that is there to begin with.
    void restart() {
        if (!crew_.keeping.restart) {
            if (!crew_.keeping.directory.empty()) {
                folder_.prepare();
                meet(crew_.wire);
            }
            return;
        }
        Checkpoint checkpoint = folder_.read();
        manner_.from = checkpoint.from;
        seconds_before_ = checkpoint.seconds;
        counted_.before = checkpoint.statistics;
        found_ = std::move(checkpoint.pieces);
    }

    /// Returns whether it was the last.
    template <class Use>
    bool run_leg(Clock::time_point begin, Use use) {
        if (crew_.wire != nullptr) {
            Processes<typename M::Payload> transport(*crew_.wire, crew_.threads);
            return run_leg_over(transport, begin, use);
        }
        Mailboxes<typename M::Payload> transport(crew_.threads);
        return run_leg_over(transport, begin, use);
    }

    template <class Transport, class Use>
    bool run_leg_over(Transport& transport, Clock::time_point begin, Use use) {
        const double before = seconds_since(begin);
        Partitions<M, Transport> partitions(model_, placement_, transport, manner_, crew_.pin);
        if (manner_.from == 0) {
            partitions.begin();
        } else {
            partitions.load(image_, found_);
            found_.clear();
        }
        if (counted_.legs == 1) {
            counted_.init_seconds = seconds_since(begin);
        }
        partitions.run(crew_.poll, [this] { return wants_pause(); });
        count(partitions, before);
        if (partitions.at_end()) {
            use(partitions);
            return true;
        }
        if (partitions.paused_as_uneven()) {
            place_anew(partitions);
            manner_.pause_if_uneven_after = crew_.place ? 0 : 2 * manner_.pause_if_uneven_after;
            manner_.counts_who_tells_whom = false;
        }
        image_ = partitions.unload(next());
        manner_.from = partitions.paused_at();
        return false;
    }

    template <class Transport>
    void count(Partitions<M, Transport>& partitions, double before) {
        const Statistics& all = counted_.statistics;
        for (Sample sample : partitions.series()) {
            sample.seconds += before + seconds_before_;
            sample.committed += all.committed;
            sample.rolled_back += all.rolled_back;
            counted_.series.push_back(sample);
        }
        counted_.statistics.go_on(partitions.statistics());
    }

    [[nodiscard]] bool wants_pause() const {
        return !crew_.keeping.directory.empty() && seconds_since(kept_at_) >= crew_.keeping.every;
    }

    /// By the events that LPs had.
    template <class Transport>
    void place_anew(Partitions<M, Transport>& partitions) {
        if (crew_.place) {
            const std::size_t groups = Traffic::groups_of(model_.lps());
            std::vector<std::uint64_t> between(groups * groups);
            partitions.add_between(between);
            add_up(between, crew_.wire);
            next_ = by_groups(crew_.place(between, crew_.partitions()), model_.lps(), crew_.partitions());
            return;
        }
        const std::uint32_t group = group_size(model_.lps(), most_groups);
        std::vector<std::uint64_t> weights((model_.lps() + group - 1) / group);
        partitions.add_weights(weights, group);
        add_up(weights, crew_.wire);
        next_ = balanced(weights, model_.lps(), crew_.partitions());
    }

    const Placement& next() const { return next_ ? *next_ : placement_; }

    /// Between two legs: every process has what its partitions will need, and the run is in files.
    void keep(Clock::time_point begin) {
        if (crew_.wire != nullptr) {
            exchange(image_, *crew_.wire, crew_.threads);
        }
        if (next_) {
            placement_ = *std::exchange(next_, std::nullopt);
        }
        if (!crew_.keeping.directory.empty()) {
            Checkpoint checkpoint;
            checkpoint.from = manner_.from;
            checkpoint.seconds = seconds_since(begin) - counted_.init_seconds + seconds_before_;
            Statistics since = counted_.statistics;
            add_up(since, crew_.wire);
            checkpoint.statistics = counted_.before;
            checkpoint.statistics.go_on(since);
            folder_.write(checkpoint, image_, crew_.wire);
            kept_at_ = Clock::now();
        }
    }

    M& model_;
    Placement placement_;
    std::optional<Placement> next_;  ///< that LPs are moving to
    Manner manner_;
    const Crew& crew_;
    CheckpointFolder folder_;
    Image image_;
    std::vector<Image::Piece> found_;  ///< in a checkpoint
    Counted counted_;
    double seconds_before_ = 0;  ///< the checkpoint
    Clock::time_point kept_at_;
};

}  // namespace idlewave::pdes
