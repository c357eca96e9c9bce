// One-sided against two-sided communication between the same two ranks; of more, a flood also goes to several at once.
//
// mpiexec -n N idlewave-one-sided --output DIR [--back-ends mpi,rma,...] [--seconds S] [--max-size B] [--seed K]
// The recording is described in measurement.hpp.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/output.hpp"
#include "common/stop.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"
#include "one_sided/measurement.hpp"

namespace {

using namespace idlewave::probe;

constexpr const char* program = "idlewave-one-sided";

void run(int argc, char* const* argv) {
    one_sided::Options options;
    const CommandLine described{program,
                                "Measures one-sided against two-sided communication between two ranks; of more, a "
                                "flood also goes to several at once:\nmpiexec -n N idlewave-one-sided --output DIR",
                                arguments_of(options)};
    if (!parse_on_all_ranks(described, argc, argv, options.output)) return;
    const std::vector<one_sided::BackEndEntry> chosen = one_sided::back_ends_named(options.back_ends);
    stop_on_signals(patience_after_stop);
    one_sided::measure(options, chosen);
}

void list_back_ends() {
    std::string text;
    for (const one_sided::BackEndEntry& one : one_sided::all_back_ends()) {
        text.append(text.empty() ? "\"" : ", \"").append(one.name).append("\"");
    }
    print_line("[" + text + "]");
}

}  // namespace

// --list needs no other rank: it is handled before MPI_Init, so that no launcher is needed.
int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (std::ranges::find(words, "--list") != words.end()) {
        list_back_ends();
        return 0;
    }
    const int status = run_ranks(program, argc, argv, run);
#if defined(IDLEWAVE_SHMEM) || defined(IDLEWAVE_GASNET)
    // These libraries leave functions for the end of the process that fail once MPI has ended.
    std::fflush(nullptr);
    std::_Exit(status);
#else
    return status;
#endif
}
