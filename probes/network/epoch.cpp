// One epoch of an assessment: collectives, PRTT and patterns of messages, by ranks that are started once for all three.
// Collectives come first: a library allocates memory for them, which then lies as in a program that begins with them,
// and not among what the others have freed. PRTT follows, and then patterns, with the rest of the collectives between
// their samples: so both meet the same states of the machine, which last for milliseconds or seconds.
//
// mpiexec -n N idlewave-epoch [--loggp-output DIR ...] [--collectives-output DIR ...] [--patterns-output DIR ...]
// The options are those of the programs of these names, and so are the recordings; a probe without an output is left
// out. PRTT and collectives are between ranks 0 and 1, while further ranks sleep. PRTT that chooses its sizes also
// finds at which sizes the library changes its protocol, and how long late receivers compute: the patterns then have
// these.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/files.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "network/arguments.hpp"
#include "network/collective_probe.hpp"
#include "network/job.hpp"
#include "network/mpi_loggp.hpp"
#include "network/mpi_program.hpp"
#include "network/pattern_probe.hpp"
#include "network/transports.hpp"

namespace {

using namespace idlewave::probe;

constexpr const char* program = "idlewave-epoch";

struct Options {
    network::Arguments loggp;
    collectives::Options collectives;
    patterns::Options patterns;
};

// One of the probes: left out if it has no output.
struct Part {
    std::string output;
    double seconds = 0;
    std::function<void()> measure;  // of all ranks
};

// ---- the ranks

// The first two ranks, with a communicator of their own if there are others.
class FirstTwo {
  public:
    FirstTwo() {
        if (size_of(MPI_COMM_WORLD) == 2) return;
        const int color = rank_of(MPI_COMM_WORLD) < 2 ? 0 : MPI_UNDEFINED;
        MPI_Comm_split(MPI_COMM_WORLD, color, 0, &pair_);
    }
    FirstTwo(const FirstTwo&) = delete;
    FirstTwo& operator=(const FirstTwo&) = delete;
    ~FirstTwo() {
        if (pair_ != MPI_COMM_WORLD && pair_ != MPI_COMM_NULL) MPI_Comm_free(&pair_);
    }

    // Calls `measure` with the communicator, on these two ranks.
    template <class Measure>
    void alone(const Measure& measure) const {
        if (pair_ != MPI_COMM_NULL) measure(pair_);
    }

  private:
    MPI_Comm pair_ = MPI_COMM_WORLD;
};

// Whether any rank was asked to stop.
bool any_asked_to_stop() {
    int asked = stop_asked() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &asked, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return asked != 0;
}

// ---- the parts

// Each part binds ranks to CPUs of its own choice, so they are set free after it.
void measure_all(const std::vector<Part>& parts) {
    double seconds = 0;
    for (const Part& part : parts) seconds += part.output.empty() ? 0 : part.seconds;
    const std::vector<int> allowed = allowed_cpus();
    double before = 0;
    for (const Part& part : parts) {
        if (part.output.empty()) continue;
        progress_part = {before / seconds, part.seconds / seconds};
        part.measure();
        before += part.seconds;
        try_pin(allowed);
        wait_for_all_ranks();
        if (any_asked_to_stop()) return;
    }
}

using Transports = network::TransportList<network::MpiData>;

// Where the library changes its protocol: at the sizes from which on a send waits for its receiver, and at the clearest
// breaks of the curves. There are more breaks where the machine changed its speed, and each size more takes time from
// the others.
std::vector<std::int64_t> changes_of(const network::AssessmentOutcome& found) {
    constexpr std::size_t most_breaks = 4;
    std::set<std::int64_t> changes(found.blocking.begin(), found.blocking.end());
    const auto is_new = [&](std::int64_t size) {
        constexpr double near = 1.01;  // a change that scatters has several breaks about it
        return std::ranges::none_of(changes, [&](std::int64_t known) {
            const auto [less, more] = std::minmax(known, size);
            return static_cast<double>(more) < near * static_cast<double>(less);
        });
    };
    const std::size_t most = changes.size() + most_breaks;
    for (const int size : found.breaks) {
        if (changes.size() < most && is_new(size)) changes.insert(size);
    }
    return {changes.begin(), changes.end()};
}

void take_findings(patterns::Options& options, const network::AssessmentOutcome& found) {
    options.changes = changes_of(found);
    options.lateness = lateness_after(found.trips, options.lateness);
}

// Rank 0's findings become those of both ranks.
void share_findings(patterns::Options& options, MPI_Comm pair) {
    auto count = static_cast<int>(options.changes.size());
    MPI_Bcast(&count, 1, MPI_INT, 0, pair);
    options.changes.resize(static_cast<std::size_t>(count));
    MPI_Bcast(options.changes.data(), count, MPI_INT64_T, 0, pair);
    std::array late{options.lateness.ns, options.lateness.ns_per_byte};
    MPI_Bcast(late.data(), 2, MPI_DOUBLE, 0, pair);
    options.lateness = {late[0], late[1]};
}

void measure_loggp(Options& options, MPI_Comm pair) {
    const network::Settings& settings = options.loggp.settings;
    const ProcessPlace place = take_places(pair)[static_cast<std::size_t>(rank_of(pair))];  // as in the other parts
    if (rank_of(pair) == 0) make_folder(settings.output);
    const network::AssessmentOutcome found = network::measure_between<Transports>(pair, options.loggp, place);
    if (!settings.sizes.empty()) return;
    if (rank_of(pair) == 0) take_findings(options.patterns, found);
    share_findings(options.patterns, pair);
}

// The share of the time of collectives before all else.
double share_before(const Options& options) {
    return options.patterns.output.empty() ? 1 : 0.4;
}

void measure(Options& options) {
    const FirstTwo first;
    std::optional<collectives::CollectiveProbe> collectives;
    const double before = share_before(options);
    const auto measure_first = [&](MPI_Comm pair) {
        collectives.emplace(options.collectives, pair);
        collectives->measure_until(before);
    };
    patterns::Beside beside;
    if (!options.collectives.output.empty()) {
        beside = [&](double share) { collectives->measure_until(before + (1 - before) * std::min(share, 1.0), false); };
    }
    measure_all(
        {{options.collectives.output, before * options.collectives.seconds, [&] { first.alone(measure_first); }},
         {options.loggp.settings.output, options.loggp.settings.seconds,
          [&] { first.alone([&](MPI_Comm pair) { measure_loggp(options, pair); }); }},
         {options.patterns.output, options.patterns.seconds + (1 - before) * options.collectives.seconds,
          [&] { patterns::measure(options.patterns, beside); }}});
    if (collectives) collectives->finish();
}

// ---- the command line

std::vector<CommandOption> with_prefix(const std::string& prefix, std::vector<CommandOption> options) {
    for (CommandOption& option : options) option.name.insert(0, prefix);
    return options;
}

CommandLine program_of(Options& options) {
    CommandLine described{program,
                          "Measures one epoch of an assessment: collectives, PRTT and patterns of messages; a probe "
                          "without an output is left out:\nmpiexec -n N idlewave-epoch --patterns-output DIR",
                          {}};
    const std::array parts{with_prefix("loggp-", network::settings_arguments(options.loggp.settings)),
                           with_prefix("collectives-", collectives::arguments_of(options.collectives)),
                           with_prefix("patterns-", patterns::arguments_of(options.patterns))};
    for (const auto& part : parts) {
        described.arguments.insert(described.arguments.end(), part.begin(), part.end());
    }
    return described;
}

void run(int argc, char* const* argv) {
    Options options;
    if (!parse(program_of(options), argc, argv, rank_of(MPI_COMM_WORLD) == 0)) return;
    if (size_of(MPI_COMM_WORLD) < 2) throw wrong_number_of_ranks("at least two ranks are needed");
    stop_on_signals(patience_after_stop);
    measure(options);
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
