// idlewave-guard LIFELINE GRACE COMMAND...: runs COMMAND, and sees to it that nothing of it outlives who started it.
//
// LIFELINE is a stream socket, whose other end the starting process holds. Over it comes "e" (end the command), "k"
// (kill it), or, when that process has died, its end; back goes one int, 0 or why COMMAND could not be started (errno).
// To end is SIGTERM to the command, which passes it on as it sees fit, and after GRACE seconds SIGKILL to all that
// descends from it; half a second after who started it has died.
//
// There are two processes. The *front* is what the starting process sees: it stays in the process group, with the
// command, and ends as the command did. The *keeper* is the command's parent, and inherits what loses its own; it is in
// a session of its own, so that no signal to the group takes it along.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "processes.hpp"

namespace idlewave {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int wrong_use = 2;
constexpr int lost_keeper = 125;        ///< as programs that run others say that they themselves failed
constexpr Seconds after_death{0.5};     ///< that the command has when who started it is gone
constexpr Seconds group_was_told{2};    ///< that it has when the signal reached it without us
constexpr Seconds for_the_rest{2};      ///< that its descendants have when the command has ended
constexpr Seconds for_stragglers{0.2};  ///< before they are told so: most are ending by themselves
constexpr Seconds between_kills{0.01};  ///< of what is still being forked
constexpr Seconds to_be_reaped{5};      ///< after which what cannot be killed is left

Clock::time_point from_now(Seconds seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(seconds);
}

sigset_t set_of(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : signals) sigaddset(&set, number);
    return set;
}

/// What ends programs from outside.
const sigset_t ending_signals = set_of({SIGINT, SIGTERM, SIGHUP, SIGQUIT});

/// Lets others know when a stream of theirs has ended: nobody but the command is to hold it open.
void leave_streams() {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return;
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
    close(nothing);
}

/// The process that becomes the command. Only returns the reason why it cannot.
int become(char* const* command, pid_t keeper, const sigset_t& mask) {
    // Should the keeper be killed, the command is told to end. If that happened already, nobody would be.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != keeper) _exit(lost_keeper);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execvp(command[0], command);  // NOLINT(clang-analyzer-optin.taint.GenericTaint): what it was asked to run
    return errno;
}

/// Starts the command. `failure` becomes 0, or why it cannot be started.
pid_t start(char* const* command, const sigset_t& mask, int& failure) {
    std::array<int, 2> report{};
    failure = pipe2(report.data(), O_CLOEXEC) == 0 ? 0 : errno;
    if (failure != 0) return -1;
    const pid_t keeper = getpid();
    const pid_t child = fork();
    if (child == 0) {
        const int reason = become(command, keeper, mask);
        if (write(report[1], &reason, sizeof reason) < 0) _exit(lost_keeper);
        _exit(lost_keeper);
    }
    if (child < 0) failure = errno;
    close(report[1]);
    while (child > 0 && read(report[0], &failure, sizeof failure) < 0 && errno == EINTR) {
    }
    close(report[0]);
    if (failure != 0 && child > 0) waitpid(child, nullptr, 0);
    return child;
}

/// The command's parent, and that of all that it leaves.
class Keeper {
  public:
    Keeper(int lifeline, int front, pid_t front_process, Seconds grace)
        : lifeline_(lifeline), front_(front), front_process_(front_process), grace_(grace) {}

    /// Returns the command's status as waitpid gives it, when nothing of it is left.
    int run(char* const* command, const sigset_t& mask) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        const sigset_t watched = set_of({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT});
        sigprocmask(SIG_BLOCK, &watched, nullptr);
        signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
        int failure = 0;
        command_ = start(command, mask, failure);
        setsid();  // only after the command was forked: that one stays in the group
        leave_streams();
        if (send(lifeline_, &failure, sizeof failure, MSG_NOSIGNAL) < 0) parent_is_gone();
        if (failure != 0) return 0;
        while (!status_ || rest_is_left()) look();
        return *status_;
    }

  private:
    enum class Stage { running, told, killing };

    void look() {
        std::array<pollfd, 3> watched{{{signals_, POLLIN, 0}, {lifeline_, POLLIN, 0}, {front_, POLLIN, 0}}};
        poll(watched.data(), watched.size(), milliseconds_left());
        if (watched[0].revents != 0) take_signals();
        reap();
        if (watched[1].revents != 0) take_word();
        if (watched[2].revents != 0) front_is_gone();
        if (next_ && Clock::now() >= *next_) go_on();
    }

    [[nodiscard]] int milliseconds_left() const {
        if (!next_) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next_ - Clock::now()).count();
        return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
    }

    void take_signals() {
        signalfd_siginfo info{};
        while (read(signals_, &info, sizeof info) == sizeof info) {
            if (info.ssi_signo != SIGCHLD) end(grace_);
        }
    }

    void reap() {
        int status = 0;
        pid_t child = 0;
        while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
            if (child == command_) status_ = status;
        }
        alone_ = child < 0;
        if (alone_ && !status_) status_ = lost_keeper << 8;  // nobody can wait for it, and its number may be another's
    }

    void take_word() {
        char word = 0;
        const ssize_t got = recv(lifeline_, &word, 1, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (got <= 0) {
            parent_is_gone();
        } else if (word == 'k') {
            kill_all();
        } else {
            end(grace_);
        }
    }

    void parent_is_gone() {
        lifeline_ = -1;  // which poll passes over
        end(after_death);
    }

    void front_is_gone() {
        front_ = -1;
        end(after_death);
    }

    /// The command is told to end, unless it was, and has so long at the most.
    void end(Seconds grace) {
        const Clock::time_point last = from_now(grace);
        if (stage_ == Stage::running) {
            stage_ = Stage::told;
            last_ = last;
            // A signal to the whole group reached the command, too: most launchers take a second one for impatience.
            next_ = has_pending(front_process_, ending_signals) ? from_now(group_was_told) : Clock::now();
        }
        last_ = std::min(last_, last);
        next_ = next_ ? std::min(*next_, last_) : last_;
    }

    void go_on() {
        if (stage_ == Stage::killing || Clock::now() >= last_) {
            kill_all();
        } else {
            tell(SIGTERM);
            next_ = last_;
        }
    }

    /// The command alone: it knows what it has started, here and elsewhere. When it has ended, all that it has left.
    void tell(int number) {
        if (!status_) {
            kill(command_, number);
            kill(command_, SIGCONT);
            return;
        }
        for (const pid_t process : descendants_of(getpid())) kill(process, number);
    }

    void kill_all() {
        if (stage_ != Stage::killing) {
            stage_ = Stage::killing;
            given_up_ = from_now(to_be_reaped);
        }
        if (!status_) kill(command_, SIGKILL);
        for (const pid_t process : descendants_of(getpid())) kill(process, SIGKILL);
        next_ = from_now(between_kills);
    }

    /// Whether anything is left of a command that has ended: that is told to end, too.
    bool rest_is_left() {
        if (alone_ || (stage_ == Stage::killing && Clock::now() >= given_up_)) return false;
        if (!rest_ && stage_ != Stage::killing) {
            const Clock::time_point last = from_now(for_stragglers + for_the_rest);
            last_ = stage_ == Stage::told ? std::min(last_, last) : last;
            next_ = std::min(last_, from_now(for_stragglers));
            stage_ = Stage::told;
        }
        rest_ = true;
        return true;
    }

    int lifeline_;
    int front_;
    pid_t front_process_;
    Seconds grace_;
    int signals_ = -1;
    pid_t command_ = -1;
    std::optional<int> status_;
    bool alone_ = false;  ///< nothing descends from us
    bool rest_ = false;   ///< the command has ended, and left something
    Stage stage_ = Stage::running;
    std::optional<Clock::time_point> next_;  ///< when there is something to do
    Clock::time_point last_;                 ///< after which all are killed
    Clock::time_point given_up_;
};

/// Ends as the command did.
[[noreturn]] void end_as(int status) {
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);  // one image of memory is enough: the command's own
        signal(number, SIG_DFL);
        const sigset_t one = set_of({number});
        sigprocmask(SIG_UNBLOCK, &one, nullptr);
        raise(number);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : lost_keeper);
}

/// In the group: signals wait here, where the keeper sees them.
[[noreturn]] void front(pid_t keeper, int report) {
    leave_streams();
    int status = 0;
    ssize_t got = 0;
    do {
        got = read(report, &status, sizeof status);
    } while (got < 0 && errno == EINTR);
    waitpid(keeper, nullptr, 0);
    if (got == sizeof status) end_as(status);
    _exit(lost_keeper);
}

int guard(int lifeline, Seconds grace, char* const* command) {
    fcntl(lifeline, F_SETFD, FD_CLOEXEC);
    signal(SIGCHLD, SIG_DFL);  // who ignores it does not learn how a child ended
    sigset_t before;
    sigprocmask(SIG_BLOCK, &ending_signals, &before);
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return lost_keeper;
    const pid_t front_process = getpid();
    const pid_t keeper = fork();
    if (keeper < 0) return lost_keeper;
    if (keeper > 0) {
        close(lifeline);
        close(ends[1]);
        front(keeper, ends[0]);
    }
    close(ends[0]);
    const int status = Keeper(lifeline, ends[1], front_process, grace).run(command, before);
    return write(ends[1], &status, sizeof status) == sizeof status ? 0 : lost_keeper;
}

}  // namespace
}  // namespace idlewave

int main(int count, char** arguments) {  // NOLINT(misc-const-correctness): as the standard has it
    constexpr int decimal = 10;
    if (count < 4) {
        std::fputs("usage: idlewave-guard LIFELINE GRACE COMMAND...\n", stderr);
        return idlewave::wrong_use;
    }
    const auto lifeline = static_cast<int>(std::strtol(arguments[1], nullptr, decimal));
    const idlewave::Seconds grace{std::strtod(arguments[2], nullptr)};
    return idlewave::guard(lifeline, grace, arguments + 3);
}
