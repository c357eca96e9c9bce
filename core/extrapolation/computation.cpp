#include "extrapolation/computation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"

namespace idlewave::extrapolation {
namespace {

/// Which rules of peers give a rank a peer. Computation before a call of one that has no neighbour on a side may be
/// that before another call of one that has it, so only ranks with the same neighbours are compared.
using Neighbours = std::vector<bool>;

/// The mean of the middle half.
double middle_half(std::vector<double>& values) {
    std::ranges::sort(values);
    const std::size_t quarter = values.size() / 4;
    double sum = 0;
    for (std::size_t i = quarter; i < values.size() - quarter; ++i) {
        sum += values[i];
    }
    return sum / static_cast<double>(values.size() - 2 * quarter);
}

class Computation {
  public:
    Computation(const FoundStructure& found, std::span<const TracedRun> runs, const ProcessGrid& grid)
        : program_(found.program), found_(found), runs_(runs), grid_(grid), groups_(2 * program_.sites.size()) {}

    ContinuedComputation find() {
        find_compared();
        std::vector<std::vector<Sample>> samples(groups_);
        std::vector<double> all;  // of the largest run, in ns
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            all = measure(run, samples);
        }
        double total = 0;
        for (const double ns : all) {
            total += ns;
        }
        std::vector<double> factors(groups_, 1);
        for (std::uint32_t group = 0; group < groups_; ++group) {
            if (all[group] > least_share * total && !samples[group].empty()) {
                factors[group] = factor(group, samples[group]);
            }
        }
        result_.factors.assign(program_.items.size(), 1);
        for (std::uint32_t item = 0; item < program_.items.size(); ++item) {
            result_.factors[item] = found_.runs.back().items[item].is_first ? 1 : factors[group_of(item)];
        }
        return std::move(result_);
    }

  private:
    [[nodiscard]] const ProcessGrid& grid_of(std::size_t run) const { return found_.runs[run].grid; }

    [[nodiscard]] Neighbours neighbours_of(std::size_t run, std::uint32_t rank) const {
        Neighbours neighbours;
        for (const Site& site : program_.sites) {
            neighbours.push_back(!site.peers.empty() && site.peers.front().kind != PeerRule::Kind::any &&
                                 peer_of(site.peers.front(), grid_of(run), rank).has_value());
        }
        return neighbours;
    }

    /// The kinds of ranks that the largest run has, and as many other runs as possible: those are compared.
    void find_compared() {
        std::map<Neighbours, std::set<std::size_t>> runs_with;
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            for (std::uint32_t rank = 0; rank < runs_[run].ranks(); ++rank) {
                runs_with[neighbours_of(run, rank)].insert(run);
            }
        }
        std::size_t most = 0;
        for (const auto& [neighbours, runs] : runs_with) {
            most = runs.contains(runs_.size() - 1) ? std::max(most, runs.size()) : most;
        }
        for (const auto& [neighbours, runs] : runs_with) {
            if (runs.contains(runs_.size() - 1) && runs.size() == most) {
                compared_.insert(neighbours);
            }
        }
    }

    /// The calls before which computation follows one law: those of a site, and the waits for them.
    [[nodiscard]] std::uint32_t group_of(std::uint32_t item) const {
        const Item& own = program_.items[item];
        const auto sites = static_cast<std::uint32_t>(program_.sites.size());
        return own.kind == Action::Kind::wait ? sites + program_.items[program_.awaited[own.awaited_begin]].site
                                              : own.site;
    }

    /// Adds a sample of the run to each group: the mean over kinds of ranks of the mean of the middle half of each
    /// rank's calls, as one long interruption is no computation. Returns the computation of each group, of all these
    /// ranks together, in ns.
    std::vector<double> measure(std::size_t run, std::vector<std::vector<Sample>>& samples) {
        std::vector<double> all(groups_, 0);
        std::vector<std::map<Neighbours, std::pair<double, double>>> sums(groups_);  // of means, and ranks
        std::set<Neighbours> seen;
        Walk walk(program_, grid_of(run));
        for (std::uint32_t rank = 0; rank < runs_[run].ranks(); ++rank) {
            const Neighbours neighbours = neighbours_of(run, rank);
            if (!compared_.contains(neighbours)) {
                continue;
            }
            seen.insert(neighbours);
            std::vector<std::vector<double>> ns(groups_);
            std::size_t call = 0;
            walk(rank, [&](const PlannedCall& planned) {
                const auto time = static_cast<double>(runs_[run].rank(rank).all()[call].ns);
                if (call++ > 0) {
                    ns[group_of(planned.item)].push_back(time);
                    all[group_of(planned.item)] += time;
                }
                return true;
            });
            for (std::size_t group = 0; group < groups_; ++group) {
                if (!ns[group].empty()) {
                    sums[group][neighbours].first += middle_half(ns[group]);
                    sums[group][neighbours].second += 1;
                }
            }
        }
        for (std::size_t group = 0; group < groups_ && seen.size() == compared_.size(); ++group) {
            double mean = 0;
            for (const auto& [neighbours, sum] : sums[group]) {
                mean += sum.first / sum.second / static_cast<double>(sums[group].size());
            }
            if (!sums[group].empty()) {
                samples[group].push_back({grid_of(run), mean});
            }
        }
        return all;
    }

    /// By which factor the largest run's computation before the calls of a group becomes that on the grid.
    double factor(std::uint32_t group, const std::vector<Sample>& samples) {
        const auto sites = static_cast<std::uint32_t>(program_.sites.size());
        const auto of = std::ranges::find_if(program_.items, [&](const Item& item) {
            return item.kind != Action::Kind::wait && item.site == group % sites;
        });
        const std::string what = "computation before the " + std::string(group < sites ? "" : "wait for the ") +
                                 name_of(program_, static_cast<std::uint32_t>(of - program_.items.begin()));
        const Fit fit = fit_time(samples);
        if (fit.worst > most_off) {
            throw InputError("the " + what + " follows no law: " + text_of(samples, " ns") +
                             " ranks; the largest run's can be used as it is (--computation traced)");
        }
        const double continued = std::max(0.0, fit.law.at(grid_));
        result_.laws.push_back({.what = what, .samples = samples, .fit = fit, .continued = continued});
        return samples.back().value > 0 ? continued / samples.back().value : 1;
    }

    static constexpr double least_share = 0.01;  ///< of all computation: what is less stays as it is
    static constexpr double most_off = 0.3;      ///< relative difference of a sample from the law

    const SymbolicProgram& program_;
    const FoundStructure& found_;
    std::span<const TracedRun> runs_;
    ProcessGrid grid_;
    std::size_t groups_;
    std::set<Neighbours> compared_;
    ContinuedComputation result_;
};

}  // namespace

ContinuedComputation continue_computation(const FoundStructure& found, std::span<const TracedRun> runs,
                                          const ProcessGrid& grid) {
    return Computation(found, runs, grid).find();
}

}  // namespace idlewave::extrapolation
