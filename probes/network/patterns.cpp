// Measures patterns of messages, as programs have them, between two ranks; of more, each also has several peers at
// once.
//
// mpiexec -n N idlewave-patterns --output DIR [--seconds S] [--max-size B] [--changes B,B,...] [--seed K]
// The recording is described in pattern_probe.hpp.

#include <mpi.h>

#include "common/arguments.hpp"
#include "common/stop.hpp"
#include "network/job.hpp"
#include "network/mpi_program.hpp"
#include "network/pattern_probe.hpp"

namespace {

using namespace idlewave::probe;

constexpr const char* program = "idlewave-patterns";

void run(int argc, char* const* argv) {
    patterns::Options options;
    const CommandLine described{
        program,
        "Measures patterns of messages, as programs have them, between two ranks; of more, each also has several "
        "peers at once:\nmpiexec -n N idlewave-patterns --output DIR",
        arguments_of(options)};
    if (!parse_on_all_ranks(described, argc, argv, options.output)) return;
    stop_on_signals(patience_after_stop);
    measure(options);
    wait_for_all_ranks();
}

}  // namespace

int main(int argc, char** argv) {
    return run_ranks(program, argc, argv, run);
}
