// A whole assessment: a plan of sizes that fit into the time, repetitions in random order, refinement, and repetitions
// until the medians are precise enough.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/failure.hpp"
#include "common/output.hpp"
#include "common/stop.hpp"
#include "network/foreign_load.hpp"
#include "network/measured.hpp"
#include "network/refinement.hpp"
#include "network/sampler.hpp"
#include "network/samples_file.hpp"
#include "network/settings.hpp"

namespace idlewave::probe::network {

constexpr int fewest_repetitions = 7;

class Assessment {
  public:
    Assessment(Sampler sampler, const Settings& settings, int cpu)
        : sampler_(std::move(sampler)),
          settings_(settings),
          file_(settings.output + "/samples.csv"),
          random_(settings.seed),
          load_(cpu),
          origin_ns_(sampler_.now_ns()) {}

    // Runs the assessment, and ends the server.
    AssessmentOutcome run() {
        plan();
        look_for_interrupt();
        if (ending_.empty() && measured_.kinds().empty()) throw failed("of no size a message came back");
        const bool chosen_before = !settings_.sizes.empty();
        while (ending_.empty() && !chosen_before && may_survey()) repetition();
        refined_ = true;
        round_ = 0;  // the next round samples everything
        if (ending_.empty() && !chosen_before) {
            const std::vector<int> chosen = measured_.sizes();
            Refinement<Assessment> refinement(*this);
            refinement.run();
            outcome_.breaks = refinement.breaks();
            measured_.visit_less_often(chosen, [&](int size) { return refinement.encloses(size); });
        }
        while (ending_.empty()) repetition();
        take_speed();
        sampler_.stop();
        return finished();
    }

    // ---- for refinement
    Measured& measured() { return measured_; }

    // Returns false if no message of that size comes back.
    bool add_size(int size) {
        if (measured_.has_size(size)) return true;
        const std::optional<Pilot> found = pilot(size);
        if (!found) {
            drop(size);
            return false;
        }
        measured_.add(core_jobs(sampler_.abilities, size, settings_.train, *found), true);
        return true;
    }

    // If the other side ends, what it has answered is kept.
    void visit(std::size_t kind) {
        try {
            take_sample(kind);
        } catch (...) {
            write_samples(0);
            throw;
        }
    }

    void next_repetition() { ++outcome_.repetitions; }

    // Whether no further sample is to be taken.
    bool has_ended() const { return !ending_.empty(); }

    // The last third of the time is for repetitions of the sizes chosen by then.
    bool may_refine() const { return ending_.empty() && elapsed() < 0.65 * settings_.seconds; }

  private:
    void take_sample(std::size_t kind) {
        ExchangeSamples& chosen = measured_.kinds()[kind];
        if (sampler_.now_ns() - speed_at_ns_ > speed_pause_ns_) take_speed();
        if (const auto sample = sampler_.sample(chosen.job)) {
            unwritten_.push_back({chosen.job, outcome_.repetitions, *sample});
            Measured::record(chosen, *sample);
            ++outcome_.samples;
        } else {
            ++outcome_.lost;
        }
        report();
        look_for_interrupt();
        if (ending_.empty() && elapsed() > settings_.seconds) ending_ = "seconds";
    }

    // Whether another repetition precedes refinement: as many as a median's interval needs, or fewer in a slow network.
    bool may_survey() const {
        if (full_rounds_ < 3) return true;
        return full_rounds_ < fewest_repetitions && elapsed() < 0.3 * settings_.seconds;
    }

    void look_for_interrupt() {
        if (stop_asked() || sampler_.server_interrupted()) ending_ = "interrupted";
    }

    // Times a round trip of one byte, the least of some, which shows how fast the machine is at this moment: for the
    // samples since the last one, which are written now, and for those to come.
    void take_speed() {
        constexpr int tries = 3;
        const double begin = sampler_.now_ns();
        SortedSample rounds;
        for (int i = 0; i < tries; ++i) {
            if (const auto one = sampler_.sample({Series::rtt, 1, 1, 0})) rounds.add(one->value_ns);
        }
        const double now = rounds.size() > 0 ? rounds.least() : 0;
        write_samples(now);
        speed_ns_ = now;
        speed_at_ns_ = sampler_.now_ns();
        speed_pause_ns_ = std::max(speed_every_ns, speed_pauses * (speed_at_ns_ - begin));
    }

    // Writes what is not written yet. `after`: the round trip of one byte after it, 0 if there was none.
    void write_samples(double after) {
        for (const RecordedSample& sample : unwritten_) file_.write(sample, origin_ns_, speed_ns_, after);
        unwritten_.clear();
    }

    double elapsed() const { return 1e-9 * (sampler_.now_ns() - origin_ns_); }

    // Sets up connections and buffers, whose first use may take much longer, and finds the pause for a size. Returns
    // nothing if every message was lost: then there is no pause to choose.
    std::optional<Pilot> pilot(int size) {
        const auto known = pilots_.find(size);
        return known != pilots_.end() ? known->second : pilots_[size] = new_pilot(size);
    }

    std::optional<Pilot> new_pilot(int size) {
        constexpr double cheap_ns = 5e6;
        const int pair = std::min(2, sampler_.abilities.in_flight(size));
        Pilot result;
        SortedSample rounds;
        SortedSample pairs;
        for (int i = 0; i < 5 && (i == 0 || result.pair_ns < cheap_ns); ++i) {
            if (const auto one = sampler_.sample({Series::rtt, size, 1, 0})) rounds.add(one->value_ns);
            if (pair == 2) {
                if (const auto two = sampler_.sample({Series::train, size, pair, 0})) pairs.add(two->value_ns);
            }
            if (rounds.size() > 0) result.round_ns = rounds.median();
            result.pair_ns = pairs.size() > 0 ? pairs.median() : 2 * result.round_ns;
            result.least_pair_ns = pairs.size() > 0 ? pairs.least() : result.pair_ns;
        }
        if (rounds.size() == 0) return std::nullopt;
        return result;
    }

    void drop(int size) {
        std::vector<int>& dropped = outcome_.dropped;
        const auto place = std::lower_bound(dropped.begin(), dropped.end(), size);
        if (place == dropped.end() || *place != size) dropped.insert(place, size);
    }

    // The number of sizes an octave before refinement. On a network or processor so slow that there are few repetitions
    // of many sizes, many repetitions of fewer sizes give better estimates.
    int sizes_an_octave(int largest) {
        constexpr double repetitions = 10;
        double total_ns = 0;
        int known = 0;
        for (const int size : first_sizes(largest, 1)) {
            const std::optional<Pilot> found = pilot(size);
            if (!found) continue;
            const double pause = found->pause_ns();
            const Pilot usual{found->round_ns, pause, pause};  // visit_cost is for a quiet machine, as no run may be
            total_ns += visit_cost(core_jobs(sampler_.abilities, size, settings_.train, *found), usual);
            ++known;
            if (stop_asked() || elapsed() + 1e-9 * repetitions * total_ns > most_planned * settings_.seconds) return 1;
        }
        for (const int an_octave : {4, 2}) {
            const double more = static_cast<double>(first_sizes(largest, an_octave).size()) / std::max(known, 1);
            if (elapsed() + 1e-9 * repetitions * total_ns * more < most_planned * settings_.seconds) return an_octave;
        }
        return 1;
    }

    // Those of an earlier part, or sizes of which there are as many an octave as the time allows.
    std::vector<int> sizes_up_to(int largest) {
        if (settings_.sizes.empty()) return first_sizes(largest, sizes_an_octave(largest));
        std::vector<int> sizes;
        for (const std::int64_t size : settings_.sizes) {
            if (size <= largest) sizes.push_back(static_cast<int>(size));
        }
        return sizes;
    }

    // Plans sizes from the smallest up, as long as five repetitions of the core series fit into most of the time.
    void plan() {
        const Abilities& data = sampler_.abilities;
        double core_ns = 0;
        double others_ns = 0;
        const int largest = std::min(settings_.max_size, data.limit);
        const std::vector<int> sizes = sizes_up_to(largest);
        if (data.traits.smallest == 0) {
            const auto found = pilot(0);
            if (found) measured_.add(other_jobs(data, 0, settings_.train, *found), false);
            if (!found) drop(0);
        }
        for (std::size_t i = 0; i < sizes.size() && !stop_asked(); ++i) {
            const std::optional<Pilot> found = pilot(sizes[i]);
            const std::vector<Exchange> core =
                found ? core_jobs(data, sizes[i], settings_.train, *found) : std::vector<Exchange>();
            if (found) core_ns += visit_cost(core, *found);
            const bool too_long = elapsed() + 5e-9 * core_ns > most_planned * settings_.seconds;
            if (too_long && i >= smallest_plan) {
                for (std::size_t rest = i; rest < sizes.size(); ++rest) drop(sizes[rest]);
                break;
            }
            if (!found) {
                drop(sizes[i]);
                continue;
            }
            const std::vector<Exchange> others = other_jobs(data, sizes[i], settings_.train, *found);
            others_ns += visit_cost(others, *found);
            measured_.add(core, true);
            measured_.add(others, false);
        }
        others_are_cheap_ = 1e-9 * others_ns < 0.1 * settings_.seconds;
    }

    bool settled(const ExchangeSamples& kind) const {
        if (kind.values.size() < static_cast<std::size_t>(fewest_repetitions)) return false;
        return kind.values.interval_width() <= settings_.width * std::abs(kind.values.median());
    }

    // Settled medians, and the series of other methods, are sampled less often.
    bool is_due(const ExchangeSamples& kind) const {
        if (!kind.core) return round_ % 2 == 0 && (refined_ || (round_ == 0 && others_are_cheap_));
        return round_ % 4 == 0 || !settled(kind);
    }

    void repetition() {
        std::vector<std::size_t> due;
        for (std::size_t i = 0; i < measured_.kinds().size(); ++i) {
            if (is_due(measured_.kinds()[i])) due.push_back(i);
        }
        std::shuffle(due.begin(), due.end(), random_);
        for (const std::size_t kind : due) {
            visit(kind);
            if (!ending_.empty()) break;
        }
        outcome_.load.emplace_back(load_.since_last(), sampler_.server_load());
        ++outcome_.repetitions;
        ++round_;
        ++full_rounds_;
        if (!ending_.empty()) return;
        if (full_rounds_ >= settings_.repetitions) ending_ = "repetitions";
        if (refined_ && all_settled()) ending_ = "settled";
    }

    bool all_settled() {
        const auto& kinds = measured_.kinds();
        return std::all_of(kinds.begin(), kinds.end(), [this](const ExchangeSamples& kind) {
            return kind.core ? settled(kind) : kind.values.size() >= 5;
        });
    }

    // Flushes the file, so that the samples survive if the run is killed, and shows the progress.
    void report() {
        const auto now = std::chrono::steady_clock::now();
        if (now - reported_ < std::chrono::milliseconds(200)) return;
        reported_ = now;
        file_.flush();
        print_progress(elapsed() / settings_.seconds);
    }

    AssessmentOutcome finished() {
        file_.close();
        outcome_.ended = ending_;
        outcome_.sizes = measured_.sizes();
        outcome_.core_sizes = measured_.core_sizes();
        const auto& kinds = measured_.kinds();
        const auto count =
            std::count_if(kinds.begin(), kinds.end(), [this](const ExchangeSamples& k) { return settled(k); });
        for (const ExchangeSamples& kind : kinds) {
            if (kind.job.series != Series::rtt || kind.job.size == 0 || kind.values.size() == 0) continue;
            outcome_.trips.emplace_back(kind.job.size, kind.values.median());
        }
        std::sort(outcome_.trips.begin(), outcome_.trips.end());
        outcome_.settled = kinds.empty() ? 0 : static_cast<double>(count) / static_cast<double>(kinds.size());
        for (std::size_t i = 1; i < outcome_.sizes.size(); ++i) {
            if (outcome_.sizes[i] - outcome_.sizes[i - 1] > 1) continue;  // not enclosed: it may be a disturbance
            const auto before = measured_.blocked(outcome_.sizes[i - 1]);
            const auto after = measured_.blocked(outcome_.sizes[i]);
            const bool clear =
                measured_.blocked_alike(outcome_.sizes[i - 1]) && measured_.blocked_alike(outcome_.sizes[i]);
            if (before && after && *before != *after && clear) outcome_.blocking.push_back(outcome_.sizes[i]);
        }
        return outcome_;
    }

    static constexpr std::size_t smallest_plan = 8;    // sizes; fewer determine nothing
    static constexpr double most_planned = 0.7;        // the part of the time that the plan may use
    static constexpr double speed_every_ns = 500'000;  // the least pause between two looks at the machine's speed
    static constexpr double speed_pauses = 20;         // the same in the time that a look takes

    Sampler sampler_;
    Settings settings_;
    SamplesFile file_;
    std::mt19937_64 random_;
    ForeignLoad load_;
    double origin_ns_;
    Measured measured_;
    std::map<int, std::optional<Pilot>> pilots_;
    AssessmentOutcome outcome_;
    std::vector<RecordedSample> unwritten_;  // since the last round trip of one byte
    double speed_ns_ = 0;                    // that round trip
    double speed_at_ns_ = -speed_every_ns;   // the time of it; the first sample has one before it
    double speed_pause_ns_ = 0;              // until the next one
    std::string ending_;
    bool refined_ = false;
    bool others_are_cheap_ = true;
    int round_ = 0;        // since refinement
    int full_rounds_ = 0;  // of all sizes; a sample of one size in refinement is a repetition, but no such round
    std::chrono::steady_clock::time_point reported_;
};

}  // namespace idlewave::probe::network
