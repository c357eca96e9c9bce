#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/call_sites.hpp"
#include "trace/rank_trace.hpp"
#include "trace/site_cycles.hpp"

namespace idlewave::trace {

/// The level of the last MPI_Pcontrol; none before the first.
using Phase = std::optional<std::int32_t>;

/// How long the computations of a program take that is made of a trace.
struct ComputationOptions {
    bool drawn =
        false;  ///< from the recorded ones of the same site, position in its cycle and rank; else as they were recorded
    std::uint64_t seed = 0;
    double factor = 1;                                ///< by which they take longer than recorded
    std::map<Phase, double> factors_by_phase;         ///< instead of `factor`
    std::map<std::uint64_t, double> factors_by_site;  ///< instead of both; by CallSite::id
    double noise = 0;  ///< the share of time by which detours that no wait for a core shows have lengthened them

    [[nodiscard]] bool as_recorded() const {
        return !drawn && factor == 1 && factors_by_phase.empty() && factors_by_site.empty() && noise == 0;
    }
};

/// Which phases and sites of the options the calls that were converted have.
class SeenSites {
  public:
    void note(const CallSite& site, std::uint64_t id) {
        phases_.insert(site.level);
        sites_.insert(id);
    }

    /// Throws an InputError that names a phase or site of the options that no call has.
    void check(const ComputationOptions& options, const std::string& trace) const;

  private:
    std::set<Phase> phases_;
    std::set<std::uint64_t> sites_;
};

/// Says how long the computations of one rank take.
class ComputationTimes {
  public:
    /// `begin` and `end`: of the rank's calls those after `begin` up to `end` are used, and only their computations are
    /// drawn.
    ComputationTimes(const RankTrace& rank, bool wall, std::uint64_t begin, std::uint64_t end,
                     const ComputationOptions& options, SeenSites& seen);

    /// How long the computation before a call takes, in ns, which took `ns`. All calls of the rank are given, in order,
    /// also those that are left out, which are not `used`.
    std::int64_t time(const TraceRecord& r, std::int64_t ns, bool used);

  private:
    using SiteOfThread = std::pair<std::uint32_t, std::uint64_t>;  // the thread, and CallSite::id

    /// The recorded computations of a site.
    struct Recorded {
        SiteCycle cycle;
        std::vector<std::vector<std::int64_t>> ns = {};  ///< by position, those that are used
        std::size_t before = 0;                          ///< how many come before those that are used
        std::size_t end = 0;                             ///< how many there are with these
        std::size_t given = 0;                           ///< how many were given
    };

    void read(const RankTrace& rank, bool wall, std::uint64_t begin, std::uint64_t end);
    [[nodiscard]] std::int64_t drawn_time(const SiteOfThread& site, std::int64_t ns);
    [[nodiscard]] double factor_of(const CallSite& site, bool used);
    std::int64_t scaled(std::int64_t ns, double factor);

    std::uint32_t rank_;
    const ComputationOptions& options_;
    SeenSites& seen_;
    CallSites sites_;
    std::map<SiteOfThread, Recorded> recorded_;
    std::uint64_t drawn_ = 0;  ///< how many computations were drawn
    double remainder_ = 0;     ///< of the last scaled computation, below 1 ns
};

}  // namespace idlewave::trace
