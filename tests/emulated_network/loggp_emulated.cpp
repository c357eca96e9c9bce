// The network probe over an emulated network: the installed probe's client, server and assessment, whose transport and
// clock are this folder's. Tests know the parameters that the samples must show.
//
// loggp_emulated --network FILE --output DIR [--scatter PART] [--hits P] [the network probe's options]

#include <array>
#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/stop.hpp"
#include "emulated.hpp"
#include "network/arguments.hpp"
#include "network/run_side.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::network;

constexpr const char* program = "loggp_emulated";

struct EmulationArguments : Arguments {
    std::string network;
    double scatter = 0;
    double hits = 0;
};

CommandLine program_of(EmulationArguments& a) {
    CommandLine described{program, "Runs the network probe over an emulated network.", common_arguments(a)};
    const std::vector<CommandOption> own = {
        {"network", "FILE", "S and the parameters of the emulated network", text_to(a.network)},
        {"scatter", "PART", "relative scatter of a sample (0)", number_to(a.scatter, 0, 0.5)},
        {"hits", "P", "probability of a detour in a sample (0)", number_to(a.hits, 0, 1)}};
    described.arguments.insert(described.arguments.end(), own.begin(), own.end());
    return described;
}

void run(const EmulationArguments& arguments) {
    require_output(arguments);
    make_folder(arguments.settings.output);
    if (arguments.network.empty()) throw refused("--network: expected the file of what is emulated");
    EmulatedPair pair(read_network(arguments.network), {arguments.scatter, arguments.hits, arguments.settings.seed});
    using EmulatedSide = Side<EmulatedData, EmulatedControl, EmulatedClock>;
    std::array<EmulatedData, 2> data = {EmulatedData(pair, 0), EmulatedData(pair, 1)};
    std::array<EmulatedControl, 2> control = {EmulatedControl(pair, 0), EmulatedControl(pair, 1)};
    std::array<EmulatedClock, 2> clock = {EmulatedClock(pair, 0), EmulatedClock(pair, 1)};
    const ProcessPlace nowhere;
    pair.start_server(
        [&] { run_side(EmulatedSide{data[1], control[1], clock[1]}, true, arguments.settings, nowhere, {}); });
    run_side(EmulatedSide{data[0], control[0], clock[0]}, false, arguments.settings, nowhere, {});
}

}  // namespace

int main(int argc, char* const* argv) {
    return report_failures(program, [&] {
        EmulationArguments arguments;
        if (!parse(program_of(arguments), argc, argv)) return;
        stop_on_signals(patience_after_stop);
        run(arguments);
    });
}
