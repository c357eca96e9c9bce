// What lies on the path as `idlewave` and `idlewave-probe`: starts Python, which becomes the command.
//
// Python takes some milliseconds before the first line of ours can run, and a SIGINT in that time would end it with a
// traceback. So the signals that end programs wait meanwhile: they are blocked here, and let through when Python can
// answer them (python/idlewave/termination_signals.py).
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int failed = 1;

/// Where this program lies. Links to it are followed: what it starts lies beside the program, not beside the link.
std::string own_path(const char* called) {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : called;
}

}  // namespace

int main(int /*count*/, char** arguments) {  // NOLINT(misc-const-correctness): as the standard has it
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, number);
    sigprocmask(SIG_BLOCK, &ending, nullptr);

    const std::string self = own_path(arguments[0]);
    const std::size_t slash = self.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : self.substr(0, slash);
    std::string name = self.substr(slash == std::string::npos ? 0 : slash + 1);
    std::string python = folder + "/idlewave-python";
    std::vector<char*> command{python.data(), name.data()};
    for (char* const* word = arguments + 1; *word != nullptr; ++word) command.push_back(*word);
    command.push_back(nullptr);
    execv(python.c_str(), command.data());
    std::fprintf(stderr, "error: %s cannot be started: %s\n", python.c_str(), std::strerror(errno));
    return failed;
}
