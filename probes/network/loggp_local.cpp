// The samples from which a network's parameters are estimated, between two processes without MPI.
//
// idlewave-loggp-local --transport T --output DIR          both sides on this host
// idlewave-loggp-local --listen HOST:PORT                  one side; it does as the other says
// idlewave-loggp-local --transport T --output DIR --connect HOST:PORT
// Samples go to DIR as they come; lines "progress FRACTION" and at last a JSON summary to standard output.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "network/arguments.hpp"
#include "network/hello.hpp"
#include "network/interrupt.hpp"
#include "network/processor_clock.hpp"
#include "network/run_side.hpp"
#include "network/socket_transports.hpp"
#include "network/sockets.hpp"
#include "network/transports/emulated.hpp"

namespace {

using namespace idlewave::network;

constexpr const char* usage =
    "usage: idlewave-loggp-local --transport T --output DIR [--connect HOST:PORT]   one assessment\n"
    "       idlewave-loggp-local --listen HOST:PORT        the other side of one, on another host\n"
    "       idlewave-loggp-local --transports              which transports there are, as JSON\n"
    "options: [--seconds S] [--max-size BYTES] [--train N] [--repetitions R] [--width PART] [--seed K]\n"
    "         [--timeout S] [--address A] [--provider P]\n"
    "         of emulated: --network FILE [--scatter PART] [--hits PROBABILITY]\n";

void emulate(const Arguments& arguments) {
    if (arguments.network.empty()) throw WrongUse("--transport emulated needs --network FILE");
    EmulatedPair pair(read_network(arguments.network), {arguments.scatter, arguments.hits, arguments.settings.seed});
    using EmulatedSide = Side<EmulatedData, EmulatedControl, EmulatedClock>;
    std::array<EmulatedData, 2> data = {EmulatedData(pair, 0), EmulatedData(pair, 1)};
    std::array<EmulatedControl, 2> control = {EmulatedControl(pair, 0), EmulatedControl(pair, 1)};
    std::array<EmulatedClock, 2> clock = {EmulatedClock(pair, 0), EmulatedClock(pair, 1)};
    const Place nowhere = [] {
        Place place;
        gethostname(place.host.data(), place.host.size() - 1);
        return place;
    }();
    pair.start_server(
        [&] { run_side(EmulatedSide{data[1], control[1], clock[1]}, true, arguments.settings, nowhere, {}); });
    run_side(EmulatedSide{data[0], control[0], clock[0]}, false, arguments.settings, nowhere, {});
}

// With a control channel to the other side, whichever way it came about.
void run_with(TcpControl& control, const Hello& hello, bool server, const Arguments& arguments) {
    const Place place = take_place(server);
    ProcessorClock clock;
    Settings settings = arguments.settings;
    settings.max_size = hello.max_size;
    const SocketPlace where{server, arguments.address, arguments.timeout};
    with_transport(hello.transport_name(), control, where, hello.max_size, arguments.provider, [&](auto& data) {
        const Side<std::decay_t<decltype(data)>, TcpControl, ProcessorClock> side{data, control, clock};
        run_side(side, server, settings, place, {});
    });
}

void serve(const Arguments& arguments) {
    const Socket listening = bound_socket(host_and_port(arguments.listen, "listen"), SOCK_STREAM);
    std::printf("listening on port %s\n", port_of(listening).c_str());
    std::fflush(stdout);
    TcpControl control(accept_one(listening, arguments.timeout), arguments.timeout);
    const Hello hello = answer_hello(control, transport_names());
    run_with(control, hello, true, arguments);
}

Hello hello_of(const Arguments& arguments) {
    Hello hello;
    hello.max_size = arguments.settings.max_size;
    hello.set_transport(arguments.transport);
    return hello;
}

void ask(const Arguments& arguments, const HostPort& server) {
    TcpControl control(connect_to(server, arguments.timeout), arguments.timeout);
    const Hello hello = hello_of(arguments);
    say_hello(control, hello);
    run_with(control, hello, false, arguments);
}

// The second side as a child, which ends with its parent at the latest.
void both_sides(const Arguments& arguments) {
    const Socket listening = bound_socket({"127.0.0.1", "0"}, SOCK_STREAM);
    const std::string port = port_of(listening);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw Failure("no second process could be started");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) std::_Exit(1);
        int status = 0;
        try {
            TcpControl control(accept_one(listening, arguments.timeout), arguments.timeout);
            run_with(control, answer_hello(control, transport_names()), true, arguments);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "idlewave-loggp-local: server: %s\n", error.what());
            status = 1;
        }
        std::_Exit(status);
    }
    ask(arguments, {"127.0.0.1", port});
    waitpid(child, nullptr, 0);
}

void run(const Arguments& arguments) {
    if (arguments.help) {
        std::fputs(usage, stdout);
        return;
    }
    if (arguments.list_transports) {
        std::vector<std::string> names = transport_names();
        names.emplace_back("emulated");
        std::printf("%s\n", json_list(names, quoted).c_str());
        return;
    }
    if (!arguments.listen.empty()) return serve(arguments);
    if (arguments.transport.empty()) throw WrongUse("--transport is needed; --transports lists them");
    if (arguments.settings.output.empty()) throw WrongUse("--output is needed");
    if (arguments.transport != "emulated") check_transport(arguments.transport, transport_names());
    make_folder(arguments.settings.output);
    if (arguments.transport == "emulated") return emulate(arguments);
    if (!arguments.connect.empty()) return ask(arguments, host_and_port(arguments.connect, "connect"));
    both_sides(arguments);
}

}  // namespace

int main(int argc, char* const* argv) {
    catch_interrupts();
    try {
        run(parse(argc, argv, {}));
        return 0;
    } catch (const WrongUse& error) {
        std::fprintf(stderr, "idlewave-loggp-local: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "idlewave-loggp-local: %s\n", error.what());
        return 1;
    }
}
