#include "trace/computation_times.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "trace/between_calls.hpp"

namespace idlewave::trace {
namespace {

/// The stream of random numbers that draws use. It differs from those of Stream (base/random.hpp).
constexpr std::uint64_t computation_stream = 0x636f6d70;

std::string phase_text(const Phase& phase) {
    return "level:" + (phase ? std::to_string(*phase) : "none");
}

std::string phases_text(const std::set<Phase>& phases) {
    std::string text;
    for (const Phase& phase : phases) {
        text += text.empty() ? "" : ", ";
        text += phase_text(phase);
    }
    return text;
}

std::string site_text(std::uint64_t id) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (int shift = 36; shift >= 0; shift -= 4) {
        text += digits[id >> shift & 15];
    }
    return text;
}

}  // namespace

void SeenSites::check(const ComputationOptions& options, const std::string& trace) const {
    for (const auto& [phase, factor] : options.factors_by_phase) {
        if (!phases_.contains(phase)) {
            throw InputError(trace + ": no computation that is used has the phase " + phase_text(phase) +
                             ": expected a level of its MPI_Pcontrol, of " + phases_text(phases_));
        }
    }
    for (const auto& [site, factor] : options.factors_by_site) {
        if (!sites_.contains(site)) {
            throw InputError(trace + ": no call that is used has the site " + site_text(site) +
                             ": expected one of those that `idlewave computation` lists");
        }
    }
}

ComputationTimes::ComputationTimes(const RankTrace& rank, bool wall, std::uint64_t begin, std::uint64_t end,
                                   const ComputationOptions& options, SeenSites& seen)
    : rank_(rank.header().rank), options_(options), seen_(seen) {
    if (options.drawn) {
        read(rank, wall, begin, end);
    }
}

void ComputationTimes::read(const RankTrace& rank, bool wall, std::uint64_t begin, std::uint64_t end) {
    struct SiteOnRank {
        std::vector<SiteComputation> computations;
        std::size_t before = 0;
    };
    std::map<SiteOfThread, SiteOnRank> found;
    CallSites sites;
    BetweenCalls between(rank, wall);
    std::uint64_t record = 0;
    std::vector<std::uint64_t> calls(rank.threads().size());  // by thread
    rank.each([&](const TraceRecord& r) {
        record += r.call == Call::core_wait ? 0 : 1;
        const std::optional<std::int64_t> ns = between.before(r);
        if (ns && CallSites::has_site(r.call) && record <= end) {
            SiteOnRank& site = found[{r.thread, sites.next(r).id()}];
            site.before += record <= begin ? 1 : 0;
            site.computations.push_back({++calls[r.thread], *ns});
        }
    });
    for (auto& [id, site] : found) {
        Recorded recorded{.cycle = std::move(cycles_of(std::span(&site.computations, 1)).front()),
                          .before = site.before,
                          .end = site.computations.size()};
        recorded.ns.resize(recorded.cycle.length);
        for (std::size_t i = site.before; i < site.computations.size(); ++i) {
            recorded.ns[recorded.cycle.position(i)].push_back(site.computations[i].ns);
        }
        recorded_.emplace(id, std::move(recorded));
    }
}

std::int64_t ComputationTimes::time(const TraceRecord& r, std::int64_t ns, bool used) {
    if (!CallSites::has_site(r.call)) {
        return ns;
    }
    const CallSite& site = sites_.next(r);
    const std::int64_t whole = std::max<std::int64_t>(options_.drawn ? drawn_time({r.thread, site.id()}, ns) : ns, 0);
    const double factor = factor_of(site, used) * (1 - options_.noise);
    return factor == 1 ? whole : scaled(whole, factor);
}

/// Draws one of the recorded computations of the site and the position in its cycle in this thread of the rank, each of
/// which is as likely as another. Outside the stretch that is used a computation takes as long as recorded.
std::int64_t ComputationTimes::drawn_time(const SiteOfThread& site, std::int64_t ns) {
    const auto found = recorded_.find(site);
    if (found == recorded_.end()) {
        return ns;
    }
    Recorded& recorded = found->second;
    const std::size_t number = recorded.given++;
    const std::uint64_t bits = philox({rank_, drawn_++, 0, 0}, {options_.seed, computation_stream})[0];
    if (number < recorded.before || number >= recorded.end) {
        return ns;
    }
    const std::vector<std::int64_t>& candidates = recorded.ns[recorded.cycle.position(number)];
    return candidates[below(candidates.size(), bits)];
}

double ComputationTimes::factor_of(const CallSite& site, bool used) {
    if (options_.factors_by_site.empty() && options_.factors_by_phase.empty()) {
        return options_.factor;
    }
    const std::uint64_t id = site.id();
    if (used) {
        seen_.note(site, id);
    }
    if (const auto own = options_.factors_by_site.find(id); own != options_.factors_by_site.end()) {
        return own->second;
    }
    const auto of_phase = options_.factors_by_phase.find(site.level);
    return of_phase == options_.factors_by_phase.end() ? options_.factor : of_phase->second;
}

/// Returns whole ns. What is cut off is added to the next computation, so that no more than 1 ns of all is lost.
std::int64_t ComputationTimes::scaled(std::int64_t ns, double factor) {
    const double exact = std::min(static_cast<double>(ns) * factor + remainder_, static_cast<double>(latest));
    const double whole = std::floor(exact);
    remainder_ = exact - whole;
    return static_cast<std::int64_t>(whole);
}

}  // namespace idlewave::trace
