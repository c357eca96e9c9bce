// The samples from which a network's parameters are estimated, between two processes without MPI.
//
// idlewave-loggp-local --transport T --output DIR          both sides on this host
// idlewave-loggp-local --listen HOST:PORT                  one side; the other gives its options
// idlewave-loggp-local --transport T --output DIR --connect HOST:PORT
// Samples go to DIR as they come; lines "progress FRACTION" and at last a JSON summary to standard output.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/files.hpp"
#include "common/json.hpp"
#include "common/output.hpp"
#include "common/place.hpp"
#include "common/stop.hpp"
#include "common/ticks.hpp"
#include "network/arguments.hpp"
#include "network/hello.hpp"
#include "network/processor_clock.hpp"
#include "network/run_side.hpp"
#include "network/sockets.hpp"
#include "network/transports.hpp"

namespace {

using namespace idlewave::probe;
using namespace idlewave::probe::network;

constexpr const char* program = "idlewave-loggp-local";

struct LocalArguments : Arguments {
    std::string listen;
    std::string connect;
};

CommandLine program_of(LocalArguments& a) {
    CommandLine described{program,
                          "Takes the samples from which a network's parameters are estimated, between two "
                          "processes without MPI:\nof this host, or with --listen and --connect of two.",
                          common_arguments(a)};
    const std::vector<CommandOption> own = {
        {"listen", "HOST:PORT", "be the server of one assessment", text_to(a.listen)},
        {"connect", "HOST:PORT", "be the client of the server that listens there", text_to(a.connect)}};
    described.arguments.insert(described.arguments.end(), own.begin(), own.end());
    return described;
}

// Runs one side, given a control channel to the other.
void run_with(TcpControl& control, const Hello& hello, bool server, const Arguments& arguments) {
    const ProcessPlace place = take_place(server);
    ProcessorClock clock;
    Settings settings = arguments.settings;
    settings.max_size = hello.max_size;
    Connection connection = connection_of(arguments, server);
    connection.max_size = hello.max_size;
    if (connection.address.empty()) connection.address = control.server_address(server);
    LocalTransports::with(hello.transport_name(), control, connection, [&](auto& data) {
        const Side<std::decay_t<decltype(data)>, TcpControl, ProcessorClock> side{data, control, clock};
        run_side(side, server, settings, place, {});
    });
}

double seconds_now() {
    return 1e-9 * static_cast<double>(nanoseconds(CLOCK_MONOTONIC));
}

// Serves one client. A process that connects and is not the other side gets an error, and the next one may connect,
// until the time is over.
void serve(const LocalArguments& arguments) {
    const Socket listening = bound_socket(host_and_port(arguments.listen, "--listen"), SOCK_STREAM);
    print_line("listening on port " + port_of(listening));
    constexpr double hello_seconds = 5;  // a process that is silent for longer would block the right one
    const double end = seconds_now() + arguments.timeout;
    while (true) {
        TcpControl control(accept_one(listening, std::max(end - seconds_now(), 0.0)),
                           std::min(arguments.timeout, hello_seconds));
        Hello hello;
        if (const auto failure = failure_of([&] { hello = answer_hello(control, LocalTransports::names()); })) {
            report(program, *failure);
            continue;
        }
        control.be_patient(arguments.timeout);
        return run_with(control, hello, true, arguments);
    }
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

// The destructor waits for the process in any case, so that its last message is printed: for a second if this side
// fails.
class ServerProcess {
  public:
    explicit ServerProcess(pid_t id) : id_(id) {}
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;
    ~ServerProcess() {
        using namespace std::chrono_literals;
        for (int i = 0; i < 100 && id_ > 0; ++i) {
            if (waitpid(id_, nullptr, WNOHANG) != 0) return;
            std::this_thread::sleep_for(10ms);
        }
        if (id_ <= 0) return;
        kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
    }

    bool ended_well() {
        int status = 0;
        const bool known = waitpid(std::exchange(id_, 0), &status, 0) > 0;
        return known && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

  private:
    pid_t id_;
};

// The second side as a child, which ends with its parent at the latest.
void both_sides(const Arguments& arguments) {
    const Socket listening = bound_socket({"127.0.0.1", "0"}, SOCK_STREAM);
    const std::string port = port_of(listening);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw failed("no second process could be started");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) std::_Exit(1);
        std::_Exit(report_failures(std::string(program) + ": server", [&] {
            TcpControl control(accept_one(listening, arguments.timeout), arguments.timeout);
            run_with(control, answer_hello(control, LocalTransports::names()), true, arguments);
        }));
    }
    ServerProcess server(child);
    ask(arguments, {"127.0.0.1", port});
    if (!server.ended_well()) throw failed("the server's process did not end as it should");
}

void run(const LocalArguments& arguments) {
    if (arguments.list_transports) return print_line(LocalTransports::describe_all());
    if (!arguments.listen.empty()) return serve(arguments);
    check_transport(arguments.transport, LocalTransports::names());
    require_output(arguments);
    make_folder(arguments.settings.output);
    if (!arguments.connect.empty()) return ask(arguments, host_and_port(arguments.connect, "--connect"));
    both_sides(arguments);
}

}  // namespace

int main(int argc, char* const* argv) {
    return report_failures(program, [&] {
        LocalArguments arguments;
        if (!parse(program_of(arguments), argc, argv)) return;
        stop_on_signals(patience_after_stop);
        run(arguments);
    });
}
