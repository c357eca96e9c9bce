// One epoch of an assessment: PRTT, collectives and patterns of messages, one after the other, by ranks that are
// started once for all three.
//
// mpiexec -n N idlewave-epoch [--loggp-output DIR ...] [--collectives-output DIR ...] [--patterns-output DIR ...]
// The options are those of the programs of these names, and so are the recordings; a probe without an output is left
// out. PRTT and collectives are between ranks 0 and 1, while further ranks sleep.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/cpus.hpp"
#include "common/files.hpp"
#include "common/output.hpp"
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

// Whether rank 0 was asked to stop: the others learn it from it.
bool all_asked_to_stop() {
    int asked = stop_asked() ? 1 : 0;
    MPI_Bcast(&asked, 1, MPI_INT, 0, MPI_COMM_WORLD);
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
        if (all_asked_to_stop()) return;
    }
}

void measure(const Options& options) {
    const FirstTwo pair;
    const auto& loggp = options.loggp;
    measure_all({{loggp.settings.output, loggp.settings.seconds,
                  [&] {
                      if (rank_of(MPI_COMM_WORLD) == 0) make_folder(loggp.settings.output);
                      pair.alone([&](MPI_Comm ranks) {
                          network::measure_between<network::TransportList<network::MpiData>>(ranks, loggp);
                      });
                  }},
                 {options.collectives.output, options.collectives.seconds,
                  [&] { pair.alone([&](MPI_Comm ranks) { collectives::measure(options.collectives, ranks); }); }},
                 {options.patterns.output, options.patterns.seconds, [&] { patterns::measure(options.patterns); }}});
}

// ---- the command line

std::vector<CommandOption> with_prefix(const std::string& prefix, std::vector<CommandOption> options) {
    for (CommandOption& option : options) option.name.insert(0, prefix);
    return options;
}

CommandLine program_of(Options& options) {
    CommandLine described{program,
                          "Measures one epoch of an assessment: PRTT, collectives and patterns of messages; a probe "
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
